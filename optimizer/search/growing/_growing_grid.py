"""The part of train's grid that a prompt is asked about: it grows where it is not clear what fails.

Measured on 500 questions of TREC's train under ten wordings, with minilm (the original prompt and the one that a
search ended with) and a simulated model, three orders each: what share of the notes that a whole diagnosis leads to,
weighted by their gain, is found, and for what share of its calls.

- 167 samples under all wordings: a third of the calls, .14 to .77 of the notes. A slice has two to five members among
  500 samples, and a third of the samples has one of them. So samples come first, and wordings last.
- All samples under two wordings: a fifth, .86 to .94. A third of the samples shares no phrase that could name a slice.
- What is done here: .24 and .23 of the calls in a first diagnosis (minilm, sim), .98 and .93 of the notes, .98 and .99
  of the definitions; in the last prompt's diagnosis after that of the original one .2, .91 and .96. Of a simulated
  model that is right in .88 of all answers .2, .94 and .99.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from psopt.models import NOT_ASKED
from psopt.search.racing import Rung, Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.diagnosis import NameableGroups

    Answers = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EarlierFailures:
    """What each sample was in the latest diagnosis that asked about it.

    Attributes
    ----------
    failed : (N,) bool
        It was wrong or unsteady.
    sound : (N,) bool
        It was right and steady, as far as it was asked about. Neither of the two: nobody has asked.
    """

    failed: NDArray[np.bool_]
    sound: NDArray[np.bool_]

    @classmethod
    def none(cls, n_samples: int) -> Self:
        """Return what is known before the first diagnosis."""
        nobody = np.zeros(n_samples, dtype=np.bool_)
        return cls(nobody, nobody.copy())

    @property
    def are_there(self) -> bool:
        """Whether there was a diagnosis."""
        return bool((self.failed | self.sound).any())

    @property
    def kinds(self) -> NDArray[np.int64]:
        """0 where nobody has asked, 1 where it failed, 2 where it was sound: (N,)."""
        return self.failed + 2 * self.sound

    def after(self, failed: NDArray[np.bool_], asked: NDArray[np.bool_]) -> EarlierFailures:
        """Return what is known after a further diagnosis: (N,) who failed in it, and who was asked about."""
        return EarlierFailures(np.where(asked, failed, self.failed), np.where(asked, asked & ~failed, self.sound))


Ask = Callable[["NDArray[np.bool_]"], "NDArray[np.int64]"]
"""From the cells that must be known to a prompt's answers, (N, Q); what is known already is not asked again."""

_FIRST = 100  # samples: 50 find as much for a fiftieth fewer calls, by one step more
_FRESH = 50  # of those that did not fail earlier. Chosen.
_FEWEST_OF_CLASS = 2
# The chance that a group fails, above which it is asked about. In a first diagnosis .05 finds .98, .94 and .84 of the
# gain (minilm, sim, and the prompt at a search's end), .1 .98, .94 and .79, for a fortieth fewer calls.
_LEAST_CHANCE = 0.05
_WIDE = 2  # wordings: whether a sample is unstable needs two
# With 2 there, .51 to .8 of the severity by sensitivity is in slices that are found, with 4 .51 to .97.
_DEEP = 4
# Failing members of a group that is asked about under no more wordings. 3: .229 of the calls, .96 of the notes with
# minilm; 5: .241, .98; 8: .252, .98.
_CLEAR = 5


class GrowingGrid:
    """Chooses which cells of train a prompt is asked about.

    First a part of the samples under two wordings: class by class, in an order that is fixed for the study. Then again
    and again as many as before at most: the members of groups that may fail by what is known, the likeliest first, and
    whom a note on a failing group could harm. Last of all unsteady samples, and groups of which a few fail, are asked
    about under four wordings.

    Parameters
    ----------
    groups : NameableGroups
    truth : (N,) int
    n_wordings : int
        Q, at least 2.
    seed : int
    """

    def __init__(self, groups: NameableGroups, truth: NDArray[np.int64], n_wordings: int, seed: int) -> None:
        self._groups = groups
        self._truth = truth
        self._schedule = Schedule(truth, n_wordings, seed)
        n_samples = len(truth)
        self._order = self._schedule.samples(Rung(n_samples, _WIDE))
        self._wide = self._schedule.cells(Rung(n_samples, _WIDE))
        self._deep = self._schedule.cells(Rung(n_samples, min(_DEEP, n_wordings)))

    def grow(self, ask: Ask, earlier: EarlierFailures, most: int | None = None) -> Flags:
        """Ask, and return the cells that were asked about: (N, Q).

        Parameters
        ----------
        ask : callable
        earlier : EarlierFailures
            What earlier diagnoses have seen. A sample that was sound then is asked about less often, so that over all
            that are asked too many fail: figures are by sample and by group only.
        most : int, optional
            No more cells than that, but for two samples of each class.
        """
        few = self._few_of_each_class()
        most = self._wide.size if most is None else max(most, _WIDE * len(few))
        cells = np.zeros_like(self._wide)
        rows = _unique([*few, *self._first(earlier)])
        while rows.size:
            rows = rows[: (most - int(cells.sum())) // _WIDE]
            cells[rows] = self._wide[rows]
            answers = np.where(cells, ask(cells), NOT_ASKED)
            rows = self._next(answers, earlier) if rows.size else rows
        rows = self._to_deepen(answers)
        n_added = np.cumsum((self._deep & ~cells)[rows].sum(axis=1))
        rows = rows[n_added <= most - int(cells.sum())]
        cells[rows] = self._deep[rows]
        ask(cells)
        return cells

    def failed(self, answers: Answers) -> Flags:
        """Who has a wrong answer: (N,); whoever is unsteady has one."""
        return np.asarray(((answers != NOT_ASKED) & (answers != self._truth[:, None])).any(axis=1))

    def _few_of_each_class(self) -> NDArray[np.int64]:
        classes = self._truth[self._order]
        return np.concatenate([self._order[classes == label][:_FEWEST_OF_CLASS] for label in np.unique(classes)])

    def _first(self, earlier: EarlierFailures) -> NDArray[np.int64]:
        """The beginning of the order; after an earlier diagnosis who failed in it, each followed by a fresh sample."""
        if not earlier.are_there:
            return self._order[:_FIRST]
        is_failed = earlier.failed[self._order]
        failed, fresh = self._order[is_failed], self._order[~is_failed][:_FRESH]
        n_turns = min(len(failed), len(fresh))
        in_turns = np.stack([failed[:n_turns], fresh[:n_turns]], axis=1).ravel()
        return np.concatenate([in_turns, failed[n_turns:], fresh[n_turns:]])

    def _next(self, answers: Answers, earlier: EarlierFailures) -> NDArray[np.int64]:
        """Who is asked next, the likeliest to fail first: at most as many as were asked before."""
        asked = (answers != NOT_ASKED).any(axis=1)
        failed = self.failed(answers)
        members, others = self._groups.members, self._groups.others
        rates = failure_rates(failed, asked, self._truth, earlier.kinds)
        chance = chance_of_failing(members, failed, asked, rates)
        urgency = np.where(members, chance, 0.0).max(axis=1, initial=0.0)
        urgency[others[:, failing_groups(members, failed)].any(axis=1)] = 1.0
        is_wanted = (urgency > _LEAST_CHANCE) & ~asked
        wanted = self._order[is_wanted[self._order]]
        likeliest = np.argsort(-urgency[wanted], kind="stable")[: int(asked.sum())]
        return np.asarray(wanted[likeliest])

    def _to_deepen(self, answers: Answers) -> NDArray[np.int64]:
        """Unsteady samples, then the members of groups of which a few samples fail."""
        asked = answers != NOT_ASKED
        lowest = np.where(asked, answers, answers.max()).min(axis=1)
        unsteady = asked.any(axis=1) & (lowest != answers.max(axis=1))
        members, failed = self._groups.members, self.failed(answers)
        groups = failing_groups(members, failed, 1) & ~failing_groups(members, failed, _CLEAR)
        beside = asked.any(axis=1) & members[:, groups].any(axis=1) & ~unsteady
        return np.concatenate([self._order[kind[self._order]] for kind in (unsteady, beside)])


def _unique(rows: list[np.int64]) -> NDArray[np.int64]:
    """Each once, in the order in which they come first."""
    return np.array(list(dict.fromkeys(int(row) for row in rows)), dtype=np.int64)


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
