"""What the fake server counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_STEP = 512  # characters, 128 tokens of this server: OpenAI counts cached ones in such steps


@dataclass(slots=True)
class Seen:
    """What came in and what went out: how often each request, by its digest, and each status."""

    requests: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    last_request: dict[str, Any] = field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0
    beginnings: set[str] = field(default_factory=set)

    def __enter__(self) -> None:
        """Count a request as in flight."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def __exit__(self, *_: object) -> None:
        """Count it as gone."""
        self.in_flight -= 1

    def clear(self) -> None:
        """Forget all but what is in flight."""
        for counter in (self.requests, self.answered, self.statuses):
            counter.clear()
        self.most_in_flight = self.in_flight
        self.last_request = {}

    def came_in(self, name: str, request: dict[str, Any]) -> None:
        """Count a request."""
        self.last_request = request
        self.requests[name] += 1

    def cached(self, body: dict[str, Any]) -> int:
        """How many tokens of the messages' beginning were read before, as a server with prefix caching counts them."""
        text = "\x00".join(str(turn.get("content") or "") for turn in body["messages"])
        beginnings = {text[:end] for end in range(_STEP, len(text) + 1, _STEP)}
        n_known = len(beginnings & self.beginnings)
        self.beginnings |= beginnings
        return n_known * _STEP // 4

    def summary(self) -> dict[str, Any]:
        """Counts. `statuses` are 200, an error's status, a fault's name, and gone for a client that did not wait.

        Each request counts once there; a slow one that was answered, twice.
        """
        return {
            "requests": self.requests.total(),
            "answered": self.answered.total(),
            "answered_twice": sum(count > 1 for count in self.answered.values()),
            "most_in_flight": self.most_in_flight,
            "statuses": dict(self.statuses),
        }

    def log(self) -> list[dict[str, Any]]:
        """Every different request, in the order in which they came."""
        return [
            {"sha256": name, "count": count, "answered": self.answered[name]} for name, count in self.requests.items()
        ]
