"""A run says before its first call what it will take, and corrects that as it goes on."""

from __future__ import annotations

from typing import Any

import pytest
from psopt.cli._expected import Expected
from psopt.models.chat import Need, Price, Usage
from psopt.runs import CostEstimate, Phase


def expected(price: Any = None) -> Any:
    """100 calls: 80 of them certain, 1,000 to 3,000 tokens, which cost nothing or .001 to .003 USD."""
    cost = (lambda tokens: price.of(tokens, 0)) if price else (lambda tokens: 0.0)
    sure = Phase("baseline", 80, 0, 1000, "", Need(80, 1000, cost(1000)), Need(80, 1000, cost(1000)), cost(1000))
    more = Phase("front", 20, 0, 1000, "", Need(20, 0, 0.0), Need(20, 2000, cost(2000)), cost(1000))
    return Expected(CostEstimate((sure, more), price))


def test_what_was_said_is_corrected_once_as_tokens_come_in() -> None:
    run = expected()
    assert run.surprise(Usage(made=10, tokens_in=5000)) is None  # too early to tell
    assert run.surprise(Usage(made=20, tokens_in=400)) is None
    said = run.surprise(Usage(made=20, tokens_in=900))
    assert said == "this run will take about 4,500 tokens, more than the 1,000 to 3,000 said before"
    assert run.surprise(Usage(made=30, tokens_in=2000)) is None


def test_money_is_corrected_where_there_is_a_price() -> None:
    run = expected(Price(1.0, 4.0))
    usage = Usage(made=20, tokens_in=900, cost=0.0009)
    assert run.cost_at_end(usage) == pytest.approx(0.0045)
    said = run.surprise(usage)
    assert said == "this run will cost about 0.0045 USD, more than the 0.001 to 0.003 USD said before"
