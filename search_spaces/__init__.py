"""What is searched: prompts and edits as frozen values, which of them a search may use, and rendering to messages."""

from psopt.search_spaces._edits import (
    CALIBRATE,
    ORDERS,
    WEAK_SPOT,
    Edit,
    Provenance,
    allowed_edits,
    apply_edits,
    chosen_edits,
    first_parameters,
    parameter_names,
    parameters_of,
    suggest_edits,
    with_titles,
)
from psopt.search_spaces._prompt import (
    STRATEGIES,
    Prompt,
    additions_of,
    filled_template,
    open_messages,
    render,
    render_additions,
    seed_prompt,
)
from psopt.search_spaces._prompt_parts import (
    BULLETS,
    CASINGS,
    LISTINGS,
    PLAIN,
    SEPARATORS,
    Calibration,
    Definition,
    Example,
    PromptFormat,
    in_order,
)
from psopt.search_spaces._render import (
    ShownMessage,
    mark_added,
    render_fixed,
    render_instructions,
    render_shown,
    shown_messages,
    with_statements,
)
from psopt.settings import KINDS, VIEWS, Family, SearchRestriction, View
from psopt.templates import Messages

__all__ = ["Edit", "Messages", "Prompt", "SearchRestriction", "apply_edits", "render", "seed_prompt"]
