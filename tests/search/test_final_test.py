"""In which order prompts are scored on test, where a limit may not pay for all."""

from __future__ import annotations

import pytest
from psopt.evaluation import Scores
from psopt.search import Candidate, scoring_order
from psopt.search_spaces import Prompt


def candidate(trial: int, f1: float, sensitivity: float, consistency: float | None) -> Candidate:
    return Candidate(
        trial, Prompt(f"prompt {trial}", ("a", "b")), (), Scores(f1, f1, sensitivity, consistency, 0.0, {}, {})
    )


@pytest.mark.parametrize(
    ("consistencies", "order"),
    [((0.12, 0.1, 0.1, 0.1), [0, 2, 3, 1, 4]), ((None, None, None, None), [0, 2, 3, 4, 1])],
    ids=["C is defined", "C is not defined"],
)
def test_the_knee_and_the_best_in_what_is_defined_come_before_the_rest(
    consistencies: tuple[float | None, ...], order: list[int]
) -> None:
    """Number 2 is the knee and the best in F1, 3 in S, and 1 in C alone."""
    of_f1_and_s = ((0.65, 0.1), (0.9, 0.2), (0.6, 0.05), (0.7, 0.15))
    front = [
        candidate(trial, f1, sensitivity, consistency)
        for trial, ((f1, sensitivity), consistency) in enumerate(zip(of_f1_and_s, consistencies, strict=True), 1)
    ]
    baseline = candidate(0, 0.5, 0.2, None if consistencies[0] is None else 0.1)
    front.sort(key=lambda found: -found.val.f1)
    assert [found.trial for found in scoring_order(baseline, front)] == order
