"""The engine around language models, against a real server on the loopback."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError
from psopt.models.chat import Budget, Need, price_of

from tests.fake_server import FAULTS, FakeServer
from tests.models.conftest import KEY, LABELS, PROMPTS, TEXTS, model_at
from tests.sweeps import each

pytestmark = pytest.mark.usefixtures("quick")


def test_prices_below_0_are_refused(priced: Callable[[str], None]) -> None:
    priced("in = -1.0, out = 2.0")
    with pytest.raises(InputError, match=r"no table of prices \(a price of openai/test is below 0"):
        price_of("openai/test")


def test_answers_are_those_of_the_server_and_are_asked_once(server: FakeServer, tmp_path: Path) -> None:
    model = model_at(server, tmp_path)
    first = model.predict(PROMPTS, TEXTS)
    again = model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] == model.engine.budget.usage.made == 60
    assert first.shape == (30, 2)
    assert len(np.unique(first)) == 3
    assert (first == again).all()
    predictions = model.predict(PROMPTS[:1], ["What is it ?"] * 20)
    assert server.counts()["requests"] == 61
    assert len(set(predictions[:, 0])) == 1
    assert model.engine.budget.usage.cached == 19


def test_a_server_with_any_fault_gives_the_answers_of_a_faultless_one(server: FakeServer) -> None:
    texts = TEXTS[:20]
    expected = model_at(server).predict(PROMPTS[:1], texts)
    for fault in FAULTS:
        server.change(faults=fault, fault_rate=0.3)
        server.reset()
        model = model_at(server, timeout=0.5)
        found = model.predict(PROMPTS[:1], texts)
        assert server.counts()["statuses"][fault] > 0, fault
        n_different = (found != expected).sum()
        if fault in {"empty", "null"}:  # what is empty twice may be the answer
            assert n_different == (found == len(LABELS)).sum() <= 6
        else:
            assert n_different == 0, fault
            assert model.engine.budget.usage.failed > 0 or fault == "slow", fault


def test_a_server_that_always_fails_fails_the_call_and_keeps_what_was_answered(server: FakeServer) -> None:
    model = model_at(server, retries=2, concurrency=1)
    model.predict(PROMPTS[:1], TEXTS)
    server.change(faults="500", fault_rate=1.0)
    with pytest.raises(AnswersMissingError, match="failed 3 times, at last with: HTTP 500"):
        model.predict(PROMPTS, TEXTS)
    server.change(fault_rate=0.0)
    model.predict(PROMPTS, TEXTS)
    assert server.counts()["answered_twice"] == 0


@each("options, said", [({"key": "sk-other"}, "HTTP 401"), ({"faults": "quota", "fault_rate": 1.0}, "quota")])
def test_a_wrong_key_or_a_used_up_quota_stops_at_once_and_no_key_is_repeated(
    options: dict[str, Any], said: str, server: FakeServer
) -> None:
    server.change(**{"key": "", **options})
    server.reset()
    with pytest.raises(ModelError, match=said) as caught:
        model_at(server).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] <= 32
    assert KEY not in str(caught.value)
    assert ("***" in str(caught.value)) == ("key" in options)


def test_too_many_requests_make_the_engine_ask_more_slowly_and_requests_per_minute_are_kept(
    server: FakeServer,
) -> None:
    server.change(rate_limit=4, delay_ms=5, retry_after=0.02)
    model_at(server, concurrency=32).predict(PROMPTS[:1], [f"What is number {i} ?" for i in range(100)])
    seen = server.counts()
    assert seen["answered"] == 100
    assert seen["statuses"]["429"] < 100
    server.change(rate_limit=0)
    begin = time.perf_counter()
    model_at(server, requests_per_minute=1200.0).predict(PROMPTS[:1], TEXTS[:10])
    assert time.perf_counter() - begin >= 9 * 0.05  # 10 requests, 50 ms apart; a busy machine is only slower


@each("limit", [{"max_calls": 20}, {"max_tokens": 1_500}, {"max_cost": 0.005}])
def test_no_limit_is_ever_passed(
    limit: dict[str, Any], server: FakeServer, tmp_path: Path, priced: Callable[[str], None]
) -> None:
    priced("in = 1.0, out = 10.0")
    server.reset()
    budget = Budget(**limit)
    folder = tmp_path / next(iter(limit))
    with pytest.raises(BudgetReachedError, match="is reached"):
        model_at(server, folder, budget, concurrency=8).predict(PROMPTS, TEXTS)
    n_asked = server.counts()["requests"]
    assert 0 < n_asked < 60
    assert budget.usage.made == n_asked <= (budget.max_calls or 60)
    assert budget.usage.tokens <= (budget.max_tokens or 10**9)
    assert budget.usage.cost <= (budget.max_cost or 1.0)
    model_at(server, folder).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] == 60


@each(
    "limit, need, said",
    [
        ({"max_calls": 300}, Need(40), "300 is reached (140 made, 160 left: 40 more and 200 for the final test"),
        ({"max_cost": 2.0}, Need(1, 9, 0.5), "2 USD is reached (1.2500 spent, 0.7500 left: 0.5000 more and 1.0000"),
        ({"max_calls": 140}, Need(1), "--max-calls 140 is reached (140 made)"),
    ],
)
def test_a_limit_that_is_reached_says_what_is_left_and_what_does_not_fit(
    limit: dict[str, Any], need: Need, said: str
) -> None:
    budget = Budget(**limit, held_back=Need(200, 0, 1.0))
    budget.count(made=140, cost=1.25)
    with pytest.raises(BudgetReachedError, match=re.escape(said)):
        budget.reserve(need)


def test_limits_hold_where_a_server_counts_no_tokens_and_that_is_said_once(
    server: FakeServer, priced: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    priced("in = 1.0, out = 10.0")
    server.change(shape="uncounted")
    unlimited = model_at(server)
    unlimited.predict(PROMPTS[:1], TEXTS)
    assert unlimited.engine.budget.usage.tokens == 0
    assert not caplog.messages
    model = model_at(server, None, Budget(max_cost=0.03), concurrency=4)
    with pytest.raises(BudgetReachedError, match="is reached"):
        model.predict(PROMPTS[:1], TEXTS)
    assert 2 < model.engine.budget.usage.made < 20
    assert sum("without the number of their tokens" in line for line in caplog.messages) == 1
    assert model.engine.meter.n == model.engine.budget.usage.made  # later estimates are of what limits count
