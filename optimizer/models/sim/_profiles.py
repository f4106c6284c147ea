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
    habit : (N,) int
        The class a text is usually given, in [0, C).
    shakiness : (N,) float
        Share of its answers that are drawn anew for every wording, in [0, 1].
    anew : (N, C) float
        q, which those are drawn from.
    obedience : (N, C - 1) float
        Exponential clocks of mean 1, one a label: a pull of rate r turns the habit if the clock, divided by r, stands
        below 1, and the lowest one wins.
    """

    habit: NDArray[np.int64]
    shakiness: Floats
    anew: Floats
    obedience: Floats


def draw_traits(own: Keys, group: Keys, truth: NDArray[np.int64], n_labels: int, options: SimOptions) -> Traits:
    """Draw the traits of texts from their own keys and those of their groups, both (N,)."""
    shared = np.where(_drawn(own, "grouped") < options.grouped, group, own)
    rows, right, wrong = np.arange(len(own)), options.accuracy, 1 - options.accuracy
    confused = (truth + 1 + (_drawn(shared, "confused") * (n_labels - 1)).astype(np.int64)) % n_labels
    anew = np.zeros((len(own), n_labels + 1))
    anew[rows, truth] = right
    anew[rows, confused] = wrong * (1 - options.na)
    anew[:, n_labels] = wrong * options.na
    usual = _drawn(shared, "habit")
    habit = np.select([usual < right, usual < 1 - wrong * options.na], [truth, confused], n_labels)
    clocks = keys([key("obedience", label) for label in range(n_labels)])
    obedience = -np.log1p(-uniform(own[:, None], clocks))
    return Traits(habit, _shakiness(_drawn(shared, "shakiness"), options.wobble), anew, obedience)


def profiles(traits: Traits, pulls: Floats) -> Floats:
    """Return the answer distribution of each text under a prompt that pulls with these (N, C - 1) rates: (N, C)."""
    total = pulls.sum(axis=1, keepdims=True)
    kept = np.exp(-total)
    moved = pulls * ((1 - kept) / np.where(total > 0, total, 1))
    anew = traits.anew * kept
    anew[:, :-1] += moved
    shaky = traits.shakiness[:, None]
    return np.asarray(shaky * anew + (1 - shaky) * np.eye(anew.shape[1])[_habits(traits, pulls)])


def _habits(traits: Traits, pulls: Floats) -> NDArray[np.int64]:
    """The habits under a prompt: of the labels that a text obeys the one whose clock rings first."""
    rings = np.divide(traits.obedience, pulls, out=np.full_like(pulls, np.inf), where=pulls > 0)
    return np.where(rings.min(axis=1) < 1, rings.argmin(axis=1), traits.habit)


def _shakiness(uniforms: Floats, wobble: float) -> Floats:
    """Beta(a, 1) with mean `wobble`: where it is low most texts are firm and some shake much."""
    if wobble == 0:
        return np.zeros_like(uniforms)
    return np.asarray(uniforms ** ((1 - wobble) / wobble))


def _drawn(of: Keys, trait: str) -> Floats:
    return uniform(of, keys([key(trait)]))
