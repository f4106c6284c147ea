"""The phrases of samples: of a plain text, or of each input of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.tasks._row import Row, inputs_of
from psopt.text import field_and_phrase, phrase_of_field, phrases_of, shows, written_phrases

if TYPE_CHECKING:
    from collections.abc import Callable


def sample_phrases(text: str) -> set[str]:
    """Return every phrase that a sample shows.

    In a row of several inputs a phrase is one of its field, and, if it is not at the field's beginning, of the whole
    text too: what stands in the subject of some and in the body of others can be named both ways.

    >>> row = Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body"))
    >>> sorted(sample_phrases(row))
    ['bill', 'body: ^hi', 'body: hi', 'hi', 'subject: ^bill', 'subject: bill']
    """
    return _by_field(text, phrases_of)


def written_sample_phrases(text: str) -> set[str]:
    """Return every phrase that a sample shows as it is written: across no sign and no border of fields."""
    return _by_field(text, written_phrases)


def _by_field(text: str, phrases_in: Callable[[str], set[str]]) -> set[str]:
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
    """Tell whether a sample shows a phrase, of a field or of its whole text.

    Where the sample has no such field its whole text is looked at.

    >>> row = Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body"))
    >>> sample_shows(row, "body: ^hi"), sample_shows(row, "subject: hi"), sample_shows("Hi all", "body: ^hi")
    (True, False, True)
    """
    field, alone = field_and_phrase(phrase)
    fields = text.fields if isinstance(text, Row) else {}
    return shows(fields.get(field, text), alone)


def shown_words(text: str) -> str:
    r"""A sample without the names of its inputs: what words are looked for in.

    >>> shown_words(Row.of({"subject": "Bill", "body": "Hi"}, ("subject", "body")))
    'Bill\nHi'
    """
    return "\n".join(inputs_of(text).values()) or text
