"""The smallest difference that a final test can show: between two prompts, on so many samples and wordings."""

from __future__ import annotations

import math
import zipfile
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.metrics import prediction_counts, sample_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions

MEASURES = ("f1", "sensitivity")
"""What the final test is planned for."""
LEVEL = 0.05
"""Of the two-sided test: Fisher's convention, and what the 95 % intervals beside it stand for."""
POWER = 0.8
"""How often the test is to see the difference: Cohen's convention (Statistical Power Analysis, 1988, section 2.4)."""


@dataclass(frozen=True, slots=True)
class DifferenceSpread:
    """How much the difference of two prompts varies that answer the same samples under the same wordings."""

    # Variances between samples and between wordings
    samples: float
    wordings: float
    cells: float = 0.0  # variance of what is left: a sample under a wording


def smallest_difference(
    spread: DifferenceSpread, n_samples: int, n_wordings: int, level: float = LEVEL, power: float = POWER
) -> float:
    """Return the true difference of two prompts that a paired two-sided test finds with this probability.

        t_(1 - level/2) * sqrt(samples / N + wordings / Q + 2 cells / (N Q))
            + t_power * sqrt(samples / N + wordings / Q + cells / (N Q))

    since a test over samples and wordings adds their variances, and each has the cells' in it: it is careful. Degrees
    of freedom are Satterthwaite's; with one wording the test is over samples alone, for nothing is known of how
    wordings differ. The quantile of the central t stands for that of the non-central one, as is usual.

    Parameters
    ----------
    n_samples, n_wordings : int
        N and Q of the test.
    level, power : float
        In (0, 1).

    Returns
    -------
    float
        At most 1, which is what less than two samples can show.

    References
    ----------
    Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 1946; Cohen,
    Statistical Power Analysis for the Behavioral Sciences, 2nd edition 1988, chapter 2.

    Examples
    --------
    >>> few = smallest_difference(DifferenceSpread(0.16, 0.0), 100, 10)
    >>> many = smallest_difference(DifferenceSpread(0.16, 0.0), 400, 10)
    >>> round(few, 3), round(many, 3)
    (0.113, 0.056)
    """
    from scipy.special import stdtrit  # of the quantiles of t, without the half second that scipy.stats takes

    if n_samples < 2:
        return 1.0
    of_cells = spread.cells / (n_samples * n_wordings)
    of_samples = spread.samples / n_samples + of_cells
    of_wordings = spread.wordings / n_wordings + of_cells if n_wordings > 1 else 0.0
    tested = of_samples + of_wordings
    if not tested:
        return 0.0
    freedom = tested**2 / (of_samples**2 / (n_samples - 1) + of_wordings**2 / max(1, n_wordings - 1))
    varies = tested - of_cells if n_wordings > 1 else tested
    threshold = float(stdtrit(freedom, 1 - level / 2)) * math.sqrt(tested)
    return min(1.0, threshold + float(stdtrit(freedom, power)) * math.sqrt(varies))


# The most that was seen between original prompts and prompts of the front, about: TREC, DBpedia and CB, 56 to 200
# samples, Q = 3 and 10, simulated models and minilm. Of F1 at the most .13, .002 (.018 with 56 samples) and .17. S of a
# sample with two answers half and half is log 2 / log C; in squares of that .29, .018 and .84.
_WORST_F1 = (0.15, 0.002, 0.15)
_WORST_S = (0.3, 0.015, 0.8)


def plausible_spread(n_classes: int) -> dict[str, DifferenceSpread]:
    """Return how differences vary at worst, as far as is plausible where nothing is measured.

    Parameters
    ----------
    n_classes : int
        With N/A.
    """
    of_two_answers = (math.log(2) / math.log(max(2, n_classes))) ** 2
    return {
        "f1": DifferenceSpread(*_WORST_F1),
        "sensitivity": DifferenceSpread(*(of_two_answers * variance for variance in _WORST_S)),
    }


@dataclass(frozen=True, slots=True)
class ShownDifferences:
    """The smallest true differences of two prompts that a test on so many samples and wordings shows."""

    n_samples: int
    n_wordings: int
    # What a paired, two-sided test at 5 % sees in 80 % of cases; 1 is nothing at all
    f1: float
    sensitivity: float
    # Whether it rests on the answers to prompts of this run, and not on what is plausible at worst
    is_measured: bool = False

    @classmethod
    def of(
        cls, n_samples: int, n_wordings: int, spreads: Mapping[str, DifferenceSpread], *, is_measured: bool = False
    ) -> ShownDifferences:
        """Say what a test of this size shows, where differences vary so."""
        shown = {name: smallest_difference(spreads[name], n_samples, n_wordings) for name in MEASURES}
        return cls(n_samples, n_wordings, **shown, is_measured=is_measured)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def measured_spread(
    first: NDArray[np.int64], second: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int
) -> dict[str, DifferenceSpread]:
    """Return how the difference of two prompts varies in F1 and in S, from their answers on val.

    An analysis of variance with samples as rows and wordings as columns. S of a sample is made of its answers under all
    wordings: in the place of a cell stands its pseudo-value, Q S_i - (Q - 1) S_i without the wording.

    Parameters
    ----------
    first, second : (N, Q) int
        Class numbers, N/A last; at least two samples.
    truth : (N,) int
    n_classes : int
        With N/A.

    References
    ----------
    Tukey, "Bias and confidence in not-quite large samples", 1958 (pseudo-values).
    """
    f1 = (second == truth[:, None]).astype(np.float64) - (first == truth[:, None])
    sensitivity = _sensitivity(second, n_classes) - _sensitivity(first, n_classes)
    pseudo = _pseudo_values(second, n_classes) - _pseudo_values(first, n_classes)
    return {"f1": _analysed(f1, f1.mean(axis=1)), "sensitivity": _analysed(pseudo, sensitivity)}


def spread_of_predictions(first: Predictions, second: Predictions) -> dict[str, DifferenceSpread]:
    """Return the same of predictions, whatever their answers are: by what an answer is worth, and how alike two are."""
    if first.answers.is_plain:
        return measured_spread(first.array, second.array, first.truth, first.n_classes)
    worths = [
        predictions.right if predictions.quality is None else predictions.quality for predictions in (first, second)
    ]
    quality = worths[1].astype(np.float64) - worths[0]
    pseudo = _pseudo_values_of(second) - _pseudo_values_of(first)
    sensitivity = second.sensitivities - first.sensitivities
    return {"f1": _analysed(quality, quality.mean(axis=1)), "sensitivity": _analysed(pseudo, sensitivity)}


def _pseudo_values_of(predictions: Predictions) -> NDArray[np.float64]:
    n_wordings = predictions.n_rephrasings
    whole: NDArray[np.float64] = n_wordings * predictions.sensitivities
    if n_wordings < 2:
        return whole[:, np.newaxis]
    columns = range(n_wordings)
    without = [predictions.under([other for other in columns if other != q]).sensitivities for q in columns]
    return np.column_stack([whole - (n_wordings - 1) * rest for rest in without])


def spread_of_run(folder: Path, baseline: str, labels: Mapping[str, str]) -> dict[str, DifferenceSpread] | None:
    """Return how differences varied on val in a run, in the mean of its prompts against the baseline; None if unknown.

    Parameters
    ----------
    folder : path
        The run directory.
    baseline : str
        The baseline's id.
    labels : mapping of sample id to label
        Of val.
    """
    spreads = []
    try:
        first, ids, names = _on_val(folder / "predictions" / f"{baseline}.npz")
        truth = np.array([names.index(labels[sample]) for sample in ids])
        for path in sorted((folder / "predictions").glob("*.npz")):
            second, *same = _on_val(path)
            if path.stem != baseline and same == [ids, names] and second.shape == first.shape and len(ids) > 1:
                spreads.append(measured_spread(first, second, truth, len(names)))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):  # a plan can do without
        return None
    if not spreads:
        return None
    means = {name: np.mean([astuple(spread[name]) for spread in spreads], axis=0) for name in MEASURES}
    return {name: DifferenceSpread(*map(float, mean)) for name, mean in means.items()}


def _on_val(path: Path) -> tuple[NDArray[np.int64], list[str], list[str]]:
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["val"].astype(np.int64), arrays["val_ids"].tolist(), arrays["labels"].tolist()


def _analysed(cells: NDArray[np.float64], by_sample: NDArray[np.float64]) -> DifferenceSpread:
    """Take variances apart: those of row and column means hold a part of the cells'."""
    n_samples, n_wordings = cells.shape
    if n_wordings < 2:
        return DifferenceSpread(float(by_sample.var(ddof=1)), 0.0)
    rows, columns = cells.mean(axis=1, keepdims=True), cells.mean(axis=0, keepdims=True)
    rest = cells - rows - columns + cells.mean()
    of_cells = float((rest**2).sum() / ((n_samples - 1) * (n_wordings - 1)))
    of_samples = float(by_sample.var(ddof=1)) - of_cells / n_wordings
    of_wordings = float(columns.var(ddof=1)) - of_cells / n_samples
    return DifferenceSpread(max(0.0, of_samples), max(0.0, of_wordings), of_cells)


def _pseudo_values(answers: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    n_wordings = answers.shape[1]
    whole: NDArray[np.float64] = n_wordings * _sensitivity(answers, n_classes)
    if n_wordings < 2:
        return whole[:, np.newaxis]
    without = [_sensitivity(np.delete(answers, place, axis=1), n_classes) for place in range(n_wordings)]
    return np.column_stack([whole - (n_wordings - 1) * rest for rest in without])


def _sensitivity(answers: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    return np.asarray(sample_sensitivity(prediction_counts(answers, n_classes)))
