"""The engine against servers that queue, refuse, hang and say when to come again: real sockets, short waits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import BudgetReachedError, ModelError
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.")]
TEXTS = [f"What is thing {i} ?" for i in range(40)]
FAULTS = "429,500,503,half,badjson,empty,null,nochoices,reset"


def model_at(server: FakeServer, tmp_path: Path, budget: Any = None, **options: Any) -> Any:
    return chat_model("openai", "test", AnswerCache(tmp_path), LMConfig(api_base=server.url, **options), budget)


def test_a_server_that_takes_one_at_a_time_is_asked_once_for_each(tmp_path: Path) -> None:
    with FakeServer(serial=True, delay_ms=60) as server:  # the last of 32 waits for two seconds
        model_at(server, tmp_path, concurrency=32, timeout=1.0).predict(PROMPTS, TEXTS[:20])
        seen = server.counts()
    assert seen["requests"] == len(PROMPTS) * 20


@pytest.mark.parametrize("max_calls", [25, 60])
def test_a_limit_on_calls_holds_with_faults(tmp_path: Path, max_calls: int) -> None:
    budget = Budget(max_calls=max_calls)
    with FakeServer(faults=FAULTS, fault_rate=0.3) as server:
        with pytest.raises(BudgetReachedError):
            model_at(server, tmp_path, budget, concurrency=16).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == max_calls
    assert budget.usage.made + budget.usage.failed == max_calls


def test_no_more_are_in_flight_than_allowed_with_faults(tmp_path: Path) -> None:
    with FakeServer(faults=f"{FAULTS},hang", fault_rate=0.4, hang_ms=500, delay_ms=5) as server:
        model_at(server, tmp_path, concurrency=8).predict(PROMPTS, TEXTS)
        assert server.counts()["most_in_flight"] <= 8


def test_a_retry_after_is_waited_for_and_then_all_is_answered(tmp_path: Path) -> None:
    with FakeServer(rate_limit=2, delay_ms=5, retry_after=0.3) as server:
        model_at(server, tmp_path, concurrency=16).predict(PROMPTS, TEXTS[:20])
        seen = server.counts()
    assert seen["answered"] == len(PROMPTS) * 20
    assert seen["statuses"]["429"] < 60


def test_a_wait_of_days_is_an_error_that_says_until_when(tmp_path: Path) -> None:
    said = pytest.raises(ModelError, match=r"asks to wait until \d{4}-\d\d-\d\d")
    with FakeServer(faults="429", fault_rate=1.0, retry_after=3.0e6) as server, said:
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)


def test_a_python_user_hears_of_long_waits_by_logging(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat._request_scheduler._WORTH_SAYING", 0.1)
    with (
        caplog.at_level(logging.WARNING, logger="psopt.waiting"),
        FakeServer(rate_limit=1, delay_ms=5, retry_after=0.2) as server,
    ):
        model_at(server, tmp_path, concurrency=4).predict(PROMPTS[:1], TEXTS[:10])
    said = [record.getMessage() for record in caplog.records if "waiting" in record.getMessage()]
    assert len(said) == 1  # not again within half a minute
    assert "of 10 answered; Ctrl-C saves" in said[0]
