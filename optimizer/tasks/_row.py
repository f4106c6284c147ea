"""A sample: its text, the fields that this was made of, and their phrases; and where samples come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.text import field_and_phrase, phrase_of_field, phrases_of, shows, written_phrases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Source = Literal["local", "downloaded", "bundled", "file", "hub", "memory"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to classify.

    `label` is None if the data have no labels; `subclass` is a finer label, if the data have one
    (TREC: ``date`` within ``Number``). `id` is unique within a task and stable from run to run.
    A `pinned` sample must stay right, whichever prompt replaces another.
    """

    id: str
    text: str
    label: str | None = None
    subclass: str | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Where the samples come from; written to run.json as `dataset`.

    `source` is ``local`` (in PSOPT_DATA_DIR or the user's cache), ``downloaded``, ``bundled`` (psopt's own small sample
    in place of the real data), ``file`` (given by the user), ``hub`` (Hugging Face) or ``memory`` (built in Python).
    `sha256` is a digest of the samples as used, including labels and splits.
    """

    name: str
    source: Source
    sha256: str
    note: str = ""  # one plain line for the user, e.g. why the bundled sample replaces the real data
    test_is_drawn: bool = False  # whether test was drawn at random, since the data mark none
    revision: str = ""  # for a data set on the hub, the commit
    split_seed: int | None = None  # with which `load_task` drew the splits that the data do not mark

    def noted(self, *notes: str) -> DatasetInfo:
        """The same with further notes; empty ones are left out."""
        return replace(self, note="; ".join(filter(None, (self.note, *notes))))


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a table, and where it stands: ``line 7`` of a text, ``row 7`` of a table, ``record 7`` in memory."""

    where: str
    values: Mapping[str, Any]


class Row(str):
    """A text that knows the columns of its row, so that a prompt's template can name them.

    Its text is the content of the input columns: the plain value of a single column; several as ``name: value``, one
    per line, without empty ones. Code that needs no fields can use it as an ordinary string.

    Its `fields` are in the order of the data, and never the label; its `inputs` are the columns that the text was made
    of.

    >>> row = Row.of({"id": "7", "subject": "Bill", "body": "Too high."}, inputs=("subject", "body"))
    >>> print(row)
    subject: Bill
    body: Too high.
    >>> row.fields["id"]
    '7'
    """

    __slots__ = ("fields", "inputs")
    fields: dict[str, str]
    inputs: tuple[str, ...]

    def __new__(cls, text: str = "", fields: Mapping[str, str] | None = None, inputs: Sequence[str] = ()) -> Row:
        """Make a text with fields; only ``text`` if none are given."""
        row = super().__new__(cls, text)
        row.fields = dict(fields or {"text": text})
        row.inputs = tuple(inputs)
        return row

    @classmethod
    def of(cls, fields: Mapping[str, str], inputs: Sequence[str]) -> Row:
        """Make a row whose text is the content of its input columns."""
        if len(inputs) == 1:
            return cls(fields[inputs[0]], fields, inputs)
        lines = [f"{name}: {fields[name]}" for name in inputs if fields[name].strip()]
        return cls("\n".join(lines), fields, inputs)


def fields_of(text: str) -> dict[str, str]:
    """Return the fields of a row; the field ``text`` is its text, if that is a plain text or one column's content.

    >>> fields_of("Too high.")
    {'text': 'Too high.'}
    >>> fields_of(Row.of({"text": "<b>Hi</b>", "clean": "Hi"}, ("clean",)))
    {'text': 'Hi', 'clean': 'Hi'}
    """
    fields = {"text": str(text), **(text.fields if isinstance(text, Row) else {})}
    if text in fields.values():  # another column may be called so; examples forget which are the inputs
        fields["text"] = str(text)
    return fields


def columns_of_row(text: str) -> tuple[tuple[str, str], ...]:
    """Return the columns of a row as (name, value), the form that examples hold; nothing for a plain text."""
    return tuple(text.fields.items()) if isinstance(text, Row) else ()


def inputs_of(text: str) -> dict[str, str]:
    """Return the inputs of a row with several; nothing for a text of one column, which needs no names.

    >>> inputs_of(Row.of({"id": "7", "subject": "Bill", "body": "Hi"}, inputs=("subject", "body")))
    {'subject': 'Bill', 'body': 'Hi'}
    """
    if not isinstance(text, Row) or len(text.inputs) < 2:
        return {}
    return {name: text.fields[name] for name in text.inputs}


def sample_phrases(text: str, *, as_written: bool = False) -> set[str]:
    """Return every phrase that a sample shows; `as_written`, those that cross no sign.

    In a row with several inputs, a phrase belongs to its field and, unless it opens that, also to the whole text.

    >>> row = Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body"))
    >>> sorted(sample_phrases(row))
    ['bill', 'body: ^hi', 'body: hi', 'hi', 'subject: ^bill', 'subject: bill']
    """
    phrases_in = written_phrases if as_written else phrases_of
    inputs = inputs_of(text)
    if not inputs:
        return phrases_in(text)
    phrases = set()
    for name, value in inputs.items():
        for phrase in phrases_in(value):
            phrases.add(phrase_of_field(name, phrase))
            if not phrase.startswith("^"):
                phrases.add(phrase)
    return phrases


def sample_shows(text: str, phrase: str) -> bool:
    """Tell whether a sample shows a phrase: in its field, or in the whole text if the sample has no such field.

    >>> row = Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body"))
    >>> sample_shows(row, "body: ^hi"), sample_shows(row, "subject: hi"), sample_shows("Hi all", "body: ^hi")
    (True, False, True)
    """
    field, alone = field_and_phrase(phrase)
    fields = text.fields if isinstance(text, Row) else {}
    return shows(fields.get(field, text), alone)


def sample_shows_any(text: str, phrases: Iterable[str]) -> bool:
    """Tell whether a sample shows one of these phrases; see `sample_shows`."""
    return any(sample_shows(text, phrase) for phrase in phrases)


def shown_words(text: str) -> str:
    r"""A sample without the names of its inputs: the text in which words are looked for.

    >>> shown_words(Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body")))
    'Bill\nHi'
    """
    return "\n".join(inputs_of(text).values()) or text
