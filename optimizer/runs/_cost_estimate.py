"""What a command would take: exact calls if its prompts are known, tokens and money as a range."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from psopt.models.chat import Need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat import AnswerRate, LMConfig, Price


BASELINE = "original prompt on val"
BASELINE_TEST = "original prompt on test"
FRONT_TEST = "front on test"
CANDIDATES = "candidates on val"
DIAGNOSES = "diagnoses on train"
FIRST_DIAGNOSIS = "first diagnosis on train"
LAST_DIAGNOSIS = "chosen prompt on train"
LEFT_OUT = "edits left out, on val"
PRIORS = "label priors of calibrated prompts"


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run."""

    what: str
    # What will be sent for it
    least: Need
    expected: Need
    most: Need
    times: str = ""  # why the phase may come several times, or not at all; empty if it comes once
    cached: int = 0  # how many further answers are in the cache, as far as their prompts are known already
    model: str = ""  # which of several models is asked; empty if there is only one

    @property
    def calls(self) -> int:
        """Requests, including those whose answers are in the cache."""
        return self.expected.calls + self.cached

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "what": self.what,
            "calls": self.calls,
            "cached": self.cached,
            "tokens": self.expected.tokens,
            "times": self.times,
            "least": asdict(self.least),
            "most": asdict(self.most),
            "cost": self.expected.cost,
            "model": self.model,
        }


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are expected to be answered."""

    per_minute: float
    # When that was measured; empty if only a limit on requests per minute is known, which is then the fastest pace
    day: str = ""

    @classmethod
    def of(cls, rate: AnswerRate | None, lm: LMConfig) -> Pace | None:
        """The measured pace, no faster than requests may start; None if neither is known."""
        most = lm.requests_per_minute or math.inf
        if rate is not None:
            return cls(min(rate.with_places(lm.concurrency), most), rate.day)
        return cls(most) if lm.requests_per_minute else None

    @classmethod
    def of_several(cls, paces: Sequence[Pace | None], n_free: int = 0) -> Pace | None:
        """The pace of models that are asked equally much, one after the other; None if one is not known.

        `n_free` other models take next to no time.
        """
        known_paces = [pace for pace in paces if pace is not None]
        if not known_paces or len(known_paces) < len(paces):
            return None
        return cls((len(known_paces) + n_free) / sum(1 / pace.per_minute for pace in known_paces), known_paces[0].day)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a command would take. Phases deviate together: if candidates stop early, the front is small too."""

    phases: tuple[Phase, ...]
    price: Price | None  # of the model that is asked most
    pace: Pace | None = None  # how fast calls will be answered, if that is known
    candidates: int = 0  # how many will be evaluated, not counting the original prompt

    @classmethod
    def of_several(cls, estimates: Sequence[CostEstimate]) -> CostEstimate:
        """What several models that are asked the same take together."""
        return replace(
            estimates[0],
            phases=tuple(chain.from_iterable(estimate.phases for estimate in estimates)),
            price=estimates[0].price if all(estimate.price for estimate in estimates) else None,
            pace=Pace.of_several([estimate.pace for estimate in estimates]),
        )

    @property
    def least(self) -> Need:
        """What must be sent at least."""
        return sum((phase.least for phase in self.phases), Need())

    @property
    def expected(self) -> Need:
        """About what must be sent: what is in the cache need not be."""
        return sum((phase.expected for phase in self.phases), Need())

    @property
    def most(self) -> Need:
        """What must be sent at most."""
        return sum((phase.most for phase in self.phases), Need())

    @property
    def calls(self) -> int:
        """About how many requests, including those whose answers are in the cache."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """About how many tokens, in total."""
        return self.expected.tokens

    @property
    def cost(self) -> float | None:
        """About how many US dollars; None without a price."""
        return None if self.price is None else self.expected.cost

    @property
    def calls_expected(self) -> int:
        """About how many requests must be sent."""
        return self.expected.calls

    @property
    def calls_range(self) -> tuple[int, int]:
        """Requests that must be sent, least and most."""
        return self.least.calls, self.most.calls

    @property
    def tokens_range(self) -> tuple[int, int]:
        """Tokens, low and high."""
        return self.least.tokens, self.most.tokens

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """US dollars, low and high; None without a price."""
        return None if self.price is None else (self.least.cost, self.most.cost)

    @property
    def minutes_range(self) -> tuple[float, float] | None:
        """Minutes of asking, low and high; None if it is not known how fast calls are answered."""
        if self.pace is None:
            return None
        few, many = self.calls_range
        return few / self.pace.per_minute, many / self.pace.per_minute

    def limit_in_reach(self, lm: LMConfig) -> str:
        """The limit that may be reached before the end, of several the first one; empty if there is none."""
        most = self.most
        limits = {
            "--max-cost": (lm.max_cost, most.cost),
            "--max-tokens-total": (lm.max_tokens_total, most.tokens),
            "--max-calls": (lm.max_calls, most.calls),
        }
        shares = {
            f"{name} {limit:.12g}": limit / amount
            for name, (limit, amount) in limits.items()
            if limit is not None and limit < amount
        }
        return min(shares, key=shares.__getitem__, default="")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "phases": [phase.to_dict() for phase in self.phases],
            "calls": self.calls,
            "calls_range": self.calls_range,
            "tokens": self.tokens,
            "tokens_range": self.tokens_range,
            "cost_usd": self.cost,
            "cost_usd_range": self.cost_range,
            "minutes_range": self.minutes_range,
        }
