"""What a rephrasing that somebody wrote must pass before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.rephrasings._frames import is_english
from psopt.rephrasings._passages import named_labels, protected_texts
from psopt.rephrasings._set import Verdict, comparable, differing, shortened
from psopt.text import names_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Closeness = Callable[[str, str], float]
"""The likeness in meaning of two texts, in [-1, 1]."""
Judge = Callable[[str, str], bool]
"""Whether two texts ask for the same thing."""

_MARKS = re.compile(r"\{\{?[^{}]*\}?\}|<[^<>\s]+>|\[\[.*?\]\]|%\w|\$\w+|https?://\S+")
# Bounds, set by eye, that refuse what is no rephrasing at all (a word, an essay). Up to 200 characters always pass.
_SHORTEST = 0.2  # of the original's length
_LONGEST = 4.0
_LEAST_CHARACTERS = 8
_ALWAYS_ALLOWED = 200
LEAST_CLOSENESS = 0.4
"""Cosine of all-MiniLM-L6-v2's embeddings. The 48 rephrasings written for TREC and 116 made by rule for four other
tasks reach .41 to 1.0 with their originals; 62 of 70 descriptions of other tasks are below. It catches a text about
something else, not one that asks for almost the same: that is the judge's job. `experiments/meaning_threshold.py`."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How rephrasings of a description are checked."""

    original: str  # rho_0
    labels: tuple[str, ...] = ()  # the task's labels
    keep_labels: bool = True  # refuse a rephrasing that drops a label which the original names
    # Gives the likeness in meaning of two texts, in [-1, 1]; None where no encoder is installed
    closeness: Closeness | None = None
    judge: Judge | None = None  # says whether two texts ask for the same
    # Refuse a rephrasing that loses or adds what is protected in a template (see `protected_ranges`)
    protects: bool = False
    # All instructions, if the original is a passage of them: shown to a model that writes, but not checked
    context: str = ""

    def verdict(self, text: str, taken: Iterable[str]) -> Verdict:
        """Check a text, also against those already taken; costly checks come last, and only if all others passed."""
        reason = self._form(text) or self._marks(text) or self._protected(text) or self._named(text)
        if reason is None and comparable(text) in {comparable(wording) for wording in (self.original, *taken)}:
            reason = "a duplicate"
        if reason is not None:
            return Verdict(text, reason)
        facts: dict[str, Any] = {"characters": len(text)}
        if self.closeness is not None:
            facts["closeness"] = round(self.closeness(self.original, text), 3)
            if facts["closeness"] < LEAST_CLOSENESS:
                return Verdict(text, f"means something else (likeness {facts['closeness']})", facts)
        if self.judge is not None:
            facts["judged_equivalent"] = self.judge(self.original, text)
            if not facts["judged_equivalent"]:
                return Verdict(text, "judged to ask for something else", facts)
        return Verdict(text, None, facts)

    def _form(self, text: str) -> str | None:
        if not text.strip():
            return "empty"
        if text.splitlines() != [text] or text != text.strip():
            return "more than one paragraph"
        if "\0" in text:
            return "holds a NUL byte"
        if len(text) < max(_LEAST_CHARACTERS, _SHORTEST * len(self.original)):
            return f"too short ({len(text)} characters)"
        if len(text) > max(_ALWAYS_ALLOWED, _LONGEST * len(self.original)):
            return f"too long ({len(text)} characters)"
        if is_english(self.original) and not is_english(text):
            return "in another language"
        return None

    def _marks(self, text: str) -> str | None:
        """Template marks, placeholders and addresses must be those of the original."""
        faults = differing(_MARKS.findall(self.original), _MARKS.findall(text))
        return next((f"{fault} the mark {mark}" for fault, mark in faults), None)

    def _protected(self, text: str) -> str | None:
        """In a template, what is protected must recur, and nothing protected be added; labels are checked by name."""
        if not self.protects:
            return None
        for fault, protected in differing(protected_texts(self.original), protected_texts(text)):
            if fault == "added" or protected not in text:
                return f"{fault} what is protected: {shortened(protected)}"
        return None

    def _named(self, text: str) -> str | None:
        if self.keep_labels and (dropped := dropped_label(self.original, text, self.labels)):
            return f"drops the label {dropped!r}"
        return None


def dropped_label(original: str, text: str, labels: Sequence[str]) -> str | None:
    """The first label that the original names and a rephrasing does not."""
    return next((label for label in named_labels(original, labels) if not names_label(text, label)), None)
