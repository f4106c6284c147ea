"""Answers that are not a single label: when two of them are the same, how alike they are, and what one is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from psopt.answers._no_label import EMPTY
from psopt.tasks import references_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLLY = 1 - 1e-9
"""A worth from here on counts as 1: binary rounding must not make an answer wrong."""


class OpenAnswers(ABC):
    """A kind of answers, with what the task says about it.

    Answers are texts here, as `AnswerReader.read` finds them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def quality_name(self) -> str:
        """What the mean worth of answers is called: it takes the place of F1."""

    @property
    @abstractmethod
    def note(self) -> str:
        """One line on what is measured differently than for plain labels."""

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
