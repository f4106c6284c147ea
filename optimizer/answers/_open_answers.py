"""Answers that are not a single label: when two of them are the same, how alike they are, and what one is worth."""

from __future__ import annotations

import functools
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers._extract import EMPTY, NO_JSON, NO_NUMBER, SEVERAL_NUMBERS
from psopt.answers._reading import declared_part, fenced_part, json_part
from psopt.errors import InputError
from psopt.tasks import EMBEDDING, FUNCTION, JSON, JUDGE, REFERENCE, TOKEN_F1, Instrument, references_of, written_number
from psopt.text import answer_words, normal_form, numbers_in, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]
    """Texts to unit vectors, (n, d)."""


WHOLLY = 1 - 1e-9
"""A worth from here on counts as 1: binary rounding must not make an answer wrong."""


class OpenAnswers(ABC):
    """A kind of answers, which are texts here, with what the task says about it."""

    __slots__ = ()

    @property
    @abstractmethod
    def quality_name(self) -> str:
        """What the mean worth of answers is called: it takes the place of F1."""

    @property
    @abstractmethod
    def note(self) -> str:
        """One line on what answers are, and which are the same."""

    @property
    def is_graded(self) -> bool:
        """Whether two answers may be alike to a degree; otherwise they are the same or not."""
        return False

    def prepare(self, answers: Sequence[str]) -> None:  # noqa: B027  # most kinds have nothing to look up
        """Look up what is needed for many answers, all at once."""

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return a class number, from 0 on, for each different answer to one sample: those of one form share it."""
        numbers: dict[str, int] = {}
        return [numbers.setdefault(self.form_of(answer), len(numbers)) for answer in answers]

    def form_of(self, answer: str) -> str:
        """Return the form of an answer that is compared, where answers are compared by equality."""
        return answer

    @abstractmethod
    def similarity(self, first: str, second: str) -> float:
        """Return how alike two answers are, in [0, 1]: a kernel (positive semidefinite)."""

    def worth(self, answer: str, reference: str) -> float:
        """Return what an answer is worth, in [0, 1]: its similarity to the nearest reference."""
        return max(self.similarity(answer, right) for right in references_of(reference))

    @property
    def least_right(self) -> float:
        """The least that an answer must be worth to be right: 1."""
        return WHOLLY

    def claims(self, answer: str | None, reference: str) -> float:  # noqa: ARG002
        """Return how much an answer, or None for N/A, weighs in the mean worth."""
        return 1.0


def filled_text(text: str) -> tuple[str | None, str]:
    """Return a text that an answer gives, and no kind; or None, and why."""
    text = text.replace("\0", "").strip()
    return (text, "") if text else (None, EMPTY)


_ROUNDING = 1e-9  # relative to the larger number: binary rounding must not make two numbers differ
_EMPHASISED = re.compile(r"(?<=[\w:=,] )\*\*([^*\n]+)\*\*")
_LONGEST = 100_000  # characters that are read; the rest of an answer is ignored


@dataclass(frozen=True, slots=True)
class Numbers(OpenAnswers):
    """Numbers that are the same within a tolerance."""

    tolerance: float = 0.0  # by how much two may differ: absolutely, or as a share of the larger (``is_share``)
    is_share: bool = False

    quality_name = "accuracy"

    @property
    def note(self) -> str:
        within = f"within {self.tolerance:g} of each other"
        if self.is_share:
            within = f"within {100 * self.tolerance:g}% of each other"
        if not self.tolerance:
            within = "equal"
        return f"Answers are numbers: the same if {within}"

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which numbers are the same: in rising order, each class at most as wide as the tolerance.

        >>> Numbers(0.5).classes(["1", "10", "1.4", "1.8"])
        [0, 2, 0, 1]
        """
        values = [float(answer) for answer in answers]
        classes = [0] * len(values)
        start, current = None, -1
        for place in sorted(range(len(values)), key=lambda place: values[place]):
            if start is None or not self._is_same(start, values[place]):
                start, current = values[place], current + 1
            classes[place] = current
        return classes

    def similarity(self, first: str, second: str) -> float:
        """Return 1 if two numbers are within tolerance, else 0."""
        return float(self._is_same(float(first), float(second)))

    def _is_same(self, first: float, second: float) -> bool:
        if self.is_share:
            return math.isclose(first, second, rel_tol=self.tolerance + _ROUNDING)
        return abs(first - second) <= self.tolerance + _ROUNDING * max(abs(first), abs(second))


def read_number(answer: str) -> tuple[str | None, str]:
    r"""Return the number that an answer gives, and no kind; or None, and why.

    In this order: the whole answer, if it is a number, perhaps with a unit; JSON, or a field of it; what follows
    "Answer:" on the last line; the only number in the answer or, failing that, in its last line, unless the answer
    emphasises another one. Of JSON, only the members that may be the answer are read.
    """
    text = answer[:_LONGEST]
    if (value := whole_number(text)) is not None:
        return written_number(value), ""
    if (in_json := json_part(text)) is not None:
        text = " ".join(in_json.split())  # its members are no lines of an answer
    declared = declared_part(text) or ""
    for part in (text, declared):
        if (value := whole_number(part)) is not None:
            return written_number(value), ""
    values = set(numbers_in(declared))
    if not _is_one(values):
        in_text = set(numbers_in(text))
        values = in_text if _is_one(in_text) else _in_last_line(text)
        if not _is_one(values):
            return None, SEVERAL_NUMBERS if in_text else NO_NUMBER
    return written_number(values.pop()), ""


def _in_last_line(text: str) -> set[float]:
    """The numbers in the last line and, if they have no emphasis, the only number elsewhere that has."""
    line = text.strip().rpartition("\n")[2]
    values = set(numbers_in(line))
    if not values or _EMPHASISED.search(line):
        return values
    emphasised = {value for span in _EMPHASISED.findall(text) if (value := whole_number(span)) is not None}
    return values | emphasised if len(emphasised) == 1 else values


def _is_one(values: set[float]) -> bool:
    return len(values) == 1 and not any(map(math.isnan, values))


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
        how = {
            "": "the same if equal but for case, articles and punctuation",
            JSON: "the same if equal as JSON",
            TOKEN_F1: "alike as far as they share words",
        }[self.by]
        return f"Answers are texts, {how}"

    @property
    def is_graded(self) -> bool:
        return self.by == TOKEN_F1

    def similarity(self, first: str, second: str) -> float:
        """Return how alike two texts are: the F1 of their words, or 1 if they are the same.

        The F1 of two bags of words, twice the shared words over the sum a + b of their sizes, is a kernel: both the
        number of shared words and 1 / (a + b) are kernels, and so is their product.
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
    first = _BRACE.search(answer)
    braced = "" if first is None else answer[first.start() : max(answer.rfind("}"), answer.rfind("]")) + 1]
    for text in (answer, fenced_part(answer), braced):
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


@functools.lru_cache(maxsize=65536)
def _bag(text: str) -> Counter[str]:
    return Counter(answer_words(text))


BAND = (0.85, 0.9, 0.95)
"""The thresholds at which S is reported: a single one would hide how much S of free answers depends on the matcher."""
_BY_EMBEDDING, _BY_REFERENCE = Instrument(EMBEDDING), Instrument(REFERENCE)
_embeds: list[Embed] = []


def embed_with(embed: Embed) -> None:
    """Set what turns texts into vectors: higher-level packages know models, and this one does not."""
    _embeds[:] = [embed]


@dataclass(frozen=True, slots=True)
class FreeTexts(OpenAnswers):
    """Free answers."""

    # What decides which answers are the same. With an embedding, they are from a certain cosine on. Answers linked by a
    # chain of same ones form one class, so that their order does not matter. Any other instrument is asked elsewhere
    # (`psopt.models.Assessor`), and its verdicts are kept with the answers.
    equivalence: Instrument = _BY_EMBEDDING
    rating: Instrument = _BY_REFERENCE  # what they are worth; with an embedding, the cosine with the nearest reference

    @property
    def quality_name(self) -> str:
        """The mean rating, or the mean cosine with the nearest reference."""
        return "rating" if self.rating.is_asked else "similarity"

    @property
    def note(self) -> str:
        same = {
            EMBEDDING: f"from a cosine of {self.equivalence.threshold:g} of their embeddings on",
            JUDGE: f"if {self.equivalence.name} says so in both orders",
            FUNCTION: f"if {self.equivalence.name} says so",
        }[self.equivalence.kind]
        rated = f", rated by {self.rating.name}" if self.rating.is_asked else ""
        return f"Answers are free texts, the same {same}{rated}"

    @property
    def least_right(self) -> float:
        """A free answer is right if it is the same as a reference, according to an embedding."""
        return self.equivalence.threshold

    def prepare(self, answers: Sequence[str]) -> None:
        """Embed answers, all at once: what embeds keeps the vectors."""
        _embedded(answers)

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which answers are the same, or linked by answers that are."""
        from scipy.sparse.csgraph import connected_components

        if self.equivalence.kind != EMBEDDING:
            raise ValueError(f"which answers are the same is for {self.equivalence.name} to say")
        if len(answers) < 2:
            return [0] * len(answers)
        vectors = _embedded(answers)
        alike = vectors @ vectors.T >= self.equivalence.threshold
        return [int(number) for number in connected_components(alike, directed=False)[1]]

    def similarity(self, first: str, second: str) -> float:
        """Return the cosine of two answers, 0 if it is negative."""
        if first == second:
            return 1.0
        first_vector, second_vector = _embedded([first, second])
        return float(np.clip(first_vector @ second_vector, 0.0, 1.0))


def _embedded(answers: Sequence[str]) -> NDArray[np.float32]:
    if not _embeds:
        raise InputError("nothing says how free answers are embedded: import psopt.models")
    return _embeds[0](answers)
