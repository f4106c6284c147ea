"""The race of one candidate against those that may be on the front, sample by sample, and its schedule.

A candidate is asked about many samples first, then about more wordings. The objectives are written as means over
samples, so that two candidates can be compared on those that both know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.evaluation import consistency_contributions, mean_influences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions


# If most answers to a sample are the same, more samples are more informative than more wordings: at 400 cells, with
# variances .16 between samples and .03 between wordings, 200 x 2 has a variance of .0009 and 40 x 10 one of .0041.
FEWEST_WORDINGS = 2  # disagreement needs two
_DEEPER = 4  # wordings of the rung in between
# Each rung doubles what is known, as in successive halving. With fewer than 120 samples, 40 would be over a third.
_NARROWEST = 40
_SMALL = 120
_NARROWEST_OF_SMALL = 20


class Rung(NamedTuple):
    """A number of samples, each under a number of wordings."""

    samples: int
    wordings: int

    def __str__(self) -> str:
        return f"{self.samples} x {self.wordings}"


class Schedule:
    """The rungs of a grid, the same for all candidates of a study.

    Samples come in a shuffled order in which every class is spread evenly. Each block of Q samples begins with Q
    different wordings, and a sample's further wordings are as far as possible from its earlier ones. So every rung
    holds all wordings about equally often, within each class too, and the cells of all rungs before it. `truth` holds
    the samples' classes, (N,) int.
    """

    def __init__(self, truth: Sequence[int] | NDArray[np.int64], n_wordings: int, seed: int) -> None:
        self.n_samples = len(truth)
        self.n_wordings = n_wordings
        rng = np.random.default_rng([seed, 18])  # a stream of its own
        self._order = _stratified(np.asarray(truth), rng)
        self._starts = _starts(self.n_samples, n_wordings, rng)
        self._steps = _far_apart(n_wordings)
        width = _NARROWEST if self.n_samples >= _SMALL else _NARROWEST_OF_SMALL
        rungs = []
        while width < self.n_samples:
            rungs.append(Rung(width, FEWEST_WORDINGS))
            width *= 2
        depths = sorted({FEWEST_WORDINGS, min(_DEEPER, n_wordings), n_wordings})
        self.rungs = (*rungs, *(Rung(self.n_samples, depth) for depth in depths))

    @property
    def whole(self) -> Rung:
        """The last rung: the grid."""
        return self.rungs[-1]

    @property
    def held_at(self) -> Rung:
        """The rung at which survivors are held: the last one with only a part of the samples.

        Simulated with 300 samples, holding at 160 of them asks 16.5 % of the plain search's answers, at all of them
        18.9 %, for the same hypervolume to within .01 %; with real trade-offs 16.7 and 18.6 %.
        """
        return max((rung for rung in self.rungs if rung.samples < self.n_samples), default=self.rungs[0])

    def after(self, rung: Rung) -> Rung:
        """Return the next rung; for the last one, itself."""
        return self.rungs[min(self.rungs.index(rung) + 1, len(self.rungs) - 1)]

    def samples(self, rung: Rung) -> NDArray[np.int64]:
        """Which samples a rung has: (n,) indices."""
        return self._order[: rung.samples]

    def cells(self, rung: Rung) -> NDArray[np.bool_]:
        """Which cells a rung has: (N, Q)."""
        cells = np.zeros((self.n_samples, self.n_wordings), dtype=np.bool_)
        wordings = (self._starts[: rung.samples, None] + self._steps[: rung.wordings]) % self.n_wordings
        cells[self.samples(rung)[:, None], wordings] = True
        return cells


def _stratified(truth: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """An order of which any first part holds the classes in about their shares."""
    places = np.empty(len(truth))
    for label in np.unique(truth):
        members = rng.permutation(np.flatnonzero(truth == label))
        places[members] = (np.arange(len(members)) + rng.random(len(members))) / len(members)
    return np.argsort(places, kind="stable")


def _starts(n_samples: int, n_wordings: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The first wording of each sample: all in every block of Q, shuffled, so as not to be in step with classes."""
    blocks = [rng.permutation(n_wordings) for _ in range(-(-n_samples // n_wordings))]
    return np.concatenate(blocks)[:n_samples]


def _far_apart(n: int) -> NDArray[np.int64]:
    """0 .. n-1, each as far as possible from those before it, on a circle.

    >>> _far_apart(10)
    array([0, 5, 2, 7, 1, 3, 4, 6, 8, 9])
    """
    distances = np.full(n, n)
    order = []
    for _ in range(n):
        order.append(int(distances.argmax()))
        apart = np.abs(np.arange(n) - order[-1])
        distances = np.minimum(distances, np.minimum(apart, n - apart))
    return np.array(order)


# One-sided bounds: 99 % below 80 samples, 95 % below 160, 90 % from there on. Early ones are strict, since going on is
# cheap there. Repeated looks are not corrected for: a wrong stop costs search quality, but falsifies no score, since
# what is reported has whole grids. Simulated with 15 seeds each, as shares of the plain search's answers and
# hypervolume (worst seed in brackets): 1.28 throughout took 17.0 % for 99.4 % (95), these 18.9 % for 99.9 % (99.7);
# with near-ties among candidates 19.3 % for 99.1 % (94), these 24.4 % for 99.8 % (99).
_EARLY = ((80, 2.33), (160, 1.64))
_LATE = 1.28
# The bound when the search ends and whole grids are asked for: 1.28 took .6 % more answers for .1 % of the hypervolume,
# and 2.7 % for .04 % with near-ties. And how much better a candidate might still be and get no whole grid: of the
# hypervolume that candidates gain on the original prompt, .01 kept 90 % (69 in the worst case) for 16.0 % of the plain
# search's answers, .005 kept 99.9 % (99.7) for 18.4 %, and 0 as much for 25.1 %. Measured on four recorded searches of
# a simulated model with trade-offs, and one of minilm on TREC, 500 x 10.
_AT_THE_END = 1.0
_NEGLIGIBLE_AT_THE_END = 0.005
_BELOW = 1.64  # 95 %, one-sided: the bound for an F1 below the baseline's minus the margin
# How much better a candidate might still be in one objective and stop anyway: less than the noise of a few hundred
# samples; chosen by judgement.
NEGLIGIBLE = 0.01
_AUDITED = 10  # of stopped candidates, one in ten is asked further anyway, to count the stops that were wrong


def is_dominated(differences: NDArray[np.float64], negligible: float = NEGLIGIBLE) -> bool:
    """Whether a rival is clearly better in all objectives: upper bounds of differences, (n, k), are `negligible`."""
    mean = differences.mean(axis=0)
    bound = next((bound for below, bound in _EARLY if len(differences) < below), _LATE)
    highest = mean + bound * standard_error(differences)
    return bool((mean <= 0).all() and (mean < 0).any() and (highest < negligible).all())


def is_no_better(differences: NDArray[np.float64]) -> bool:
    """Whether the candidate is at most negligibly better than the rival; a tie is no better."""
    highest = differences.mean(axis=0) + _AT_THE_END * standard_error(differences)
    return bool((highest < _NEGLIGIBLE_AT_THE_END).all())


def is_below(differences: NDArray[np.float64], margin: float) -> bool:
    """Whether the candidate's F1 is clearly below the rival's minus a margin."""
    f1 = differences[:, :1]
    return bool((f1.mean(axis=0) + _BELOW * standard_error(f1) < -margin).all())


def standard_error(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of each column's mean: (n, k) -> (k,)."""
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(differences)))


def is_audited(prompt_id: str, seed: int) -> bool:
    """Whether a candidate is asked further although it would stop: decided by its id, the same for every worker."""
    return (int(prompt_id, 16) + seed) % _AUDITED == 0


def sample_gains(predictions: Predictions) -> NDArray[np.float64]:
    """Return what each sample adds to F1, to -S and, where it is defined, to C, to be maximised: (N, 3) or (N, 2).

    S is expressed as disagreement, ``m/(m-1) (1 - sum p^2)``: for any number m of wordings an unbiased estimate of the
    Gini impurity under all of them, which entropy is not. For ordered labels, the answers' similarity W takes the place
    of equality, ``m/(m-1) (1 - sum p W p)`` (Rao's quadratic entropy), and closeness that of right answers. C is pooled
    over the pairs of each class; its contributions are ``C + 2 w (c - C)``, where c is a sample's mean consistency with
    its class and w its class's share of pairs: their mean is C, and their variance that of C to first order (Hajek's
    projection of a U-statistic). For several labels, F1 is a ratio of sums, likewise expanded to first order.

    All samples were asked under the same number m >= 2 of wordings, though not under the same ones.
    """
    m = int(predictions.asked[0].sum())
    quality, weights = predictions.quality, predictions.weights
    if quality is None:
        quality = predictions.right.astype(np.float64)
    of_quality = quality.sum(axis=1) / m
    if weights is not None:
        mean, parts = mean_influences(quality, weights)
        of_quality = mean + len(parts) * parts
    shares, similarity = predictions.counts / m, predictions.similarity
    alike = shares
    if similarity is not None:
        alike = shares @ similarity if similarity.ndim == 2 else np.einsum("nab,nb->na", similarity, shares)
    gains = [of_quality, -m / (m - 1) * (1 - (shares * alike).sum(axis=1))]
    if predictions.label_rows is not None:
        gains.append(predictions.label_rows.contributions)
    elif predictions.answers.open is None:
        pooled, parts = consistency_contributions(predictions.counts, predictions.truth)
        gains.append(pooled + parts)
    return np.column_stack(gains)
