"""A run says before its first call what it will take, and corrects that as it goes on."""

from __future__ import annotations

from typing import Any

import pytest
from psopt.cli._screen import Expected
from psopt.models.chat import Need, Usage
from psopt.runs import CostEstimate, Phase


def expected(price: Any = None) -> Any:
    """100 calls: 80 of them certain, 1,000 to 3,000 tokens, which cost nothing or .001 to .003 USD."""
    cost = (lambda tokens: price.of(tokens, 0)) if price else (lambda tokens: 0.0)
    of_baseline = Need(80, 1000, cost(1000))
    sure = Phase("baseline", of_baseline, of_baseline, of_baseline)
    more = Phase("front", Need(20, 0, 0.0), Need(20, 1000, cost(1000)), Need(20, 2000, cost(2000)))
    return Expected(CostEstimate((sure, more), price))


def test_what_was_said_is_corrected_once_as_tokens_come_in() -> None:
    run = expected()
    assert run.surprise(Usage(made=10, tokens_in=5000)) is None  # too early to tell
    assert run.surprise(Usage(made=20, tokens_in=400)) is None
    said = run.surprise(Usage(made=20, tokens_in=900))
    assert said == "this run will take about 4,500 tokens, more than the 1,000 to 3,000 said before"
    assert run.surprise(Usage(made=30, tokens_in=2000)) is None


def racing_run() -> Any:
    """8 candidates of 100 calls each, less what racing saves; 60 calls of diagnoses, 500 for the end."""
    candidates = Phase("candidates on val", Need(480), Need(640), Need(800))
    diagnoses = Phase("diagnoses on train", Need(), Need(60), Need(60))
    test = Phase("original prompt on test", Need(500), Need(500), Need(500))
    return Expected(CostEstimate((candidates, diagnoses, test), None, trials=9, candidates=8))


def test_candidates_that_stopped_make_those_to_come_cheap() -> None:
    run = racing_run()
    usage = Usage()
    assert run.calls_left(usage) == pytest.approx((980 + 1360) / 2, abs=140)
    for n_done in (1, 2, 3):  # in whole: they say nothing of those that race
        usage.made += 100
        run.count_candidate(usage, n_done, 9)
    assert run.calls_left(usage) == pytest.approx(6 * 80 + 60 * 6 / 9 + 500)
    for n_done in (4, 5, 6):
        usage.made += 20
        run.count_candidate(usage, n_done, 9)
    assert run.calls_left(usage) == pytest.approx(3 * 50 + 60 * 3 / 9 + 500)  # as many at 80 as at 20
    usage.made += 15
    assert run.calls_left(usage) == pytest.approx(3 * 50 + 60 * 3 / 9 + 500 - 15)


def test_a_diagnosis_is_no_candidate_s_and_the_end_is_counted_down() -> None:
    run = racing_run()
    usage = Usage()
    for n_done in range(1, 9):
        usage.made += 30  # a diagnosis
        run.begin_phase(usage)
        usage.made += 80
        run.count_candidate(usage, n_done, 9)
    usage.made += 80
    run.count_candidate(usage, 9, 9)
    assert run.calls_left(usage) == 500
    run.begin_phase(usage)
    usage.made += 480
    assert run.calls_left(usage) == 20
    usage.made += 480
    assert run.calls_left(usage) == 0
