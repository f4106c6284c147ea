"""From predictions to the three objectives and what stands beside them in every report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation._na_kinds import NaExample, na_examples, na_kinds
from psopt.metrics import bootstrap_ci, class_f1, consistency, macro_f1, micro_f1, na_rate, sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

_REPLICATES = 1000


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of one class; None where the class has no sample."""

    n: int
    f1: float | None
    sensitivity: float | None
    consistency: float | None


@dataclass(frozen=True, slots=True)
class FamilyScores:
    """The scores under one family of rephrasings alone.

    Attributes
    ----------
    n : int
        Its rephrasings. S grows with their number: compare families of equal n.
    f1, sensitivity : float
    """

    n: int
    f1: float
    sensitivity: float


@dataclass(frozen=True, slots=True)
class Scores:
    """What a prompt is worth on N samples under Q rephrasings.

    Attributes
    ----------
    f1 : float
        micro-F1 over all N x Q predictions, in [0, 1]; higher is better. Where answers have merits, their mean.
    macro_f1 : float
        Mean F1 over the labels that are true or predicted anywhere, N/A not among them.
    sensitivity : float
        S_tau (E25, equations 3 and 4), normalised, in [0, 1]; lower is better.
    consistency : float
        C_y pooled over the classes (E25, equation 7), in [0, 1]; higher is better.
    na_rate : float
        Share of answers that name no label.
    na_kinds : dict of kind to int
        How many of them are of which kind, most frequent first, where the model can tell.
    na_examples : dict of kind to NaExample
        For each kind one answer and the samples concerned.
    per_class : dict of label to ClassScores
    ci : dict of measure to (low, high)
        95 % bootstrap intervals of f1, sensitivity and consistency over samples and rephrasings; empty where not asked.
    constant : str or None
        The only class ever predicted, where there is just one: such a prompt has S = 0 and C = 1 for nothing.
    per_family : dict of family to FamilyScores
        Where the rephrasings are of several families: what the model is sensitive to.
    """

    f1: float
    macro_f1: float
    sensitivity: float
    consistency: float
    na_rate: float
    per_class: dict[str, ClassScores]
    ci: dict[str, tuple[float, float]]
    constant: str | None = None
    per_family: dict[str, FamilyScores] = field(default_factory=dict)
    na_kinds: dict[str, int] = field(default_factory=dict)
    na_examples: dict[str, NaExample] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain JSON data, as run.json holds them."""
        data = asdict(self)
        data["ci"] = {name: list(bounds) for name, bounds in self.ci.items()}
        return data


def score(predictions: Predictions, *, intervals: bool = False, seed: int = 42) -> Scores:
    """Score labelled predictions, on request with bootstrap intervals (1,000 replicates, seeded)."""
    p_tau, truth = predictions.p_tau, predictions.truth
    predicted = np.flatnonzero(predictions.counts.sum(axis=0))
    names = (*predictions.labels, "N/A")
    return Scores(
        f1=micro_f1(predictions.array, truth) if predictions.merits is None else float(predictions.merits.mean()),
        macro_f1=macro_f1(predictions.array, truth, labels=range(len(predictions.labels))),
        sensitivity=sensitivity(p_tau),
        consistency=consistency(p_tau, truth),
        na_rate=na_rate(predictions.counts),
        per_class=_per_class(predictions),
        ci=_intervals(predictions, seed) if intervals else {},
        constant=names[int(predicted[0])] if len(predicted) == 1 else None,
        per_family=_per_family(predictions),
        na_kinds=na_kinds(predictions),
        na_examples=na_examples(predictions),
    )


def _intervals(predictions: Predictions, seed: int) -> dict[str, tuple[float, float]]:
    """Intervals over samples and rephrasings; over samples alone for one rephrasing, and none for one sample."""
    if len(predictions.samples) < 2:
        return {}
    found = bootstrap_ci(
        predictions.scored,
        predictions.truth,
        predictions.n_classes,
        resample=predictions.resample,
        seed=seed,
    )
    bounds = {name: interval.bounds for name, interval in found.items()}
    return bounds if predictions.merits is None else {**bounds, "f1": _interval_of_mean(predictions.merits, seed)}


def _interval_of_mean(merits: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """95 % percentile interval of a mean over samples and rephrasings, both drawn anew 1,000 times."""
    rng = np.random.default_rng(seed)
    n_samples, n_rephrasings = merits.shape
    means = [
        merits[rng.integers(n_samples, size=n_samples)][:, rng.integers(n_rephrasings, size=n_rephrasings)].mean()
        for _ in range(_REPLICATES)
    ]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _per_class(predictions: Predictions) -> dict[str, ClassScores]:
    p_tau, truth = predictions.p_tau, predictions.truth
    f1 = class_f1(predictions.array, truth, labels=range(len(predictions.labels)))
    agreement = consistency(p_tau, truth, average=None)
    scores = {}
    for index, label in enumerate(predictions.labels):
        members = truth == index
        n = int(members.sum())
        scores[label] = ClassScores(
            n=n,
            f1=_number(f1[index]),
            sensitivity=sensitivity(p_tau[members]) if n else None,
            consistency=_number(agreement[index]) if n else None,
        )
    return scores


def _per_family(predictions: Predictions) -> dict[str, FamilyScores]:
    families = predictions.families
    if len(set(families)) < 2:
        return {}
    found: dict[str, FamilyScores] = {}
    for family in dict.fromkeys(families):
        some = predictions.under([index for index, one in enumerate(families) if one == family])
        f1 = micro_f1(some.array, some.truth)
        found[family] = FamilyScores(some.array.shape[1], f1, sensitivity(some.p_tau))
    return found


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
