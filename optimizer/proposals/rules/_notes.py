"""Clarifying notes: one sentence that tells where a slice of failing samples belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search_spaces import Edit, Provenance
from psopt.text import field_and_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.diagnosis import FailureSlice


def notes_from_slices(slices: Iterable[FailureSlice], noun: str) -> list[Edit]:
    """Write a note for every slice whose phrases, if obeyed, would do more good than harm.

    Slices of several views that say the same make one note, credited to the first.
    """
    notes: dict[tuple[str, frozenset[str]], Edit] = {}
    for failing in slices:
        if failing.label is None or failing.gain <= 0:
            continue
        key = (failing.label, frozenset(failing.phrases))
        origin = Provenance("rules", failing.view, failing.topic, failing.samples)
        text = note_text(noun, failing.phrases, failing.label)
        notes.setdefault(key, Edit("note", failing.label, text, origin, failing.gain))
    return list(notes.values())


def note_text(noun: str, phrases: Sequence[str], label: str) -> str:
    """Say in a sentence that what shows these phrases usually belongs to a label: a phrase is no proof.

    >>> note_text("question", ["^when", "what year"], "Number")
    'A question that begins with "when" or contains "what year" usually belongs to Number.'
    >>> note_text("mail", ["subject: ^bill", "body: refund"], "billing")
    'A mail whose subject begins with "bill" or whose body contains "refund" usually belongs to billing.'
    """
    said = described(noun, phrases)
    return f"{said[0].upper()}{said[1:]} usually belongs to {label}."


def described(noun: str, phrases: Sequence[str]) -> str:
    """Name what shows any of some phrases.

    >>> described("text", ["price", "cost"])
    'a text that contains "price" or "cost"'
    """
    of_fields: dict[str, list[str]] = {"": []}  # what is said of the whole text comes first
    for phrase in phrases:
        field, alone = field_and_phrase(phrase)
        of_fields.setdefault(field, []).append(alone)
    clauses = [
        f"{f'whose {field}' if field else 'that'} {_condition(shown)}" for field, shown in of_fields.items() if shown
    ]
    article = "an" if noun[0].lower() in "aeiou" else "a"
    return f"{article} {noun} {' or '.join(clauses)}"


def _condition(phrases: Sequence[str]) -> str:
    openings = [f'"{phrase[1:]}"' for phrase in phrases if phrase.startswith("^")]
    anywhere = [f'"{phrase}"' for phrase in phrases if not phrase.startswith("^")]
    conditions = [f"begins with {_or(openings)}"] if openings else []
    conditions += [f"contains {_or(anywhere)}"] if anywhere else []
    return " or ".join(conditions)


def _or(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"
