"""How many requests at once, and how long each is waited for.

Simulated servers in simulated time, and real ones that queue, refuse, hang and say when to come again.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import random
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

import pytest
from psopt.errors import BudgetReachedError, ModelError
from psopt.models.chat import Budget
from psopt.models.chat._refusals import retry_after
from psopt.models.chat._request_scheduler import ConcurrencyLimit, RequestScheduler, TimeoutPolicy
from psopt.settings import LMConfig

from tests.fake_server import FakeServer
from tests.models.conftest import PROMPTS, TEXTS, model_at
from tests.sweeps import each


def rounds(limit: ConcurrencyLimit, n: int, refuses: Callable[[int], bool]) -> float:
    """The mean limit over so many rounds, in which the server refuses some by their number in the round."""
    total = 0
    for turn in range(n):
        for number in range(limit.places):
            limit.count(turn + 0.1, turn + 0.5, is_refused=refuses(number))
        total += limit.places
    return total / n


def test_the_limit_comes_to_what_the_server_takes_and_refusals_that_do_not_grow_with_it_leave_it_high() -> None:
    for capacity in (1, 4, 13, 32):
        limit = ConcurrencyLimit(32)
        rounds(limit, 12, range(capacity, 32).__contains__)
        assert max(1, capacity - 3) <= limit.places <= capacity + 3
    draw = random.Random(1)
    # a cut of 30 % for each burst kept about 5
    assert rounds(ConcurrencyLimit(64), 400, lambda _: draw.random() < 0.04) > 50


class SimulatedServer:
    """Takes so many requests at once in the order in which they come; goes on computing what is given up."""

    def __init__(
        self, n_at_once: int, seconds: float, hanging: Collection[int] = (), slower: tuple[int, float] = (0, 0.0)
    ) -> None:
        self.free_at = [0.0] * n_at_once
        self.seconds = seconds
        self.hanging = hanging  # numbers of requests that are never answered
        self.slower = slower  # from this request on by so many seconds
        self.n_sent = 0

    def done_at(self, now: float) -> float:
        self.n_sent += 1
        if self.n_sent in self.hanging:
            return float("inf")
        number, more = self.slower
        done = max(now, heapq.heappop(self.free_at)) + self.seconds + more * (self.n_sent >= number)
        heapq.heappush(self.free_at, done)
        return done


def serve(server: SimulatedServer, n_calls: int, most: int, timeout: float) -> tuple[float, int]:
    """Ask for so many answers, with the patience and the limit under test; return seconds, and how many given up."""
    patience, limit = TimeoutPolicy(timeout), ConcurrencyLimit(most)
    n_to_send = n_calls
    done_at: dict[Any, float] = {}
    n_given_up = 0
    now = 0.0
    while n_to_send or done_at:
        while n_to_send and len(done_at) < limit.places:
            n_to_send -= 1
            done_at[patience.sent(now, limit.places)] = server.done_at(now)
        now += server.seconds / 20
        for call, done in list(done_at.items()):
            if done <= now:
                del done_at[call]
                patience.answered(call, now)
                limit.count(call.sent_at, now)
        for call in patience.hopeless(done_at, now):
            del done_at[call]
            n_given_up += 1
            n_to_send += 1
        assert now < 10_000
    return now, n_given_up


@each("seconds, timeout", [(1.0, 7.5), (1.0, 3.0), (8.0, 20.0)])
def test_a_server_that_takes_one_at_a_time_is_asked_for_nothing_twice(seconds: float, timeout: float) -> None:
    server = SimulatedServer(1, seconds)
    took, n_given_up = serve(server, 48, 32, timeout)
    assert took <= 1.02 * 48 * seconds
    assert (n_given_up, server.n_sent) == (0, 48)


@each("more, most_twice", [(1.9, 8), (8.0, 16), (25.0, 32)])
def test_a_server_that_becomes_slower_is_waited_for(more: float, most_twice: int) -> None:
    """At each try four times as long, up to the user's time: each place gives up a few requests, and no more."""
    assert serve(SimulatedServer(8, 0.1, slower=(60, more)), 150, 8, 60.0)[1] <= most_twice


def test_what_hangs_is_given_up_after_a_time_that_follows_what_answers_take() -> None:
    assert serve(SimulatedServer(4, 0.05, range(101, 109)), 150, 8, 5.0)[1] == 8
    patience = TimeoutPolicy(10.0)
    assert patience.allowed() == 10.0
    for _ in range(20):
        patience.answered(patience.sent(0.0, 1), 1.0)
    assert patience.allowed() == 4.0
    patience.answered(patience.sent(0.0, 1), 12.0)
    assert patience.allowed() == 24.0


@each(
    "headers, message, seconds",
    [
        ({"retry-after": "4320"}, "", 4320.0),
        ({"retry-after": "Sun, 22 Nov 2026 01:12:00 GMT"}, "", 4320.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({}, "Rate limit reached. Please try again in 1.2s.", 1.2),
        ({}, "Please retry after 2 minutes and 3 seconds", 123.0),
        ({}, "Try again in 500 milliseconds.", 0.5),
        ({"retry-after": "99999999999"}, "", None),
        ({"retry-after": "soon"}, "The server had an error in 2026.", None),
    ],
)
def test_what_a_server_asks_to_wait_is_read(headers: dict[str, Any], message: str, seconds: float | None) -> None:
    found = retry_after(headers, message, lambda: datetime(2026, 11, 22, tzinfo=UTC))
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_process_that_stood_still_does_not_give_up_what_it_could_not_read() -> None:
    async def answer(seconds: float) -> Any:
        await asyncio.sleep(seconds)
        await asyncio.sleep(0.05)  # it is read after the look for what hangs
        return object()

    async def ask() -> None:
        scheduler = RequestScheduler("openai/any", LMConfig())
        for _ in range(16):  # so many are enough to wait less than a minute
            await scheduler.send(answer(0.0))
        under_way = asyncio.create_task(scheduler.send(answer(0.3)))
        await asyncio.sleep(0.01)
        time.sleep(1.6)  # as a laptop that was shut
        await under_way
        assert scheduler.timeouts.allowed() < 3.0  # that was no slow answer either

    asyncio.run(ask())


# --- real sockets, short waits -----------------------------------------------------------------------------------

FAULTS = "429,500,503,half,badjson,empty,null,nochoices,reset"


@pytest.mark.usefixtures("quick")
def test_a_limit_on_calls_and_on_those_in_flight_holds_with_faults(server: FakeServer) -> None:
    server.change(faults=FAULTS, fault_rate=0.3)
    budget = Budget(max_calls=60)
    with pytest.raises(BudgetReachedError):
        model_at(server, budget=budget, concurrency=16).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] == budget.usage.made + budget.usage.failed == 60
    server.change(faults=f"{FAULTS},hang", fault_rate=0.4, hang_ms=500, delay_ms=5)
    server.reset()
    model_at(server, concurrency=8).predict(PROMPTS, TEXTS)
    assert server.counts()["most_in_flight"] <= 8


@pytest.mark.usefixtures("quick")
def test_a_python_user_hears_of_long_waits_by_logging_and_one_of_days_is_an_error_that_says_until_when(
    server: FakeServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat._request_scheduler._WORTH_SAYING", 0.1)
    server.change(rate_limit=1, delay_ms=5, retry_after=0.2)
    with caplog.at_level(logging.WARNING, logger="psopt.waiting"):
        model_at(server, concurrency=4).predict(PROMPTS[:1], TEXTS[:10])
    said = [record.getMessage() for record in caplog.records if "waiting" in record.getMessage()]
    assert len(said) == 1  # not again within half a minute
    assert "of 10 answered; Ctrl-C saves" in said[0]
    server.change(faults="429", fault_rate=1.0, retry_after=3.0e6)
    with pytest.raises(ModelError, match=r"asks to wait until \d{4}-\d\d-\d\d"):
        model_at(server).predict(PROMPTS, TEXTS)
