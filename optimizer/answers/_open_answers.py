"""Answers that are no single label: how each kind is read, when two of them are the same, and what one is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class OpenAnswers(Protocol):
    """A kind of answers, made of what the task says of them.

    Answers are texts here, as `read` gives them.
    """

    @property
    def name(self) -> str:
        """As ``--answers`` takes it."""
        ...

    @property
    def quality_name(self) -> str:
        """What the mean worth of answers is called: it takes the place of F1."""
        ...

    @property
    def note(self) -> str:
        """One line on what is measured otherwise than of plain labels."""
        ...

    @property
    def is_graded(self) -> bool:
        """Whether two answers may be alike to a degree; else they are the same or not."""
        ...

    def prepare(self, answers: Sequence[str]) -> None:
        """Look up what is to be known of many answers, all at once."""
        ...

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which of different answers to one sample are the same: equal numbers from 0 on."""
        ...

    def similarity(self, first: str, second: str) -> float:
        """Return how alike two answers are, in [0, 1]: a kernel (positive semidefinite)."""
        ...

    def worth(self, answer: str, reference: str) -> float:
        """Return what an answer is worth beside what is right, in [0, 1]."""
        ...

    def claims(self, answer: str | None, reference: str) -> float:
        """Return how much an answer, or None for N/A, weighs in the mean worth."""
        ...
