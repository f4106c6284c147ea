"""The user's own prompts: chat messages with named fields, read, filled and written back."""

from psopt.templates._formats import PromptText, detect_format, promptfoo_config
from psopt.templates._marks import template_marks
from psopt.templates._promptfoo import prompt_entries
from psopt.templates._promptfoo_entry import promptfoo_text, with_prompt
from psopt.templates._read import ReadTemplate, named_fields, read_template
from psopt.templates._render import Additions, Messages, example_answer, fill_slots, render_template
from psopt.templates._template import (
    PART_BREAK,
    ExampleForm,
    Field,
    Message,
    Origin,
    Part,
    Piece,
    Slot,
    Template,
    split_description,
)
from psopt.templates._write import write_template

__all__ = [
    "PART_BREAK",
    "Additions",
    "ExampleForm",
    "Field",
    "Message",
    "Messages",
    "Origin",
    "Part",
    "Piece",
    "PromptText",
    "ReadTemplate",
    "Slot",
    "Template",
    "detect_format",
    "example_answer",
    "fill_slots",
    "named_fields",
    "prompt_entries",
    "promptfoo_config",
    "promptfoo_text",
    "read_template",
    "render_template",
    "split_description",
    "template_marks",
    "with_prompt",
    "write_template",
]
