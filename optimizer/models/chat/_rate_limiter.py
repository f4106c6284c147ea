"""How fast requests may start."""

from __future__ import annotations

import asyncio


class RateLimiter:
    """Spreads the starts of requests so that no more than so many begin in a minute."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for this request's turn."""
        if not self._gap:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + self._gap
        if turn > now:
            await asyncio.sleep(turn - now)
