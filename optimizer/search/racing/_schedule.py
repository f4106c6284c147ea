"""Which cells of the grid a candidate is asked about, and in which order: many samples first, then more wordings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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

    Raises InputError if there is only one wording, which does not show how stable a candidate is.
    """

    def __init__(self, truth: Sequence[int] | NDArray[np.int64], n_wordings: int, seed: int) -> None:
        if n_wordings < FEWEST_WORDINGS:
            raise InputError("racing compares candidates under at least two wordings: give --rephrasings 2 or more")
        self.n_samples = len(truth)
        self.n_wordings = n_wordings
        rng = np.random.default_rng([seed, 18])  # a stream of its own
        self._order = _stratified(np.asarray(truth), rng)
        self._starts = _starts(self.n_samples, n_wordings, rng)
        self._steps = _far_apart(n_wordings)
        self.rungs = _rungs(self.n_samples, n_wordings)

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


def _rungs(n_samples: int, n_wordings: int) -> tuple[Rung, ...]:
    width = _NARROWEST if n_samples >= _SMALL else _NARROWEST_OF_SMALL
    widths = []
    while width < n_samples:
        widths.append(width)
        width *= 2
    depths = sorted({FEWEST_WORDINGS, min(_DEEPER, n_wordings), n_wordings})
    wide = [Rung(width, FEWEST_WORDINGS) for width in widths]
    return (*wide, *(Rung(n_samples, depth) for depth in depths))


def _stratified(truth: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """An order of which any first part holds the classes in about their shares."""
    places = np.empty(len(truth))
    for label in np.unique(truth):
        members = rng.permutation(np.flatnonzero(truth == label))
        places[members] = (np.arange(len(members)) + rng.random(len(members))) / len(members)
    return np.argsort(places, kind="stable")


def _starts(n_samples: int, n_wordings: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The first wording of each sample in the order: all wordings in every block of Q samples, shuffled.

    Counting up instead of shuffling would tie wordings to classes if both repeat in step.
    """
    blocks = [rng.permutation(n_wordings) for _ in range(-(-n_samples // n_wordings))]
    return np.concatenate(blocks)[:n_samples]


def _far_apart(n: int) -> NDArray[np.int64]:
    """0 .. n-1, each as far as possible from those before it, on a circle.

    >>> _far_apart(10)
    array([0, 5, 2, 7, 1, 3, 4, 6, 8, 9])
    """
    order = [0]
    while len(order) < n:
        left = [place for place in range(n) if place not in order]
        order.append(
            max(left, key=lambda place: min(min(abs(place - earlier), n - abs(place - earlier)) for earlier in order))
        )
    return np.array(order)
