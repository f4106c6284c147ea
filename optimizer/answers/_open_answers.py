"""Answers that are no single label: when two of them are the same, how alike they are, and what one is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from psopt.tasks import references_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLLY = 1 - 1e-9
"""What is worth so much is worth 1: what is computed in binary is not off for that."""


class OpenAnswers(ABC):
    """A kind of answers, made of what the task says of them.

    Answers are texts here, as `AnswerReader.read` gives them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def quality_name(self) -> str:
        """What the mean worth of answers is called: it takes the place of F1."""

    @property
    @abstractmethod
    def note(self) -> str:
        """One line on what is measured otherwise than of plain labels."""

    @property
    def is_graded(self) -> bool:
        """Whether two answers may be alike to a degree; else they are the same or not."""
        return False

    def prepare(self, answers: Sequence[str]) -> None:  # noqa: B027  # most kinds have nothing to look up
        """Look up what is to be known of many answers, all at once."""

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which of different answers to one sample are the same, equal numbers from 0 on: those of one form."""
        numbers: dict[str, int] = {}
        return [numbers.setdefault(self.form_of(answer), len(numbers)) for answer in answers]

    def form_of(self, answer: str) -> str:
        """Return an answer as it is compared, where that is by equality."""
        return answer

    @abstractmethod
    def similarity(self, first: str, second: str) -> float:
        """Return how alike two answers are, in [0, 1]: a kernel (positive semidefinite)."""

    def worth(self, answer: str, reference: str) -> float:
        """Return what an answer is worth beside what is right, in [0, 1]: its similarity to the nearest reference."""
        return max(self.similarity(answer, right) for right in references_of(reference))

    @property
    def least_right(self) -> float:
        """What an answer must be worth to be right: all of it."""
        return WHOLLY

    def claims(self, answer: str | None, reference: str) -> float:  # noqa: ARG002
        """Return how much an answer, or None for N/A, weighs in the mean worth."""
        return 1.0
