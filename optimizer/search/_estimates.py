"""What a part of the grid says of a candidate's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.evaluation import answer_shares
from psopt.search.racing import Schedule, estimated_scores, sample_gains

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator
    from psopt.search._front import Candidate
    from psopt.search.racing import EstimatedScores, StoppedCandidate
    from psopt.search_spaces import Prompt


class Estimator:
    """Compares candidates with the baseline on val.

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

    def scores(self, candidate: StoppedCandidate, baseline: Candidate) -> EstimatedScores:
        """Estimate a candidate's F1, S and C on the cells of its rung."""
        on_val = self._evaluator.predictions(baseline.prompt, "val")
        cells = Schedule(on_val.true_classes, on_val.n_rephrasings, self._seed).cells(candidate.rung)
        answers = self._evaluator.partial_answers(candidate.prompt, "val").array
        own, other = (
            sample_gains(array, cells, on_val.truth, on_val.n_classes, on_val.answers)
            for array in (answers, on_val.array)
        )
        return self.marked(estimated_scores(own - other, baseline.val, on_val), candidate.prompt)

    def marked(self, scores: EstimatedScores, prompt: Prompt) -> EstimatedScores:
        """Say of scores whether a prompt's answers so far are nearly always the same."""
        shares = answer_shares(self._evaluator.predictions_so_far(prompt, "val"))
        return scores._replace(is_hollow=shares is not None and shares.near_constant is not None)
