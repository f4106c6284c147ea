"""How long a plan takes: by a rate that was measured, and what fits in five minutes."""

from __future__ import annotations

from typing import Any

import pytest
from psopt.models.chat import AnswerRate, LMConfig, Need, Price
from psopt.runs import CostEstimate, Pace, Phase
from psopt.runs.planning import shorter_line

LM = LMConfig()


@pytest.mark.parametrize(
    ("changed", "per_minute"),
    [({}, 1200.0), ({"concurrency": 8}, 300.0), ({"requests_per_minute": 60}, 60.0), ({"concurrency": 64}, 1200.0)],
)
def test_a_measured_rate_is_no_faster_than_what_may_be_asked(changed: Any, per_minute: float) -> None:
    rate = AnswerRate(1200.0, 32, "2026-11-22")
    assert Pace.of(rate, LM.changed(**changed)) == Pace(per_minute, "2026-11-22")
    assert Pace.of(None, LM) is None


def test_the_limit_that_is_named_is_the_one_that_is_reached_first() -> None:
    calls = Need(100, 100_000, 1.0)
    whole = CostEstimate((Phase("candidates on val", calls, calls, calls),), Price(1.0, 1.0), candidates=10)
    assert whole.limit_in_reach(LM.changed(max_cost=0.9, max_calls=25)) == "--max-calls 25"
    assert whole.limit_in_reach(LM.changed(max_cost=0.9, max_calls=100)) == "--max-cost 0.9"
    assert whole.limit_in_reach(LM.changed(max_calls=100)) == ""


def test_what_fits_in_five_minutes_is_what_a_plan_of_that_size_pays_for() -> None:
    least = Need(700, 400_000, 0.1)
    assert shorter_line(least, 840.0) == "within five minutes: --max-calls 1700"
    assert shorter_line(least, 840.0, "full") == "within five minutes: --max-calls 1700 and no --effort"
    # 120 answers are no run; with room for more than is expected the smallest takes 700 / .92.
    assert shorter_line(least, 60.0) == "the smallest run takes about 13 to 32 minutes: --max-calls 761"
