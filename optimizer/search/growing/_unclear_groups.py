"""How likely it is that a group of samples fails, of which a part was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# The failures of a group are Poisson with the sum of its members' rates times a factor of its own, which is gamma with
# mean 1 and this shape: a group may fail three times as often as its class does. Chosen for being the simplest, the
# exponential distribution.
_SHAPE = 1.0
# A class's rate is drawn to that of all by so many samples: a class of three says nothing by itself. Chosen.
_DRAWN = 4.0
_FEWEST_FAILING = 2  # a slice has as many


def failure_rates(failed: Flags, asked: Flags, truth: NDArray[np.int64], kinds: NDArray[np.int64]) -> Vector:
    """Estimate how probable it is that each sample fails: (N,), by its class and by what it was earlier.

    Parameters
    ----------
    failed, asked : (N,) bool
    truth : (N,) int
    kinds : (N,) int
        What samples were in earlier diagnoses: those that failed then are likelier to fail again.
    """
    rates = np.empty(len(truth))
    for kind in np.unique(kinds):
        of_kind = kinds == kind
        overall = ((failed & of_kind).sum() + 0.5) / ((asked & of_kind).sum() + 1)
        for label in np.unique(truth[of_kind]):
            own = of_kind & (truth == label)
            rates[own] = ((failed & own).sum() + _DRAWN * overall) / ((asked & own).sum() + _DRAWN)
    return rates


def chance_of_failing(members: Flags, failed: Flags, asked: Flags, rates: Vector) -> Vector:
    """Estimate the probability that each group, once it is asked about in whole, has two failing members: (G,).

    0 where it was asked about in whole, 1 where it has them already and others are left.

    Parameters
    ----------
    members : (N, G) bool
    failed, asked : (N,) bool
    rates : (N,) float
    """
    from scipy.stats import nbinom

    left = members & ~asked[:, None]
    n_failed = (members & failed[:, None]).sum(axis=0)
    expected = _SHAPE + rates @ (members & asked[:, None])
    to_come = rates @ left
    chance = nbinom.sf(_FEWEST_FAILING - 1 - n_failed, _SHAPE + n_failed, expected / (expected + to_come))
    return np.where(left.any(axis=0), chance, 0.0)


def failing_groups(members: Flags, failed: Flags, fewest: int = _FEWEST_FAILING) -> Flags:
    """Which groups have so many failing members: (G,)."""
    return np.asarray((members & failed[:, None]).sum(axis=0) >= fewest)
