"""What a user may set, each option declared once: a field with its default, range, panel and meaning.

Flags, keywords, configuration files, run.json and the pages in docs/commands are made from it.
"""

from psopt.settings._bounds import BoundOptions
from psopt.settings._data import DataOptions, PromptOptions
from psopt.settings._lm import LMConfig
from psopt.settings._option import (
    DATA,
    LIMITS,
    MODEL,
    OUTPUT,
    PROMPT,
    REPHRASINGS,
    SEARCH,
    Leaf,
    Panel,
    all_leaves,
    check,
    leaf_of,
    leaves,
    like,
    listed,
)
from psopt.settings._python import in_python, spelled_for_python
from psopt.settings._rephrasing import (
    FAMILIES,
    TEXT_FAMILIES,
    UNCHANGED,
    Family,
    RephrasingOptions,
    RephrasingSizes,
    TextFamily,
)
from psopt.settings._run import (
    GATE_MARGIN,
    MODELS,
    AnsweringOptions,
    Effort,
    GateMode,
    MeasureOptions,
    Over,
    PersonOptions,
    RunOptions,
    SizeOptions,
    model_names,
    models_name,
)
from psopt.settings._search import (
    KINDS,
    VIEWS,
    HoldBack,
    RaceMode,
    SamplerName,
    SearchOptions,
    SearchRestriction,
    TextKind,
    View,
)
from psopt.settings._tree import (
    built,
    by_full_name,
    changed_leaves,
    check_keywords,
    flat,
    group_given,
    of_flat,
)
