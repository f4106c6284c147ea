"""What a task's answers are: how alike two of them are, and what one is worth."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers._open_answers import FreeTexts, Numbers, Texts
from psopt.answers._sets import LabelSets
from psopt.tasks import FREE, LABELS, NUMBER, ORDINAL, TEXT, AnswerSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.answers._open_answers import OpenAnswers
    from psopt.tasks import Task

F1 = "F1"
CLOSENESS = "closeness"
METRIC = "metric"
"""What the mean worth of answers is called: F1 for labels without an order, closeness for ordered ones.

Metric, whatever answers are, where a metric of the user's own says what they are worth.
"""

_ONE_LABEL = AnswerSpec()


@dataclass(frozen=True, slots=True)
class AnswerType:
    """How the answers to a task's samples are compared, with each other and with the truth.

    One label: answers are alike only if they are equal, and each is right or wrong. Ordered labels: two are as alike as
    they are near, ``1 - distance / range``, and an answer is worth its likeness to the truth. Open answers (several
    labels, numbers, texts) are compared by the rules of their kind: see `open`. N/A is like no other and worth nothing.
    """

    positions: tuple[float, ...] = ()  # where each label stands on the scale, rising; empty where labels have no order
    spec: AnswerSpec = _ONE_LABEL  # what answers are
    has_metric: bool = False  # whether a metric of the user's own says what they are worth

    @classmethod
    def of(cls, task: Task) -> AnswerType:
        if task.positions:
            return cls(task.positions, AnswerSpec(ORDINAL))
        return cls(spec=task.spec)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> AnswerType:
        """Read `to_dict`'s data back; None stands for one label."""
        if not data:
            return cls()
        return cls(tuple(data["positions"]), AnswerSpec.read("answers", data["type"]), data.get("metric", False))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, as run.json holds it."""
        metric = {"metric": True} if self.has_metric else {}
        return {"type": self.name, "positions": list(self.positions), **metric}

    @property
    def name(self) -> str:
        """The name that ``--answers`` takes."""
        return ORDINAL if self.positions else str(self.spec)

    @property
    def is_plain(self) -> bool:
        """Whether answers are one label, right or wrong."""
        return not self.positions and not self.spec.is_open and not self.has_metric

    @property
    def open(self) -> OpenAnswers | None:
        """How open answers are compared; None where they are single labels."""
        return _open_answers(self.spec)

    @property
    def has_consistency(self) -> bool:
        """Whether C is defined: it needs labels."""
        return self.spec.has_labels

    @property
    def quality_name(self) -> str:
        """What the mean worth of answers is called: it takes the place of F1."""
        if self.has_metric:
            return METRIC
        if self.open is not None:
            return self.open.quality_name
        return F1 if self.is_plain else CLOSENESS

    @property
    def note(self) -> str:
        """One line on what is measured differently than for plain labels; empty for those."""
        if self.is_plain:
            return ""
        alike = "Answers are labels"
        if self.open is not None:
            alike = self.open.note
        elif self.positions:
            alike = "Labels are ordered: S counts near answers as near, closeness is 1 - distance / range of the scale"
        without = "" if self.has_consistency else ", and C is not defined"
        return f"{alike}; {self.quality_name} stands where F1 stands else{without}"

    @property
    def similarity(self) -> NDArray[np.float64] | None:
        """How alike two labels are, N/A last: (C, C) in [0, 1], a kernel; None where only equal ones are alike."""
        return _similarity(self.positions) if self.positions else None

    @property
    def worth(self) -> NDArray[np.float64] | None:
        """What each answer, N/A last, is worth for each true label: (C - 1, C) in [0, 1]; None if right or wrong."""
        return _similarity(self.positions)[:-1] if self.positions else None


ONE_LABEL = AnswerType()


@functools.lru_cache(maxsize=16)
def _open_answers(spec: AnswerSpec) -> OpenAnswers | None:
    if spec.kind == NUMBER:
        return Numbers(*spec.tolerance)
    if spec.kind == TEXT:
        return Texts(spec.detail)
    if spec.kind == FREE:
        return FreeTexts(spec.equivalence, spec.rating)
    return LabelSets(spec.is_exact) if spec.kind == LABELS else None


@functools.lru_cache(maxsize=16)
def _similarity(positions: tuple[float, ...]) -> NDArray[np.float64]:
    places = np.array(positions)
    n_labels = len(places)
    similarity = np.eye(n_labels + 1)
    # 1 - distance / range is positive semidefinite on an interval: the triangular kernel (Polya's criterion)
    similarity[:n_labels, :n_labels] = 1 - np.abs(places[:, None] - places) / (places[-1] - places[0])
    similarity.setflags(write=False)
    return similarity
