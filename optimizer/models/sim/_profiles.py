"""From hidden traits and a prompt's pulls to answer distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.models.sim._draws import key, keys, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.models.sim._draws import Keys
    from psopt.models.sim._options import SimOptions

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Traits:
    """What N texts are like before any edit.

    Attributes
    ----------
    default_answer : (N,) int
        The class a text is usually given, in [0, C).
    instability : (N,) float
        Share of its answers that are drawn anew for every wording, in [0, 1].
    anew : (N, C) float
        q, which those are drawn from.
    compliance_clocks : (N, C - 1) float
        Exponential clocks of mean 1, one a label: a pull of rate r turns the default answer if the clock, divided
        by r, stands below 1, and the lowest one wins.
    """

    default_answer: NDArray[np.int64]
    instability: Floats
    anew: Floats
    compliance_clocks: Floats


def draw_traits(own: Keys, group: Keys, truth: NDArray[np.int64], n_labels: int, options: SimOptions) -> Traits:
    """Draw the traits of texts from their own keys and those of their groups, both (N,)."""
    # The traits' names go into the hash: another name is another draw, and other answers under the same model name.
    shared = np.where(_drawn(own, "grouped") < options.grouped, group, own)
    rows = np.arange(len(own))
    right = options.accuracy
    wrong = 1 - options.accuracy
    confused = (truth + 1 + (_drawn(shared, "confused") * (n_labels - 1)).astype(np.int64)) % n_labels
    anew = np.zeros((len(own), n_labels + 1))
    anew[rows, truth] = right
    anew[rows, confused] = wrong * (1 - options.na)
    anew[:, n_labels] = wrong * options.na
    usual = _drawn(shared, "habit")
    default_answer = np.select([usual < right, usual < 1 - wrong * options.na], [truth, confused], n_labels)
    clocks = keys([key("obedience", label) for label in range(n_labels)])
    compliance_clocks = -np.log1p(-uniform(own[:, None], clocks))
    instability = _instability(_drawn(shared, "shakiness"), options.instability)
    return Traits(default_answer, instability, anew, compliance_clocks)


def profiles(traits: Traits, pulls: Floats) -> Floats:
    """Return the answer distribution of each text under a prompt that pulls with these (N, C - 1) rates: (N, C)."""
    total = pulls.sum(axis=1, keepdims=True)
    kept = np.exp(-total)
    moved = pulls * ((1 - kept) / np.where(total > 0, total, 1))
    anew = traits.anew * kept
    anew[:, :-1] += moved
    unstable = traits.instability[:, None]
    return np.asarray(unstable * anew + (1 - unstable) * np.eye(anew.shape[1])[_default_answers(traits, pulls)])


def _default_answers(traits: Traits, pulls: Floats) -> NDArray[np.int64]:
    """The default answers under a prompt: of the labels that a text complies with the one whose clock rings first."""
    rings = np.divide(traits.compliance_clocks, pulls, out=np.full_like(pulls, np.inf), where=pulls > 0)
    return np.where(rings.min(axis=1) < 1, rings.argmin(axis=1), traits.default_answer)


def _instability(uniforms: Floats, mean: float) -> Floats:
    """Beta(a, 1) with this mean: where it is low most texts are stable and some are very unstable."""
    if mean == 0:
        return np.zeros_like(uniforms)
    return np.asarray(uniforms ** ((1 - mean) / mean))


def _drawn(of: Keys, trait: str) -> Floats:
    return uniform(of, keys([key(trait)]))
