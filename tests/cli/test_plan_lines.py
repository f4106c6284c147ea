"""How fast a plan is carried out, by a rate that was measured, and which limit ends it."""

from __future__ import annotations

from typing import Any

import pytest
from psopt.models.chat import AnswerRate, LMConfig, Need, Price
from psopt.runs import CostEstimate, Pace, Phase

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
