"""Requests on their way: how many at once, how long each is waited for, and what the server's failures say of it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from psopt.models.chat._concurrency_limit import ConcurrencyLimit
from psopt.models.chat._errors import TransientError
from psopt.models.chat._reconnect_policy import ReconnectPolicy
from psopt.models.chat._timeout_policy import TimeoutPolicy
from psopt.models.chat._wait_notices import WaitNotices, clock, span

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from psopt.models.chat._client import Answer
    from psopt.models.chat._timeout_policy import Call
    from psopt.settings import LMConfig

_LOOKS_A_TIMEOUT = 4  # how often, while a time-out passes, is looked for requests that are overdue
_LEAST_BETWEEN_LOOKS = 0.05  # seconds
_MOST_BETWEEN_LOOKS = 0.1
_WORTH_SAYING = 5.0  # seconds of waiting
_FAILURES_WORTH_SAYING = 5
_FAILING_FOR = 10.0  # seconds: what passes sooner is nobody's concern


class RequestScheduler:
    """Lets requests go when there is a place, waits for their answers, and learns from what becomes of them.

    `ConcurrencyLimit` says how many may be in flight, `TimeoutPolicy` how long each is waited for, `ReconnectPolicy`
    when to look for a server that is away; here they meet the event loop.

    Parameters
    ----------
    name : str
        Whom the requests go to, for notices.
    options : LMConfig

    Attributes
    ----------
    progress : callable
        Says how far the work has come, for notices.
    """

    def __init__(self, name: str, options: LMConfig) -> None:
        self.notices = WaitNotices(name)
        self.limit = ConcurrencyLimit(options.concurrency)
        self._places_said = self.limit.places
        self.timeouts = TimeoutPolicy(options.timeout)
        self.reconnection = ReconnectPolicy(options.retries)
        self.progress: Callable[[], str] = lambda: "Ctrl-C saves"
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._calls: dict[Call, asyncio.Timeout] = {}
        self._looking: asyncio.TimerHandle | None = None
        self._failures = _FailureCounter()

    async def enter(self) -> None:
        """Wait for a place, which `leave` gives back; who came first goes first.

        So requests go out in the order of the queries, and those that begin alike next to each other, which servers
        with prefix caching read faster and ask less for.
        """
        loop = asyncio.get_running_loop()
        while True:
            pause = self._resume_at - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
                continue
            await self._turn()
            if loop.time() >= self._resume_at:
                return
            self.leave()  # a pause began meanwhile

    async def _turn(self) -> None:
        """Wait in line for a place, which is handed over: nobody who comes later takes it first."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the place was handed over already: it is the next one's
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._wake()

    async def send(self, sending: Coroutine[Any, Any, Answer], n_given_up: int = 0) -> Answer:
        """Wait for an answer as long as one may come, and take note of the outcome.

        Raises
        ------
        TransientError
            What the client raises; with `given_up` if no answer came in time.
        """
        loop = asyncio.get_running_loop()
        call = self.timeouts.sent(loop.time(), self._places, n_given_up)
        try:
            async with asyncio.timeout(None) as scope:
                self._calls[call] = scope
                self._look_later()
                answer = await sending
        except TimeoutError:
            waited = span(loop.time() - call.sent_at)
            failure = TransientError(f"no answer within {waited}", given_up=True)
            self._failed(call, failure)
            raise failure from None
        except TransientError as failure:
            if failure.empty is not None:
                self._answered(call)
            else:
                self._failed(call, failure)
            raise
        finally:
            self._calls.pop(call, None)
        self._answered(call)
        return answer

    def hold(self, most: int) -> None:
        """Have no more under way from now on; that is no news that is worth a word."""
        self.limit.hold(most)
        self._places_said = min(self._places_said, self.limit.places)

    def pause(self, seconds: float, why: str) -> None:
        """Send nothing for a while."""
        now = asyncio.get_running_loop().time()
        self._resume_at = max(self._resume_at, now + seconds)
        self.say_wait(seconds, why)

    def say_wait(self, seconds: float, why: str) -> None:
        """Say what is waited for, if it is long."""
        if seconds >= _WORTH_SAYING:
            self.notices.tell("wait", f"waiting {span(seconds)}, until {clock(seconds)}, for {why}; {self.progress()}")

    @property
    def _places(self) -> int:
        return 1 if self.reconnection.since is not None else self.limit.places

    def _wake(self) -> None:
        free = self._places - self._in_flight
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)
                free -= 1

    def _answered(self, call: Call) -> None:
        now = asyncio.get_running_loop().time()
        late = now - call.sent_at > self.timeouts.start / 2
        self.timeouts.answered(call, now)
        self.limit.answered(call.sent_at, now, late=late)
        self._failures.answered()
        if self.reconnection.since is not None:
            self.reconnection.succeeded()
            if self.notices.told("away"):
                self.notices.tell("back", "the server answers again")
                self.notices.told("back")

    def _failed(self, call: Call, failure: TransientError) -> None:
        now = asyncio.get_running_loop().time()
        if failure.unreachable and not self.timeouts.served(call):  # else it is the line that is bad
            self._away(call, failure, now)
            return
        if failure.overloaded:
            self.limit.refused(call.sent_at, now)
            if self.limit.is_refused and failure.wait:
                self.pause(failure.wait, f"the server, which asks for it ({failure})")
            self._say_places("refuses too many requests at once")
        if message := self._failures.failed(now, failure):
            self.notices.tell("faults", f"{message}; {self.progress()}")

    def _away(self, call: Call, failure: TransientError, now: float) -> None:
        """Nobody is there: all wait, and one looks."""
        pause = self.reconnection.failed(call.sent_at, now, reached=self.timeouts.n_answers > 0)
        if pause is None:
            failure.final = True
            return
        self._resume_at = max(self._resume_at, now + pause)
        if self.timeouts.n_answers and pause >= 1:
            since = clock((self.reconnection.since or now) - now)
            self.notices.tell(
                "away",
                f"the server does not answer since {since} ({failure}); trying again at {clock(pause)}, "
                f"until {clock(self.reconnection.seconds_left())}; {self.progress()}",
            )

    def _look_later(self) -> None:
        if self._looking is None:
            often = min(_MOST_BETWEEN_LOOKS, max(_LEAST_BETWEEN_LOOKS, self.timeouts.start / _LOOKS_A_TIMEOUT))
            self._looking = asyncio.get_running_loop().call_later(often, self._look)

    def _look(self) -> None:
        """Give up what hangs; ask less at once where the queue is too long."""
        self._looking = None
        now = asyncio.get_running_loop().time()
        in_flight = len(self._calls)
        for call, scope in list(self._calls.items()):
            if self.timeouts.is_jam(call, now, in_flight):
                self.limit.jammed(call.sent_at, now, self.timeouts.served(call))
            if now - call.sent_at >= self.timeouts.start and not self.timeouts.served(call):
                self._say_overdue(call, now, in_flight)
            if self.timeouts.is_hopeless(call, now, in_flight):
                del self._calls[call]
                scope.reschedule(now)
        self._say_places(f"takes longer than --timeout {self.timeouts.start:g} s with so many requests at once")
        if self._calls:
            self._look_later()

    def _say_overdue(self, call: Call, now: float, in_flight: int) -> None:
        waited = span(now - call.sent_at)
        which = "the request" if in_flight == 1 else f"any of {in_flight} requests"
        self.notices.tell("overdue", f"no answer for {waited} to {which}; {self.progress()}")

    def _say_places(self, why: str) -> None:
        """Say that half as much is asked at once as was said, or at the best since: falls may come in small steps."""
        self._places_said = max(self._places_said, self.limit.places)
        if self.limit.places <= self._places_said / 2:
            self.notices.tell("places", f"the server {why}: now {self.limit.places} at once, not {self._places_said}")
            self._places_said = self.limit.places


class _FailureCounter:
    """Counts what fails, until it is worth a word."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._n_failed = self._n_answered = 0

    def answered(self) -> None:
        self._n_answered += 1

    def failed(self, now: float, failure: TransientError) -> str | None:
        """Say how many failed, if that has gone on for long enough."""
        if self._since is None or now - self._since > _FAILING_FOR * 3:
            self._since = now
            self._n_failed = 0
            self._n_answered = 0
        self._n_failed += 1
        if now - self._since < _FAILING_FOR or self._n_failed < _FAILURES_WORTH_SAYING:
            return None
        message = (
            f"{self._n_failed} of the last {self._n_failed + self._n_answered} calls failed, at last with: {failure}"
        )
        self._since = None
        return f"{message}; they are sent again"
