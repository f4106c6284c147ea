"""How many requests may be under way, and how fast they may start."""

from __future__ import annotations

import asyncio
from collections import deque

_CUT = 0.7
_PATIENCE = 120.0


class Concurrency:
    """A limit on requests in flight that gives way to a server's "too many requests", and comes back.

    It starts at the most; a burst of refusals cuts it once by 30 % and makes everybody wait as long as the server
    asked; each answered request wins back a little, about one place per full round.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._cut_at = -1.0

    async def acquire(self) -> float:
        """Wait for a place; returns when it was got, in the loop's time."""
        loop = asyncio.get_running_loop()
        while True:
            pause = self._resume_at - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
            elif self._in_flight < int(self.limit):
                self._in_flight += 1
                return loop.time()
            else:
                turn = loop.create_future()
                self._waiting.append(turn)
                await turn

    def release(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._wake()

    def answered(self) -> None:
        """A request was answered: the server can take more."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def overloaded(self, since: float, wait: float | None) -> None:
        """The server refused a request that started at `since`; those of one burst count once."""
        now = asyncio.get_running_loop().time()
        if wait:
            self._resume_at = max(self._resume_at, now + min(wait, _PATIENCE))
        if since > self._cut_at:
            self.limit = max(1.0, self.limit * _CUT)
            self._cut_at = now

    def _wake(self) -> None:
        free = int(self.limit) - self._in_flight
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class Pace:
    """Spreads the starts of requests so that no more than so many begin in a minute."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def start(self) -> None:
        """Wait for this request's turn."""
        if not self._gap:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + self._gap
        if turn > now:
            await asyncio.sleep(turn - now)
