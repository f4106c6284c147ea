"""Prompts and edits as frozen values, the strategies that make seed prompts, and rendering to messages."""

from psopt.prompts._edits import ORDERS, Edit, EditKind, Provenance, apply_edits
from psopt.prompts._form import FAMILIES, PLAIN, Family, Form
from psopt.prompts._prompt import Definition, Example, Prompt
from psopt.prompts._render import Messages, render, render_additions, render_instructions
from psopt.prompts._strategies import STRATEGIES, Strategy, seed_prompt

__all__ = [
    "FAMILIES",
    "ORDERS",
    "PLAIN",
    "STRATEGIES",
    "Definition",
    "Edit",
    "EditKind",
    "Example",
    "Family",
    "Form",
    "Messages",
    "Prompt",
    "Provenance",
    "Strategy",
    "apply_edits",
    "render",
    "render_additions",
    "render_instructions",
    "seed_prompt",
]
