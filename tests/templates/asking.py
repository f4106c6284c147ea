"""What a prompt that was read asks of a model, and how it is written back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.templates import (
    Additions,
    ReadTemplate,
    Template,
    fill_slots,
    read_template,
    render_template,
    write_template,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Row = Mapping[str, str]

NOTHING = Additions()


def read_text(path: Path, text: str, columns: Sequence[str], labels: Sequence[str], **options: Any) -> ReadTemplate:
    """Put a text into a file, and read it as a prompt."""
    path.write_bytes(text.encode())
    return read_template(path, tuple(columns), labels=tuple(labels), **options)


def template_of(prompt: ReadTemplate) -> Template:
    """The template, which must be there."""
    assert prompt.template is not None
    return prompt.template


def messages_to(prompt: ReadTemplate, row: Row, additions: Additions = NOTHING) -> list[dict[str, str]]:
    """The messages that are sent for a row."""
    return render_template(template_of(prompt), prompt.description, additions, row)


def asked(prompt: ReadTemplate, row: Row, additions: Additions = NOTHING) -> list[str]:
    """The contents of the messages that are sent for a row."""
    return [message["content"] for message in messages_to(prompt, row, additions)]


def written(prompt: ReadTemplate, additions: Additions = NOTHING) -> str:
    """The file's new content."""
    return write_template(fill_slots(template_of(prompt), prompt.description, additions))
