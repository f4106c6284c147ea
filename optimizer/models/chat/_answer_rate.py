"""How fast models have answered, kept with their answers: a plan's minutes are based on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psopt.models._answer_cache import answer_key

if TYPE_CHECKING:
    from psopt.models._answer_cache import AnswerCache

# Chosen, not measured: the first calls go out one by one, and would dominate a smaller number.
_ENOUGH = 50


@dataclass(frozen=True, slots=True)
class AnswerRate:
    """How fast a model answered at a server."""

    per_minute: float  # calls per minute, while any were in flight
    concurrency: int  # how many might be in flight
    day: str  # when that was measured: ``2026-11-22``

    @classmethod
    def of(cls, calls: int, seconds: float, concurrency: int) -> AnswerRate | None:
        """The rate of so many calls in so many seconds, measured today; None where they are too few to tell."""
        if calls < _ENOUGH or not seconds:
            return None
        return cls(60 * calls / seconds, concurrency, datetime.now(UTC).date().isoformat())

    def with_places(self, concurrency: int) -> float:
        """Calls per minute with `concurrency` in flight: proportionally fewer if it is lower, no more if it is higher.

        >>> rate = AnswerRate(1200.0, 32, "2026-11-22")
        >>> rate.with_places(8), rate.with_places(64)
        (300.0, 1200.0)
        """
        return self.per_minute * min(1.0, concurrency / self.concurrency)


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
