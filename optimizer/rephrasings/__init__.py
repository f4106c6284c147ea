"""Rephrasings: the wordings of its task that a prompt must withstand."""

from psopt.rephrasings._frames import is_english
from psopt.rephrasings._freeze import (
    check_labels_given,
    check_room,
    closeness,
    freeze_rephrasings,
    n_parts_of,
    rephrasings_for,
    vary,
)
from psopt.rephrasings._llm import LEAST_CLOSENESS, N_SHOWN, Checks, write_rephrasings
from psopt.rephrasings._passages import TAME, diversity, diversity_of, diversity_of_instructions, passages_of, tame_note
from psopt.rephrasings._rules import rephrase_by_rules
from psopt.rephrasings._set import (
    FEWEST,
    RephrasingSet,
    Verdict,
    from_file,
    given_wordings,
    of_another_source,
    read_file,
    read_given,
    to_file,
)
from psopt.rephrasings._shown import Segment, marked_text, shown_segments
from psopt.rephrasings._text_changes import change_texts
from psopt.settings import RephrasingOptions
