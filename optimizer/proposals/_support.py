"""What an edit rests on: texts of train that show the phrases it quotes, and which of these have another label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import PhraseIndex
from psopt.text import label_mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Edit
    from psopt.tasks import Task

_MOST_TEXTS = 5_000  # as for definitions; more tell hardly more of a share


def with_support(edits: Sequence[Edit], task: Task) -> list[Edit]:
    """Let each note that quotes phrases bear how many texts of train show one, and which have another label."""
    train = task.train[:_MOST_TEXTS]
    cues = {edit.id: cues_of(edit, task.labels) for edit in edits if edit.kind == "note"}
    phrases = sorted({cue for of_note in cues.values() for cue in of_note})
    is_shown = PhraseIndex.of([sample.text for sample in train], phrases=phrases).shown.toarray() > 0
    columns = {phrase: column for column, phrase in enumerate(phrases)}
    supported = []
    for edit in edits:
        own = [columns[cue] for cue in cues.get(edit.id, ())]
        shown = [train[row] for row in np.flatnonzero(is_shown[:, own].any(axis=1))]
        counter = tuple(sample.id for sample in shown if sample.label != edit.label)
        origin = replace(edit.provenance, support=len(shown) - len(counter), counter=counter)
        supported.append(replace(edit, provenance=origin) if shown else edit)
    return supported


def cues_of(note: Edit, labels: Sequence[str]) -> tuple[str, ...]:
    """The phrases that a note quotes for its own label and no other."""
    mentions = label_mentions(note.text, labels)
    if len(mentions) != 1 or labels[mentions[0].label] != note.label:
        return ()
    return mentions[0].cues
