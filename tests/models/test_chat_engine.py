"""The engine around language models, against a real server on the loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError, ModelError
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-very-secret-0123456789"
LABELS = ("Entity", "Person", "Number")
TEXTS = [f"What is thing {i} ?" for i in range(30)]
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.", "Classify it.")]
FAULTS = "429,500,503,hang,half,badjson,empty,null,nochoices,slow,reset"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


def model_at(server: FakeServer, tmp_path: Path, budget: Any = None, **options: Any) -> Any:
    chosen = LMConfig(api_base=server.url, **options)
    return chat_model("openai", "test", AnswerCache(tmp_path), chosen, budget)


def test_answers_are_those_of_the_server_and_are_asked_once(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path)
        first = model.predict(PROMPTS, TEXTS)
        again = model_at(server, tmp_path).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == 90
    assert first.shape == (30, 3)
    assert len(np.unique(first)) == 3
    assert (first == again).all()
    assert model.engine.budget.usage.made == 90


def test_equal_texts_are_asked_once(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path)
        predictions = model.predict(PROMPTS[:1], ["What is it ?"] * 20)
        assert server.counts()["requests"] == 1
    assert len(set(predictions[:, 0])) == 1
    assert model.engine.budget.usage.cached == 19


def test_a_faulty_server_gives_the_answers_of_a_faultless_one(tmp_path: Path) -> None:
    with FakeServer() as server:
        expected = model_at(server, tmp_path / "good").predict(PROMPTS, TEXTS)
    with FakeServer(faults=FAULTS, fault_rate=0.3) as server:
        model = model_at(server, tmp_path / "bad", timeout=0.5)
        found = model.predict(PROMPTS, TEXTS)
        seen = server.counts()
    assert (found == expected).all()
    assert model.engine.budget.usage.failed > 0
    assert len(seen["statuses"]) > 5


@pytest.mark.parametrize("fault", FAULTS.split(","))
def test_each_fault_alone_is_survived(tmp_path: Path, fault: Any) -> None:
    with FakeServer(faults=fault, fault_rate=0.3) as server:
        model = model_at(server, tmp_path, timeout=0.5)
        found = model.predict(PROMPTS[:1], TEXTS)
        assert server.counts()["statuses"][fault] > 0
    n_empty = 6 if fault in {"empty", "null"} else 0  # what is empty twice may be the answer
    assert (found == len(LABELS)).sum() <= n_empty


def test_a_server_that_always_fails_fails_the_call_and_keeps_what_was_answered(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path, retries=2, concurrency=1)
        model.predict(PROMPTS[:1], TEXTS)
        server.change(faults="500", fault_rate=1.0)
        with pytest.raises(AnswersMissingError, match="failed 3 times, at last with: HTTP 500"):
            model.predict(PROMPTS, TEXTS)
        server.change(fault_rate=0.0)
        model.predict(PROMPTS, TEXTS)
        assert server.counts()["answered_twice"] == 0


def test_an_answer_that_stays_empty_is_no_label(tmp_path: Path) -> None:
    with FakeServer(answer="fixed:") as server:
        model = model_at(server, tmp_path)
        model.few_may_fail = True
        assert model.predict(PROMPTS[:1], TEXTS[:2]).tolist() == [[3], [3]]


def test_a_wrong_key_stops_at_once_and_is_not_repeated(tmp_path: Path) -> None:
    with FakeServer(key="sk-other") as server:
        with pytest.raises(ModelError, match="HTTP 401") as caught:
            model_at(server, tmp_path).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] <= 32
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_used_up_quota_stops_at_once(tmp_path: Path) -> None:
    with FakeServer(faults="quota", fault_rate=1.0) as server:
        with pytest.raises(ModelError, match="quota"):
            model_at(server, tmp_path).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] <= 32


@pytest.mark.parametrize("concurrency", [1, 32])
def test_what_a_server_does_not_know_is_left_out_and_remembered(tmp_path: Path, concurrency: int) -> None:
    with FakeServer(lacks="response_format,seed,temperature,max_tokens") as server:
        found = model_at(server, tmp_path, concurrency=concurrency).predict(PROMPTS[:1], TEXTS)
        n_first = server.counts()["requests"]
        model_at(server, tmp_path, concurrency=concurrency).predict(PROMPTS[1:2], TEXTS)
        n_second = server.counts()["requests"] - n_first
    assert found.max() < len(LABELS)
    assert n_first == len(TEXTS) + 5  # json_schema and json_object are two
    assert n_second == len(TEXTS)


def test_probabilities_are_read_from_the_likeliest_tokens(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path, logprobs=True)
        found = model.predict_proba(PROMPTS, TEXTS)
        hard = model.predict(PROMPTS, TEXTS)
    assert found.shape == (30, 3, 4)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    np.testing.assert_allclose(found.max(axis=2), 0.7)
    assert (found.argmax(axis=2) == hard).all()


def test_too_many_requests_make_the_engine_ask_more_slowly(tmp_path: Path) -> None:
    texts = [f"What is number {i} ?" for i in range(200)]
    with FakeServer(rate_limit=4, delay_ms=5, retry_after=0.02) as server:
        model_at(server, tmp_path, concurrency=32).predict(PROMPTS[:1], texts)
        seen = server.counts()
    assert seen["answered"] == 200
    assert seen["statuses"]["429"] < 200


@pytest.mark.parametrize("limit", [{"max_calls": 20}, {"max_tokens": 1_500}, {"max_cost": 0.005}])
def test_no_limit_is_ever_passed(tmp_path: Path, limit: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('"openai/test" = { in = 1.0, out = 10.0 }')
    monkeypatch.setenv("PSOPT_PRICES", str(prices))
    budget = Budget(**limit)
    with FakeServer() as server:
        model = model_at(server, tmp_path, budget, concurrency=8)
        with pytest.raises(BudgetReachedError, match="is reached"):
            model.predict(PROMPTS, TEXTS)
        n_asked = server.counts()["requests"]
        assert 0 < n_asked < 90
        assert budget.usage.made == n_asked <= (budget.max_calls or 90)
        assert budget.usage.tokens <= (budget.max_tokens or 10**9)
        assert budget.usage.cost <= (budget.max_cost or 1.0)
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == 90


def test_requests_per_minute_are_kept(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path, requests_per_minute=6000.0)
        model.predict(PROMPTS, TEXTS)  # 90 requests, 10 ms apart
        assert server.counts()["most_in_flight"] < 8
