"""What a prompt is made of: its fields as frozen values, as far as rendering reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.search_spaces._prompt_format import PLAIN, PromptFormat
from psopt.tasks import LABEL, Row, fields_of

if TYPE_CHECKING:
    from psopt.templates import Template


@dataclass(frozen=True, slots=True)
class Example:
    """A few-shot example: a text and its label; in a program of several steps perhaps for one of them alone.

    `fields` are the columns of the example's row, as (name, value); empty where the text is all there is.
    """

    text: str
    label: str
    step: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def values(self) -> dict[str, str]:
        """The fields by which a template shows the example."""
        return fields_of(Row(self.text, dict(self.fields)) if self.fields else self.text)


@dataclass(frozen=True, slots=True)
class Definition:
    """What one label means, in words."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptParts:
    """The fields of a `Prompt`, which says what they are."""

    description: str
    labels: tuple[str, ...]
    noun: str = "text"
    definitions: tuple[Definition, ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    form: PromptFormat = PLAIN
    template: Template | None = None
    asks: str = LABEL
