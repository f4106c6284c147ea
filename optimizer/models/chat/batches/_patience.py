"""Waiting for a server that is away while batches are open there: nothing is lost by waiting."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from psopt.models.chat._errors import ServerGoneError, TransientError
from psopt.models.chat._wait_notices import clock, span

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from psopt.models.chat._wait_notices import WaitNotices

T = TypeVar("T")
LONGEST_OUTAGE = 86_400.0  # seconds, a batch's window: who is away for longer has let every batch expire


class Patience:
    """Asks again at each tick while a server is away; by the loop's clock, which nobody sets."""

    def __init__(self, name: str, tick: float, notices: WaitNotices) -> None:
        self._name = name
        self._tick = tick
        self._notices = notices
        self._since: float | None = None

    async def insist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer.

        Raises ServerGoneError if there was none for a day.
        """
        while True:
            try:
                answer = await ask()
            except TransientError as failure:
                await asyncio.sleep(max(self._tick, self.count(failure)))
            else:
                self.answered()
                return answer

    def count(self, failure: TransientError) -> float:
        """Take note that a try has failed; return the seconds that the server asked to wait."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        away = now - self._since
        if away > LONGEST_OUTAGE:
            raise ServerGoneError(
                f"{self._name}: no word of its batches for {span(away)}: {failure}; they are kept, and asked for again"
                " by whoever goes on"
            ) from None
        said = f"no word of its batches since {clock(-away)} ({failure}); asking again; Ctrl-C saves"
        self._notices.tell("away", said)
        return min(failure.wait or 0.0, LONGEST_OUTAGE)

    def answered(self) -> None:
        """Take note that the server is there."""
        self._since = None
        self._notices.tell_back()
