"""What is searched: prompts and edits as frozen values, what a search may use of them, and rendering to messages."""

from psopt.search_spaces._edits import ORDERS, Edit, EditKind, Provenance, apply_edits
from psopt.search_spaces._form import BULLETS, CASINGS, FAMILIES, LISTINGS, PLAIN, SEPARATORS, Family, Form, in_order
from psopt.search_spaces._prompt import Definition, Example, Prompt
from psopt.search_spaces._render import Messages, render, render_additions, render_instructions
from psopt.search_spaces._restriction import KINDS, VIEWS, SearchParts
from psopt.search_spaces._strategies import STRATEGIES, Strategy, seed_prompt
from psopt.search_spaces._template_marks import template_mark

__all__ = [
    "BULLETS",
    "CASINGS",
    "FAMILIES",
    "KINDS",
    "LISTINGS",
    "ORDERS",
    "PLAIN",
    "SEPARATORS",
    "STRATEGIES",
    "VIEWS",
    "Definition",
    "Edit",
    "EditKind",
    "Example",
    "Family",
    "Form",
    "Messages",
    "Prompt",
    "Provenance",
    "SearchParts",
    "Strategy",
    "apply_edits",
    "in_order",
    "render",
    "render_additions",
    "render_instructions",
    "seed_prompt",
    "template_mark",
]
