"""Requests in flight: when each may start, how long to wait for it, and when to send it again."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import AnswersMissingError
from psopt.models.chat._client import ModelRefusedError, ServerGoneError, TransientError
from psopt.models.chat._wait_notices import WaitNotices, clock, span
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
    from typing import Any

    from psopt.models.chat._client import Answer
    from psopt.settings import LMConfig

_BETWEEN_LOOKS = 0.1  # seconds between checks for requests that hang
_WORTH_SAYING = 5.0  # seconds of waiting; shorter waits are not reported
_FIRST_WAIT = 0.25  # seconds before the next try; doubles with each
_LONGEST_WAIT = 30.0  # seconds; a server may ask for more
_LONGEST_SERVED = 1.0  # seconds before the next try at a server that answers others
_LONGEST_ASKED = 86_400.0  # seconds: a server that asks to wait longer than a day will not answer this run
_RETRIES_UNANSWERED = 3  # at a server that has answered nothing yet: it is probably the wrong address
# All chosen by hand; benchmarks/models_trouble.py measures what they cost where requests hang, and where a server takes
# one request at a time and gets 32.
_N_KNOWN = 256  # latest answers that count
_N_ENOUGH = 16  # answers before a shorter time than the user's is trusted
_SHORTEST = 1.5  # seconds: local servers pause for about a second now and then
_UNUSUAL = 4.0  # times the slowest of the latest answers
_SLACK = 2.0  # times: servers answer roughly in the order of requests, not exactly
_LONGEST_AGAIN = 4.0  # times: at most how much longer to wait for a text that was given up before


@dataclass(slots=True)
class Tries:
    """The outcomes of a query's requests: how many failed, and how many of these were empty or given up."""

    failed: int = 0
    empty: int = 0
    given_up: int = 0

    def count(self, failure: TransientError) -> None:
        self.failed += 1
        self.empty += failure.empty is not None
        self.given_up += failure.given_up


class RequestScheduler:
    """Starts requests, waits for their answers, learns from the outcomes, and says when to send one again."""

    def __init__(self, name: str, options: LMConfig) -> None:
        self._name = name
        self._retries = options.retries
        self._jitter = random.Random(0)  # noqa: S311  # spreads retries, nothing secret
        self._notices = WaitNotices(name)
        self.limit = ConcurrencyLimit(options.concurrency)
        self.timeouts = TimeoutPolicy(options.timeout)
        self.progress: Callable[[], str] = str  # how far the work has come, for notices: ``; 3 of 9 answered``
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._a_minute = options.requests_per_minute
        self._next_start = 0.0
        self._resume_at = 0.0
        self._calls: dict[_Call, asyncio.Timeout] = {}
        self._is_looking = False

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and for the time to start: first come, first served.

        So requests that begin alike go out next to each other: with prefix caching they are faster and cheaper.
        """
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake()
        try:
            await turn
            await self._start()
            yield
        finally:
            if turn.done() and not turn.cancelled():  # this request had a place: the next one gets it
                self._in_flight -= 1
                self._wake()

    async def send(self, sending: Coroutine[Any, Any, Answer], n_given_up: int = 0) -> Answer:
        """Wait for an answer as long as one may come, and record the outcome; raises TransientError if none comes."""
        loop = asyncio.get_running_loop()
        call = self.timeouts.sent(loop.time(), self.limit.places, n_given_up)
        try:
            async with asyncio.timeout(None) as scope:
                self._calls[call] = scope
                self._look_later()
                answer = await sending
        except TimeoutError:
            raise TransientError(f"no answer within {span(loop.time() - call.sent_at)}", given_up=True) from None
        except TransientError as failure:
            if failure.empty is not None:
                self._answered(call)
            elif failure.overloaded:  # fewer requests at once, and none while the server asks to wait
                self.limit.count(call.sent_at, loop.time(), is_refused=True)
                if self.limit.is_refused and failure.wait:
                    self._resume_at = max(self._resume_at, loop.time() + failure.wait)
            raise
        finally:
            self._calls.pop(call, None)
        self._answered(call)
        return answer

    def wait_before_next(self, failure: TransientError, tries: Tries, *, is_over: bool) -> float:
        """Return the seconds until the next try; there is none if it `is_over`, since another call has failed for good.

        Raises AnswersMissingError, ServerGoneError or ModelRefusedError if there is no next try.
        """
        has_answered = self.timeouts.n_answers > 0
        is_silent = failure.given_up or failure.unreadable or failure.unreachable
        most = min(self._retries, _RETRIES_UNANSWERED) if is_silent and not has_answered else self._retries
        if is_over or tries.failed > most:
            if failure.unreachable and has_answered:
                message = f"{self._name}: the server was not there at any of {tries.failed} tries: {failure}"
                raise ServerGoneError(message) from None
            message = f"{self._name}: a call failed {counted(tries.failed, 'time')}, at last with: {failure}"
            if failure.given_up:
                message += "; if it takes longer, raise --timeout"
            raise AnswersMissingError(message) from None
        silence = self.timeouts.silence(asyncio.get_running_loop().time())
        seconds = self._wait(failure, tries.failed, silence)
        if failure.unreachable and has_answered and seconds >= 1:
            notice = f"the server does not answer since {clock(-silence)} ({failure}); trying again at {clock(seconds)}"
            self._notices.tell("away", f"{notice}{self.progress()}")
        elif seconds >= _WORTH_SAYING:
            notice = f"waiting {span(seconds)}, until {clock(seconds)}, for the next try after: {failure}"
            self._notices.tell("wait", f"{notice}{self.progress()}")
        return seconds

    def _wait(self, failure: TransientError, n_failed: int, silence: float) -> float:
        """Exponential backoff with jitter, or as long as the server asked; after an empty answer it has no use.

        While a server answers others, it needs no time. Part of a wait is random (M. Brooker, *Exponential Backoff And
        Jitter*, AWS Architecture Blog, 2015), so that calls that failed together don't come back together.
        """
        if failure.empty is not None:
            return _FIRST_WAIT
        retry_after = failure.wait or 0.0
        if retry_after > _LONGEST_ASKED:
            raise ModelRefusedError(f"{self._name} asks to wait until {clock(retry_after)}: {failure}") from None
        longest = min(_LONGEST_WAIT, max(_LONGEST_SERVED, silence))
        backoff = min(longest, _FIRST_WAIT * 2.0 ** (n_failed - 1)) * self._jitter.uniform(0.75, 1.25)
        return max(backoff, retry_after)

    async def _start(self) -> None:
        """Wait until the end of a pause that the server asked for, and for this request's turn in the minute."""
        loop = asyncio.get_running_loop()
        while (pause := self._resume_at - loop.time()) > 0:
            await asyncio.sleep(pause)
        if self._a_minute:
            start = max(loop.time(), self._next_start)
            self._next_start = start + 60.0 / self._a_minute
            await asyncio.sleep(start - loop.time())

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self.limit.places:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def _answered(self, call: _Call) -> None:
        now = asyncio.get_running_loop().time()
        self.timeouts.answered(call, now)
        self.limit.count(call.sent_at, now)
        self._notices.tell_back()

    def _look_later(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            loop = asyncio.get_running_loop()
            due = loop.time() + _BETWEEN_LOOKS
            loop.call_at(due, self._look, due)

    def _look(self, due: float) -> None:
        """Give up requests that hang. While this process stood still, answers may have come that are not read yet."""
        now = asyncio.get_running_loop().time()
        self._is_looking = False
        for call in self._calls:
            call.stood_still += now - due
        for call in self.timeouts.hopeless(self._calls, now):
            self._calls.pop(call).reschedule(now)
        if self._calls:
            self._look_later()


@dataclass(slots=True, eq=False)
class _Call:
    """One request in flight: when it went out, after how many answers, with how many places, how often given up."""

    sent_at: float
    n_before: int
    places: int
    n_given_up: int = 0
    stood_still: float = 0.0  # seconds since then when this process could not have read the answer

    def waited(self, now: float) -> float:
        """Seconds during which the answer could have been read."""
        return now - self.sent_at - self.stood_still


class TimeoutPolicy:
    """Distinguishes requests that hang from those that wait in the server's queue, by counting answers.

    Servers answer roughly in order: a request overtaken by twice as many as were in flight when it came hangs, and is
    sent again. Any other is in the queue, and is waited for as long as answers come: giving it up would add work, since
    servers usually continue to compute answers that nobody waits for. The time allowed starts at the user's setting,
    and follows what the latest answers took, so that a hang costs seconds and not minutes. If requests are given up and
    no answer comes at all, the server may have become slower: then more time is allowed each time, up to the user's.
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.n_answers = 0
        self._last_at = float("-inf")
        self._latencies: deque[float] = deque(maxlen=_N_KNOWN)
        self._in_vain = 0.0  # how long requests were waited for that were given up since the last answer

    def sent(self, now: float, places: int, n_given_up: int = 0) -> _Call:
        return _Call(now, self.n_answers, places, n_given_up)

    def answered(self, call: _Call, now: float) -> None:
        self.n_answers += 1
        self._last_at = now
        self._in_vain = 0.0
        self._latencies.append(call.waited(now))

    def allowed(self) -> float:
        """Seconds after which an answer is overdue."""
        slowest = max(self._in_vain, *self._latencies, 0.0)
        usual = self.start
        if len(self._latencies) >= _N_ENOUGH:
            usual = min(usual, max(_SHORTEST, _UNUSUAL * slowest))
        return max(usual, _SLACK * slowest)

    def silence(self, now: float) -> float:
        """Seconds since the last answer; infinite if there was none."""
        return now - self._last_at

    def hopeless(self, calls: Iterable[_Call], now: float) -> list[_Call]:
        """Return the requests to give up."""
        allowed = self.allowed()
        hopeless = [call for call in calls if self._is_hopeless(call, now, allowed)]
        if self.silence(now) >= allowed:
            waits = [call.waited(now) for call in hopeless]
            self._in_vain = max(self._in_vain, min(self.start / _SLACK, max(waits, default=0.0)))
        return hopeless

    def _is_hopeless(self, call: _Call, now: float, allowed: float) -> bool:
        allowed *= min(_LONGEST_AGAIN, 2.0**call.n_given_up)
        if call.waited(now) < allowed:
            return False
        n_served = self.n_answers - call.n_before
        return n_served >= _SLACK * call.places or self.silence(now) >= allowed


# A full server refuses what exceeds its capacity: at twice the capacity, every second request. A server with random
# faults refuses the same small share however few requests it gets. Below this share, refusals show nothing about
# capacity, and fewer requests would only be slower. TCP's fixed cut at each loss would keep about sqrt(1.5 / share)
# requests going (Mathis et al. 1997: 6 of 64 at 4 %), whatever the line could carry.
_TOLERATED = 0.1
_SMALLEST_ROUND = 10  # with fewer requests a share means little: one refusal in ten is tolerated
# Chosen by hand, and tried on simulated servers that are full or have random faults: tests/models/test_server_load.py.
_LEAST_LEFT = 0.25  # of the limit after one cut, so that a moment of refusals does not cut it to one request
_WON_BACK = 0.2  # of the limit, in a round with no more refusals than are tolerated; at least one request


class ConcurrencyLimit:
    """How many requests may be in flight: all that are allowed, unless the server shows that it accepts fewer.

    Outcomes are judged in rounds of about as many requests as are in flight, sent after the last judgement, so that one
    burst of refusals counts once. A round with many refusals cuts the limit to the accepted share, which is the
    capacity if the server refuses only the excess. A round with few or none wins a fifth back.

    >>> limit = ConcurrencyLimit(32)
    >>> for number in range(32):  # four are taken, the others refused
    ...     limit.count(0.0, 1.0, is_refused=number % 8 != 0)
    >>> limit.places
    8
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._value = float(most)
        self._since = -1.0
        self._n_answered = self._n_refused = 0

    @property
    def places(self) -> int:
        return int(self._value)

    @property
    def is_refused(self) -> bool:
        """Whether this round has too many refusals to be chance: then all requests wait."""
        return self._n_refused > max(1.0, _TOLERATED * max(self._value, _SMALLEST_ROUND))

    def count(self, sent_at: float, now: float, *, is_refused: bool = False) -> None:
        """Take an answer into account, or that the server said that it gets too many requests."""
        if sent_at <= self._since:
            return
        self._n_refused += is_refused
        self._n_answered += not is_refused
        n = self._n_answered + self._n_refused
        if n < self.places or (self._n_refused and n < _SMALLEST_ROUND):
            return
        if self._n_refused > _TOLERATED * n:
            self._value = max(1.0, self._value * max(_LEAST_LEFT, 1 - self._n_refused / n))
        else:
            self._value = min(self._most, self._value + max(1.0, _WON_BACK * self._value))
        self._since = now
        self._n_answered = self._n_refused = 0
