"""Prompts of the user's own: chat messages with named fields, read, filled and written back."""

from psopt.templates._literal_text import template_marks
from psopt.templates._render import Additions, Messages, example_answer, fill_slots, render_template
from psopt.templates._template import (
    PART_BREAK,
    SLOTS,
    ExampleForm,
    Field,
    Message,
    Origin,
    Part,
    Piece,
    Slot,
    SlotKind,
    Template,
    split_description,
)

__all__ = [
    "PART_BREAK",
    "SLOTS",
    "Additions",
    "ExampleForm",
    "Field",
    "Message",
    "Messages",
    "Origin",
    "Part",
    "Piece",
    "Slot",
    "SlotKind",
    "Template",
    "example_answer",
    "fill_slots",
    "render_template",
    "split_description",
    "template_marks",
]
