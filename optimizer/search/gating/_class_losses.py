"""What a nominee costs single classes: a gain in F1 over all samples may hide that a rare class is no longer found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.evaluation import compare_classes
from psopt.search.gating._holm import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import ClassDifference, Predictions

_ENOUGH = 5  # test samples of a class: of fewer, chance alone takes whole classes away. Chosen, not measured


@dataclass(frozen=True, slots=True)
class ClassLoss:
    """A class whose F1 is lower by the margin or more."""

    label: str
    n: int  # its test samples
    # Its F1; of answers that are scored the mean score of its samples
    before: float
    after: float
    is_sure: bool  # whether a one-sided test says so too, at Holm's level over all classes with five samples or more


def class_losses(
    baseline: Predictions, nominee: Predictions, margin: float, alpha: float
) -> tuple[tuple[ClassLoss, ...], tuple[float, float] | None]:
    """Return the classes that lose, the worst first, and macro-F1 of both over the classes that have samples.

    Macro-F1 is None where answers are scored: a metric may have its own reasons to weigh classes.
    """
    classes = compare_classes(baseline, nominee)
    surely = _surely_worse(classes, alpha)
    lost = [found for found in classes if falls(found.after - found.before, margin)]
    losses = [ClassLoss(found.label, found.n, found.before, found.after, found.label in surely) for found in lost]
    losses.sort(key=lambda loss: (not loss.is_sure, loss.after - loss.before))
    is_scored = baseline.quality is not None and baseline.label_rows is None
    if is_scored or not classes:
        return tuple(losses), None
    before, after = ([getattr(found, side) for found in classes] for side in ("before", "after"))
    return tuple(losses), (sum(before) / len(classes), sum(after) / len(classes))


def falls(difference: float | None, margin: float) -> bool:
    """Whether a score is lower by the margin or more; a hair of rounding is no fall."""
    return difference is not None and difference <= -max(margin, 1e-9)


def _surely_worse(classes: Sequence[ClassDifference], alpha: float) -> set[str]:
    enough = [found for found in classes if found.n >= _ENOUGH]
    judged = holm([found.paired.p_below() for found in enough], alpha)
    return {found.label for found, (is_worse, _) in zip(enough, judged, strict=True) if is_worse}
