"""What is searched: prompts and edits as frozen values, what a search may use of them, and rendering to messages."""

from psopt.search_spaces._calibration import Calibration
from psopt.search_spaces._edits import (
    CALIBRATE,
    ORDERS,
    WEAK_SPOT,
    Edit,
    EditKind,
    Provenance,
    allowed_edits,
    apply_edits,
)
from psopt.search_spaces._parameters import (
    chosen_edits,
    first_parameters,
    parameter_names,
    parameters_of,
    suggest_edits,
)
from psopt.search_spaces._prompt import Prompt
from psopt.search_spaces._prompt_parts import (
    BULLETS,
    CASINGS,
    LISTINGS,
    PLAIN,
    SEPARATORS,
    Definition,
    Example,
    PromptFormat,
    in_order,
)
from psopt.search_spaces._render import additions_of, render, render_additions
from psopt.search_spaces._said import with_statements
from psopt.search_spaces._shown import (
    ShownLine,
    ShownMessage,
    filled_template,
    mark_added,
    open_messages,
    render_fixed,
    render_instructions,
    render_shown,
    shown_messages,
    without_additions,
)
from psopt.search_spaces._strategies import STRATEGIES, seed_prompt
from psopt.search_spaces._titles import with_titles
from psopt.settings import FAMILIES, KINDS, VIEWS, Family, SearchRestriction, View
from psopt.templates import Messages

__all__ = [
    "BULLETS",
    "CALIBRATE",
    "CASINGS",
    "FAMILIES",
    "KINDS",
    "LISTINGS",
    "ORDERS",
    "PLAIN",
    "SEPARATORS",
    "STRATEGIES",
    "VIEWS",
    "WEAK_SPOT",
    "Calibration",
    "Definition",
    "Edit",
    "EditKind",
    "Example",
    "Family",
    "Messages",
    "Prompt",
    "PromptFormat",
    "Provenance",
    "SearchRestriction",
    "ShownLine",
    "ShownMessage",
    "View",
    "additions_of",
    "allowed_edits",
    "apply_edits",
    "chosen_edits",
    "filled_template",
    "first_parameters",
    "in_order",
    "mark_added",
    "open_messages",
    "parameter_names",
    "parameters_of",
    "render",
    "render_additions",
    "render_fixed",
    "render_instructions",
    "render_shown",
    "seed_prompt",
    "shown_messages",
    "suggest_edits",
    "with_statements",
    "with_titles",
    "without_additions",
]
