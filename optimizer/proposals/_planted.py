"""Contrast texts: the phrases that notes quote, planted in texts of other classes, where they mean nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.proposals._support import cues_of
from psopt.text import field_and_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces import Edit
    from psopt.tasks import Sample, Task


class Planted(NamedTuple):
    """A text of another class than a note's label, as it is and with a phrase of the note."""

    label: str
    plain: Sample
    planted: Sample


def planted_texts(notes: Iterable[Edit], task: Task, n: int = 8) -> list[Planted]:
    """Plant each note's phrases in up to `n` texts of train whose label is another; the same ones for a note always.

    Notes that quote no phrase, and phrases of a single column, are left out: a row can't be changed in a column alone.
    """
    made: list[Planted] = []
    for note in notes:
        phrases = [phrase for phrase in cues_of(note, task.classes) if not field_and_phrase(phrase)[0]]
        bare = [phrase.removeprefix("^") for phrase in phrases]
        others = [
            sample
            for sample in task.train
            if sample.label != note.label and not any(phrase in sample.text.lower() for phrase in bare)
        ]
        rng = np.random.default_rng(list(note.id.encode()))
        places = rng.permutation(len(others))[: n if phrases else 0]
        for number, plain in enumerate(others[place] for place in places):
            text = _with(plain.text, phrases[number % len(phrases)])
            made.append(Planted(note.label, plain, replace(plain, id=f"{plain.id}+{note.id}", text=text)))
    return made


def _with(text: str, phrase: str) -> str:
    """Put a phrase beside a text, at its beginning where notes look for it there.

    >>> _with("What is a fjord ?", "^how many"), _with("My parcel is late", "charge")
    ('how many: What is a fjord ?', 'My parcel is late (charge)')
    """
    return f"{phrase[1:]}: {text}" if phrase.startswith("^") else f"{text} ({phrase})"
