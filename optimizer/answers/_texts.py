"""Answers that are short texts: extracts, names, JSON; right if equal to a reference, or as far as words are shared."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from dataclasses import dataclass

from psopt.answers._no_label import NO_JSON
from psopt.answers._open_answers import OpenAnswers, filled_text
from psopt.answers._reading import declared_part, fenced_part
from psopt.tasks import JSON, TOKEN_F1
from psopt.text import answer_words, normal_form

_QUOTES = "\"'`“”„«»"
_BRACE = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class Texts(OpenAnswers):
    """Short texts."""

    # Empty: the same if equal apart from case, articles and punctuation. ``token-f1``: the more words they share, the
    # more alike. ``json``: the same if equal as JSON, whatever the order of members.
    by: str = ""

    @property
    def quality_name(self) -> str:
        """The share of exact matches, or the mean F1 of words."""
        return "token F1" if self.is_graded else "exact match"

    @property
    def note(self) -> str:
        """What is measured differently than for labels."""
        how = {
            "": "the same if equal but for case, articles and punctuation",
            JSON: "the same if equal as JSON",
            TOKEN_F1: "alike as far as they share words",
        }[self.by]
        return f"Answers are texts, {how}; {self.quality_name} stands where F1 stands else, and C is not defined"

    @property
    def is_graded(self) -> bool:
        """Whether two texts may be alike to a degree."""
        return self.by == TOKEN_F1

    def similarity(self, first: str, second: str) -> float:
        """Return how alike two texts are: the F1 of their words, or 1 if they are the same.

        The F1 of two bags of words, twice the shared words over the sum a + b of their sizes, is a kernel: both the
        number of shared words and 1 / (a + b) are kernels, and so is their product.

        >>> round(Texts("token-f1").similarity("the blue door", "a blue wooden door"), 2)
        0.8
        """
        if not self.is_graded:
            return float(self.form_of(first) == self.form_of(second))
        ours, theirs = _bag(first), _bag(second)
        if not ours or not theirs:
            return float(normal_form(first) == normal_form(second))
        return 2 * (ours & theirs).total() / (ours.total() + theirs.total())

    def worth(self, answer: str, reference: str) -> float:
        """Return the similarity to the nearest of the right texts; JSON is a single one, even if it is a list."""
        if self.by == JSON:
            return self.similarity(answer, reference)
        return OpenAnswers.worth(self, answer, reference)

    def form_of(self, answer: str) -> str:
        """Return a text without case, articles and punctuation; for JSON, its canonical form."""
        if self.by == JSON:
            return canonical_json(answer) or answer
        return normal_form(answer)


def read_text(answer: str) -> tuple[str | None, str]:
    """Return the text that an answer gives, and no kind; or None, and why: fences, quotes and "Answer:" are removed."""
    whole = fenced_part(answer) or answer
    declared = declared_part(whole)
    text = (declared or whole).strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    elif declared and text[-1] in _QUOTES and text.count(text[-1]) == 1:
        text = text[:-1].strip()  # the quote before it is gone with "Answer:"
    return filled_text(text)


def read_json(answer: str) -> tuple[str | None, str]:
    """Return the JSON that an answer gives, and no kind; or None, and why: it may stand in a fence."""
    for text in (answer, fenced_part(answer), _braced(answer)):
        if (canonical := canonical_json(text)) is not None:
            return canonical, ""
    return None, NO_JSON


@functools.lru_cache(maxsize=4096)
def canonical_json(text: str) -> str | None:
    """Return JSON in canonical form: members sorted by name, whole numbers without a point; None if it is no JSON."""
    try:
        return json.dumps(json.loads(text, parse_float=_number), ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return None


def _number(written: str) -> float:
    value = float(written)
    return int(value) if value.is_integer() else value


def _braced(text: str) -> str:
    """From the first brace or bracket to the last."""
    first = _BRACE.search(text)
    if first is None:
        return ""
    return text[first.start() : max(text.rfind("}"), text.rfind("]")) + 1]


@functools.lru_cache(maxsize=65536)
def _bag(text: str) -> Counter[str]:
    return Counter(answer_words(text))
