"""A complete diagnosis: the samples that fail, and what they share."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.diagnosis._open_slices import find_open_slices
from psopt.diagnosis._slices import FailureSlice, find_slices, severity
from psopt.evaluation import OBJECTIVES
from psopt.metrics import joint_scores, reference_scores
from psopt.search_spaces import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Predictions
    from psopt.tasks import Sample


_MOST_CASES = 20  # per view


@dataclass(frozen=True)
class JointView:
    """S against mean consistency, sample by sample, with the scores of noise (E25, appendix A and figure 6)."""

    # One value per sample, in the predictions' order; consistency is the mean over its class
    sensitivity: tuple[float, ...]
    consistency: tuple[float, ...]
    # F1, sensitivity and consistency of ``predictor``, ``half_noised`` and ``random``
    references: dict[str, dict[str, float]]


def joint_view(predictions: Predictions) -> JointView | None:
    """Return the joint view; None without labels, and if samples were asked under different numbers of rephrasings."""
    if not predictions.is_labelled or not predictions.is_whole:
        return None
    references = {
        name: {measure: getattr(scores, measure) for measure in OBJECTIVES}
        for name, scores in reference_scores(predictions.array, predictions.truth, predictions.n_classes).items()
    }
    if predictions.probabilities is not None:  # these are scored; noise is compared by answers
        references["predictor"] = joint_scores(predictions.probabilities, predictions.truth, predictions.n_classes)
    return JointView(tuple(predictions.sensitivities.tolist()), tuple(predictions.consistencies.tolist()), references)


@dataclass(frozen=True, slots=True)
class FailureCase:
    """One failing sample: S, mean consistency with its class, and how many of its Q answers are right."""

    id: str
    text: str
    label: str | None
    sensitivity: float
    consistency: float | None
    right: int | None
    answers: dict[str, int]


@dataclass(frozen=True)
class Diagnosis:
    """Where a prompt fails."""

    failure_cases: dict[View, tuple[FailureCase, ...]]  # the most severe first
    slices: tuple[FailureSlice, ...]  # over all views
    # S against mean consistency; None without labels, and if not every cell was asked
    joint: JointView | None = None

    def __repr__(self) -> str:
        """How many samples fail by each view, and how many groups they form: their texts would fill screens."""
        cases = ", ".join(f"{len(cases)} by {view}" for view, cases in self.failure_cases.items())
        return f"<Diagnosis: failure cases {cases}; {len(self.slices)} groups>"

    @property
    def groups(self) -> tuple[FailureSlice, ...]:
        """The slices, under their name in version 0.1."""
        return self.slices

    def of_views(self, views: Sequence[str]) -> Diagnosis:
        """Return only the slices of these views."""
        return replace(self, slices=tuple(failing for failing in self.slices if failing.view in views))

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain JSON data (`groups` and `weak` of the contract)."""
        return {
            "groups": [failing.to_dict() for failing in self.slices],
            "joint": asdict(self.joint) if self.joint else None,
            "weak": {view: [asdict(case) for case in cases] for view, cases in self.failure_cases.items()},
        }


def diagnose_predictions(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Diagnosis:
    """Diagnose predictions by every view that their labels allow.

    See `find_slices` for `labelled`. Where there are no classes, without labels or for open answers, see
    `find_open_slices`.
    """
    views: tuple[View, ...] = ("sensitivity", "accuracy") if predictions.is_labelled else ("sensitivity",)
    if predictions.is_labelled and predictions.answers.open is None:
        views = VIEWS
        of_views = (find_slices(predictions, view, labelled=labelled) for view in views)
        slices, joint = tuple(itertools.chain.from_iterable(of_views)), joint_view(predictions)
    else:
        slices, joint = find_open_slices(predictions, views), None
    return Diagnosis({view: _most_severe(predictions, view) for view in views}, slices, joint)


def _most_severe(predictions: Predictions, view: View) -> tuple[FailureCase, ...]:
    """Failing samples, the most severe first; for consistency class by class, as in the paper."""
    severities = severity(predictions, view)
    failing = [index for index in np.argsort(-severities, kind="stable").tolist() if severities[index] > 0]
    if view == "consistency":
        truth = predictions.truth.tolist()
        of_class = max(1, _MOST_CASES // len(predictions.labels))
        by_class = {label: [index for index in failing if truth[index] == label] for label in set(truth)}
        failing = [index for index in failing if index in by_class[truth[index]][:of_class]]
        failing = sorted(failing[:_MOST_CASES], key=truth.__getitem__)
    unstable = predictions.sensitivities.tolist()
    right = alike = [None] * len(unstable)
    if predictions.is_labelled:
        right = predictions.n_right.tolist()
        if predictions.answers.has_consistency:
            alike = predictions.consistencies.tolist()
    cases = ((index, predictions.samples[index]) for index in failing[:_MOST_CASES])
    return tuple(
        FailureCase(of.id, of.text, of.label, unstable[row], alike[row], right[row], predictions.answers_to(row))
        for row, of in cases
    )
