"""The user's own prompts: chat messages with named fields, read, filled and written back."""

from psopt.templates._formats import PromptText, detect_format, prompt_entries, promptfoo_config
from psopt.templates._marks import template_marks
from psopt.templates._read import ReadTemplate, named_fields, read_template
from psopt.templates._template import (
    PART_BREAK,
    Additions,
    ExampleForm,
    Field,
    Message,
    Messages,
    Origin,
    Part,
    Piece,
    Slot,
    Template,
    example_answer,
    fill_slots,
    open_fields,
    render_template,
    split_description,
)
from psopt.templates._write import promptfoo_text, with_prompt, write_template

__all__ = [
    "ExampleForm",
    "Field",
    "Message",
    "Part",
    "ReadTemplate",
    "Slot",
    "Template",
    "detect_format",
    "named_fields",
    "read_template",
    "render_template",
    "write_template",
]
