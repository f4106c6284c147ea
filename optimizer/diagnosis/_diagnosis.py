"""A whole diagnosis: the scores, the samples in need, and what they share."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.diagnosis._blocks import Block, find_blocks
from psopt.diagnosis._clusters import find_clusters
from psopt.diagnosis._evidence import Evidence, evidence
from psopt.diagnosis._groups import Group, find_groups
from psopt.diagnosis._joint import JointView, carried_by, joint_view
from psopt.diagnosis._views import need
from psopt.search_spaces import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.diagnosis._clusters import Embed
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample


@dataclass(frozen=True, slots=True)
class WeakSample:
    """One sample in need: S, mean consistency with its class, and how many of its Q answers are right."""

    id: str
    text: str
    label: str | None
    sensitivity: float
    consistency: float | None
    right: int | None
    answers: dict[str, int]


@dataclass(frozen=True)
class Diagnosis:
    """Where a prompt shakes.

    Attributes
    ----------
    weak : dict of view to WeakSamples
        Most in need first.
    groups : tuple of Group
        Over all views.
    evidence : tuple of Evidence
        What speaks for each group, in their order.
    joint : JointView or None
        S against mean consistency; None without labels.
    carried : dict of share to int
        How few samples carry half, 80 % and 90 % of the whole S.
    blocks : tuple of Block
        What classes fall apart into.
    """

    weak: dict[View, tuple[WeakSample, ...]]
    groups: tuple[Group, ...]
    evidence: tuple[Evidence, ...] = ()
    joint: JointView | None = None
    carried: dict[str, int] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()

    def of_views(self, views: Sequence[str]) -> Diagnosis:
        """Return the diagnosis as far as it is of these views; blocks are seen by consistency."""
        if set(views) == set(VIEWS):
            return self
        kept = [index for index, group in enumerate(self.groups) if group.view in views]
        return replace(
            self,
            groups=tuple(self.groups[index] for index in kept),
            evidence=tuple(self.evidence[index] for index in kept) if self.evidence else (),
            blocks=self.blocks if "consistency" in views else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain JSON data (`groups` and `weak` of the contract)."""
        facts = [asdict(one) for one in self.evidence] or [{}] * len(self.groups)
        groups = [
            {**asdict(group), "size": len(group.samples), "topic": group.topic, **of_group}
            for group, of_group in zip(self.groups, facts, strict=True)
        ]
        return {
            "groups": groups,
            "blocks": [{**asdict(block), "size": len(block.samples)} for block in self.blocks],
            "joint": self.joint.to_dict() if self.joint else None,
            "carried": self.carried,
            "weak": {view: [asdict(one) for one in weak] for view, weak in self.weak.items()},
        }


def diagnose_predictions(
    predictions: Predictions,
    *,
    known: Sequence[Sample] = (),
    n_weak: int = 20,
    n_groups: int = 12,
    embed: Embed | None = None,
) -> Diagnosis:
    """Diagnose predictions by every view that their labels allow.

    See `find_groups` for `known`, and `find_clusters` for `embed`.
    """
    views = VIEWS if predictions.is_labelled else VIEWS[:1]
    groups = [group for view in views for group in find_groups(predictions, view, most=n_groups, known=known)]
    groups += find_clusters(predictions, embed=embed, most=n_groups)
    return Diagnosis(
        {view: _weakest(predictions, view, n_weak) for view in views},
        tuple(groups),
        tuple(evidence(group, predictions) for group in groups),
        joint_view(predictions),
        carried_by(predictions.sensitivities.tolist()),
        find_blocks(predictions, known=known),
    )


def _weakest(predictions: Predictions, view: View, n_weak: int) -> tuple[WeakSample, ...]:
    """Samples in need, most first; for consistency class by class, as the paper does."""
    needs = need(predictions, view)
    order = np.argsort(-needs, kind="stable")
    if view == "consistency":
        truth = predictions.truth
        of_class = max(1, n_weak // len(predictions.labels))
        by_class = [order[truth[order] == label][:of_class] for label in range(len(predictions.labels))]
        order = np.concatenate(by_class)
    return tuple(_weak_sample(predictions, int(index)) for index in order[:n_weak] if needs[index] > 0)


def _weak_sample(predictions: Predictions, index: int) -> WeakSample:
    sample = predictions.samples[index]
    labelled = predictions.is_labelled
    return WeakSample(
        id=sample.id,
        text=sample.text,
        label=sample.label,
        sensitivity=float(predictions.sensitivities[index]),
        consistency=float(predictions.consistencies[index]) if labelled else None,
        right=int(predictions.n_right[index]) if labelled else None,
        answers=predictions.answers_to(index),
    )
