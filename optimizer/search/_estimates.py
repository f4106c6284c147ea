"""What is known of every candidate against the baseline, whole grid or not, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import answer_shares
from psopt.search.racing import Schedule, StoppedCandidate, estimated_scores, sample_gains

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator
    from psopt.search._front import Candidate
    from psopt.search.racing import EstimatedScores
    from psopt.search_spaces import Edit, Prompt


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is known of a candidate against the baseline, by the samples that both were asked about.

    The baseline's answers are a control variate: what is hard about a part of the samples is hard for both.

    Attributes
    ----------
    trial : int
    id : str
        The prompt's id.
    edits : tuple of Edit
    lead : (3,) float
        By how much it is ahead in F1, in -S (as disagreement, see `sample_gains`) and in C.
    errors : (3,) float
        Standard errors of these, from the paired differences by sample; 0 for the baseline itself.
    n_samples : int
        On how many samples it was compared.
    is_whole : bool
        Whether its whole grid is known.
    """

    trial: int
    id: str
    edits: tuple[Edit, ...]
    lead: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_samples: int
    is_whole: bool


class Estimator:
    """Compares candidates with the baseline on val, each once.

    Parameters
    ----------
    evaluator : Evaluator
        Knows the answers; nothing is asked.
    seed : int
        Of the search: it decides the order in which candidates are asked about samples.
    """

    def __init__(self, evaluator: Evaluator, seed: int) -> None:
        self._evaluator = evaluator
        self._seed = seed
        self._schedule: Schedule | None = None
        self._estimates: dict[tuple[str, int], Estimate] = {}

    def estimate(self, candidate: Candidate | StoppedCandidate, baseline: Candidate) -> Estimate:
        """Compare a candidate with the baseline on the cells of its rung, or on the whole grid.

        Raises
        ------
        InputError
            Under one wording: nothing is known of how a candidate shakes.
        """
        cells = self._cells(candidate, baseline)
        key = (candidate.id, int(cells.sum()))
        if key not in self._estimates:
            self._estimates[key] = self._compared(candidate, baseline, cells)
        return self._estimates[key]

    def scores(self, candidate: StoppedCandidate, baseline: Candidate) -> EstimatedScores:
        """Estimate a candidate's F1, S and C."""
        lead = self._lead(candidate, baseline, self._cells(candidate, baseline))
        scores = estimated_scores(lead, baseline.val, self._evaluator.predictions(baseline.prompt, "val"))
        return self.marked(scores, candidate.prompt)

    def marked(self, scores: EstimatedScores, prompt: Prompt) -> EstimatedScores:
        """Say of scores whether a prompt's answers so far are nearly always the same."""
        shares = answer_shares(self._evaluator.predictions_so_far(prompt, "val"))
        return scores._replace(is_hollow=shares is not None and shares.near_constant is not None)

    def _lead(
        self, candidate: Candidate | StoppedCandidate, baseline: Candidate, cells: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        on_val = self._evaluator.predictions(baseline.prompt, "val")
        answers = self._evaluator.partial_answers(candidate.prompt, "val").array
        own, other = (
            sample_gains(array, cells, on_val.truth, on_val.n_classes, on_val.answers)
            for array in (answers, on_val.array)
        )
        return own - other

    def _cells(self, candidate: Candidate | StoppedCandidate, baseline: Candidate) -> NDArray[np.bool_]:
        if self._schedule is None:
            on_val = self._evaluator.predictions(baseline.prompt, "val")
            self._schedule = Schedule(on_val.true_classes, on_val.n_rephrasings, self._seed)
        rung = candidate.rung if isinstance(candidate, StoppedCandidate) else self._schedule.rungs[-1]
        return self._schedule.cells(rung)

    def _compared(
        self, candidate: Candidate | StoppedCandidate, baseline: Candidate, cells: NDArray[np.bool_]
    ) -> Estimate:
        differences = self._lead(candidate, baseline, cells)
        n = len(differences)
        return Estimate(
            candidate.trial,
            candidate.id,
            candidate.edits,
            differences.mean(axis=0),
            differences.std(axis=0, ddof=1) / np.sqrt(n),
            n,
            not isinstance(candidate, StoppedCandidate),
        )
