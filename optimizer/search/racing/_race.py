"""The race of one candidate against those that may be on the front, sample by sample.

The objectives are written as means over samples, so that two candidates can be compared on those that both know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import ONE_LABEL, LabelSets, places_of, similarities_of, text_of, worths_of
from psopt.evaluation import LabelRows, consistency_contributions, mean_influences
from psopt.metrics import sample_consistency
from psopt.tasks import set_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.answers import AnswerType, OpenAnswers
    from psopt.search.racing._schedule import Rung, Schedule

    Answers = NDArray[np.int64]


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

Ask = Callable[["NDArray[np.bool_]"], "Answers"]
"""Takes the cells that must be known, returns the candidate's answers, (N, Q); known ones are not asked again."""
# Of stopped candidates, one in ten is asked further anyway, to count the stops that were wrong.
_AUDITED = 10


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why a candidate stopped."""

    reason: str  # with the id of the prompt that dominates it
    # By how much it is ahead of the rival in F1, -S (as disagreement) and, where defined, C on the rung's cells
    lead: tuple[float, ...]

    @property
    def shortfall(self) -> float:
        """How far the candidate is behind the rival in its best objective."""
        return -max(self.lead)


def is_dominated(differences: NDArray[np.float64], negligible: float = NEGLIGIBLE) -> bool:
    """Whether a rival is clearly better in all objectives, by normal bounds of paired differences, (n, k).

    The candidate might still be better by `negligible` in one of them.
    """
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


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How far a candidate got."""

    rung: Rung | None  # the last one that it was asked about; None if it did not race
    stop: _Stop | None  # why it went no further; None if no rival is clearly better, or it did not race
    is_audited: bool = False  # whether it was asked further anyway, as a check


class Race:
    """Lets candidates race on one grid of samples with the classes `truth`, (N,), of `n_classes` including N/A.

    F1 may be below the baseline's by a margin.
    """

    def __init__(
        self,
        schedule: Schedule,
        truth: NDArray[np.int64],
        n_classes: int,
        margin: float,
        answer_type: AnswerType = ONE_LABEL,
    ) -> None:
        self.schedule = schedule
        self._truth = truth
        self._n_classes = n_classes
        self._margin = margin
        self._answer_type = answer_type
        self._gains: dict[tuple[str, Rung], NDArray[np.float64]] = {}

    def run(
        self, prompt: str, ask: Ask, rivals: Mapping[str, Answers], baseline: str, negligible: float = NEGLIGIBLE
    ) -> RaceResult:
        """Ask about one rung after the other, until a rival is clearly better, or as far as survivors are held.

        Parameters
        ----------
        rivals : dict of prompt id to (N, Q) int
            The answers of those that may be on the front and of the baseline, -1 where there are none: each is a rival
            on the rungs that it was asked about.
        negligible : float
            How much better a candidate might still be in one objective and yet count as dominated.
        """
        schedule = self.schedule
        for rung in schedule.rungs[: schedule.rungs.index(schedule.held_at) + 1]:
            cells = schedule.cells(rung)
            answers = ask(cells)
            if rung == schedule.whole:  # as with two wordings: nothing is left to save
                break
            for rival, grid in rivals.items():
                if (grid[cells] < 0).any():  # a rival that has not got this far
                    continue
                differences = self.lead(prompt, answers, rival, grid, rung)
                lead = tuple(differences.mean(axis=0).tolist())
                if is_dominated(differences, negligible):
                    return RaceResult(rung, _Stop(f"dominated by {rival}", lead))
                if rival == baseline and is_below(differences, self._margin):
                    return RaceResult(rung, _Stop("F1 below the baseline's", lead))
        return RaceResult(schedule.held_at, None)

    def lead(self, prompt: str, answers: Answers, rival: str, grid: Answers, rung: Rung) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival on each sample of a rung: (n, k), see `sample_gains`."""
        return self._gains_of(prompt, answers, rung) - self._gains_of(rival, grid, rung)

    def _gains_of(self, prompt: str, answers: Answers, rung: Rung) -> NDArray[np.float64]:
        key = (prompt, rung)
        if key not in self._gains:  # an answer never changes
            cells = self.schedule.cells(rung)
            self._gains[key] = sample_gains(answers, cells, self._truth, self._n_classes, self._answer_type)
        return self._gains[key]


def is_audited(prompt_id: str, seed: int) -> bool:
    """Whether a candidate is asked further although it would stop: decided by its id, the same for every worker."""
    return (int(prompt_id, 16) + seed) % _AUDITED == 0


def sample_gains(
    array: NDArray[np.int64],
    cells: NDArray[np.bool_],
    truth: NDArray[np.int64],
    n_classes: int,
    answer_type: AnswerType = ONE_LABEL,
) -> NDArray[np.float64]:
    """Return what each sample contributes to F1, to -S and, where it is defined, to C on some cells, to be maximised.

    S is expressed as disagreement, ``m/(m-1) (1 - sum p^2)``: for any number m of wordings an unbiased estimate of the
    Gini impurity under all of them, which entropy is not. For ordered labels, the answers' similarity W takes the place
    of equality, ``m/(m-1) (1 - sum p W p)`` (Rao's quadratic entropy), and closeness that of right answers. C is pooled
    over the pairs of each class; its contributions are ``C + 2 w (c - C)``, where c is a sample's mean consistency with
    its class and w its class's share of pairs: their mean is C, and their variance that of C to first order (Hajek's
    projection of a U-statistic). For several labels, F1 is a ratio of sums, likewise expanded to first order.

    Parameters
    ----------
    array : (N, Q) int
        Answers in [0, n_classes), N/A the last of them, or open ones; ignored where `cells` is False.
    cells : (N, Q) bool
        Each sample has m >= 2 cells, the same m for all that have any.
    truth : (N,) int
    n_classes : int
        Including N/A.

    Returns
    -------
    gains : (n, 3) or (n, 2) float
        Of the n samples that have cells, in their order.
    """
    has_cells = cells.any(axis=1)
    m = int(cells[has_cells][0].sum())
    answers = array[has_cells][cells[has_cells]].reshape(-1, m)
    labels = truth[has_cells]
    if answer_type.open is not None:
        return open_gains(answers, labels, answer_type.open)
    counts = (answers[:, :, None] == np.arange(n_classes)).sum(axis=1)
    worth, similarity = answer_type.worth, answer_type.similarity
    quality = answers == labels[:, None] if worth is None else worth[labels[:, None], answers]
    shares = counts / m
    alike = shares if similarity is None else shares @ similarity
    disagreement = m / (m - 1) * (1 - (shares * alike).sum(axis=1))
    return np.column_stack([quality.mean(axis=1), -disagreement, _consistencies(counts, labels)])


def _consistencies(counts: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    with_others = np.nan_to_num(sample_consistency(counts, labels, self_pairs=False), nan=1.0)
    pooled, parts = consistency_contributions(with_others, labels)
    return pooled + parts


def open_gains(answers: NDArray[np.int64], truth: NDArray[np.int64], rule: OpenAnswers) -> NDArray[np.float64]:
    """Return gains as `sample_gains` does, from answers (n, m) and the codes of the right answers, (n,)."""
    m = answers.shape[1]
    places = places_of(answers, rule)
    shares = (places[:, :, None] == np.arange(m)).mean(axis=1)
    similarity = similarities_of(answers, places, rule, m)
    alike = shares if similarity is None else np.einsum("nab,nb->na", similarity, shares)
    disagreement = m / (m - 1) * (1 - (shares * alike).sum(axis=1))
    worths, weights = worths_of(answers, truth, rule)
    mean, parts = mean_influences(worths, weights)
    quality = mean + len(parts) * parts
    if not isinstance(rule, LabelSets):
        return np.column_stack([quality, -disagreement])
    right = [text_of(code) for code in truth.tolist()]
    labels = sorted({label for written in right for label in set_written(written)})
    return np.column_stack([quality, -disagreement, LabelRows.of(answers, right, labels).contributions])
