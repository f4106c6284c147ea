"""What the fake server counts."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOK = 0.005  # seconds between two looks at counts that somebody waits for

_STEP = 512  # characters, 128 tokens of this server: OpenAI counts cached ones in such steps


class Seen:
    """What came in and what went out."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.last_request: dict[str, Any] = {}
        self.in_flight = 0
        self.most_in_flight = 0
        self._read: set[str] = set()

    def clear(self) -> None:
        """Forget all but what is in flight."""
        for counter in (self.requests, self.answered, self.statuses):
            counter.clear()
        self.most_in_flight = self.in_flight
        self.last_request = {}

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Count a request as in flight."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    def came_in(self, name: str, request: dict[str, Any]) -> None:
        """Count a request."""
        self.last_request = request
        self.requests[name] += 1

    def beginning(self, body: dict[str, Any]) -> int:
        """How many tokens of the messages' beginning were read before, as a server with prefix caching counts them."""
        text = "\x00".join(str(turn.get("content") or "") for turn in body["messages"])
        beginnings = [text[:end] for end in range(_STEP, len(text) + 1, _STEP)]
        known = [beginning for beginning in beginnings if beginning in self._read]
        self._read.update(beginnings)
        return len(known) * _STEP // 4

    async def wait_for(self, at_least: dict[str, int], *, idle: bool) -> None:
        """Return when the counts named in `at_least` are reached and, if `idle`, nothing is in flight."""
        while (idle and self.in_flight) or any(self.summary()[name] < least for name, least in at_least.items()):
            await asyncio.sleep(_LOOK)

    def summary(self) -> dict[str, Any]:
        """Counts. `statuses` are 200, an error's status, a fault's name, and gone for a client that did not wait.

        Each request counts once there; a slow one that was answered, twice.
        """
        return {
            "requests": self.requests.total(),
            "different": len(self.requests),
            "answered": self.answered.total(),
            "answered_twice": sum(count > 1 for count in self.answered.values()),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "statuses": dict(self.statuses),
        }

    def log(self) -> list[dict[str, Any]]:
        """Every different request, in the order in which they came."""
        return [
            {"sha256": name, "count": count, "answered": self.answered[name]} for name, count in self.requests.items()
        ]
