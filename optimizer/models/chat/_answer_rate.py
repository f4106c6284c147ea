"""How fast models have answered, kept with their answers: a plan's minutes are based on it."""

from __future__ import annotations

import contextlib
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psopt.models._answer_cache import answer_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models._answer_cache import AnswerCache

# Chosen, not measured: the first calls go out one by one, and would dominate a smaller number.
_ENOUGH = 50


@dataclass(frozen=True, slots=True)
class AnswerRate:
    """How fast a model answered at a server."""

    per_minute: float  # calls per minute, while any were in flight
    concurrency: int  # how many might be in flight
    day: str  # when that was measured: ``2026-11-22``

    def with_places(self, concurrency: int) -> float:
        """Calls per minute with `concurrency` in flight: proportionally fewer if it is lower, no more if it is higher.

        >>> rate = AnswerRate(1200.0, 32, "2026-11-22")
        >>> rate.with_places(8), rate.with_places(64)
        (300.0, 1200.0)
        """
        return self.per_minute * min(1.0, concurrency / self.concurrency)


class AskingTime:
    """Counts answers, and the time during which any were asked for; overlapping time counts once."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self.calls = 0
        self.seconds = 0.0
        self._n_under_way = 0
        self._since = 0.0

    @contextlib.contextmanager
    def asking(self, n_calls: int) -> Iterator[None]:
        """Count the time spent in this context, and the calls if all are answered; only for the event loop's thread."""
        now = time.monotonic()
        if not self._n_under_way:
            self._since = now
        self._n_under_way += 1
        try:
            yield
            self.calls += n_calls
        finally:
            self._n_under_way -= 1
            if not self._n_under_way:
                self.seconds += time.monotonic() - self._since

    @property
    def rate(self) -> AnswerRate | None:
        """How fast answers came; None where there were too few to tell."""
        if self.calls < _ENOUGH or not self.seconds:
            return None
        day = datetime.now(UTC).date().isoformat()
        return AnswerRate(60 * self.calls / self.seconds, self._concurrency, day)


def kept_rate(cache: AnswerCache, model: str, server: str | None) -> AnswerRate | None:
    """Return how fast a model answered at a server when it was last asked; None where that is unknown."""
    rate = cache.get(_key(model, server))
    return AnswerRate(**rate) if rate else None


def keep_rate(cache: AnswerCache, model: str, server: str | None, rate: AnswerRate) -> None:
    """Remember how fast a model answered, in place of an earlier rate."""
    cache.forget([_key(model, server)])
    cache.put(_key(model, server), asdict(rate))


def _key(model: str, server: str | None) -> bytes:
    return answer_key(rate_of=model, server=server)
