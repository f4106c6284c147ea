"""What a command would take: exact calls if its prompts are known, tokens and money as a range."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.search.racing import FEWEST_SAMPLES, Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Grid
    from psopt.models.chat import AnswerRate, LMConfig, Need, Price


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
    # What will be sent for it, if the tokens of a text are as expected
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

    @classmethod
    def of(cls, what: str, grid: Grid, price: Price | None) -> Phase:
        """A phase whose prompts are known."""
        need = grid.need(price)
        return cls(what, need, need, need, cached=grid.cached)

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
    """What a command would take."""

    phases: tuple[Phase, ...]
    price: Price | None  # of the model that is asked most
    # By what share the total of tokens may be lower or higher than expected: scripts and vocabularies differ
    spread: tuple[float, float] = (0.0, 0.0)
    pace: Pace | None = None  # how fast calls will be answered, if that is known
    candidates: int = 0  # how many will be evaluated, not counting the original prompt

    @classmethod
    def of_several(cls, estimates: Sequence[CostEstimate]) -> CostEstimate:
        """What several models that are asked the same take together."""
        lower, higher = zip(*(estimate.spread for estimate in estimates), strict=True)
        return replace(
            estimates[0],
            phases=tuple(itertools.chain.from_iterable(estimate.phases for estimate in estimates)),
            price=estimates[0].price if all(estimate.price for estimate in estimates) else None,
            spread=(max(lower), max(higher)),
            pace=Pace.of_several([estimate.pace for estimate in estimates]),
        )

    @property
    def calls(self) -> int:
        """About how many requests, in total."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """About how many tokens, in total."""
        return sum(phase.expected.tokens for phase in self.phases)

    @property
    def cost(self) -> float | None:
        """About how many US dollars; None without a price."""
        if self.price is None:
            return None
        return sum(phase.expected.cost for phase in self.phases)

    @property
    def calls_expected(self) -> int:
        """About how many requests must be sent: those in the cache need not be."""
        return sum(phase.expected.calls for phase in self.phases)

    @property
    def candidate_calls(self) -> float:
        """Calls to be sent for one candidate, averaged over those that stop and those that don't."""
        return self._sent(CANDIDATES) / max(1, self.candidates)

    @property
    def diagnosis_calls(self) -> int:
        """Calls to be sent for all diagnoses of the search."""
        return self._sent(FIRST_DIAGNOSIS, DIAGNOSES)

    @property
    def final_calls(self) -> int:
        """Calls to be sent when the search is over: the test, and what else the report shows."""
        return self._sent(BASELINE_TEST, FRONT_TEST, LAST_DIAGNOSIS, LEFT_OUT)

    def _sent(self, *names: str) -> int:
        return sum(phase.expected.calls for phase in self.phases if phase.what in names)

    @property
    def calls_range(self) -> tuple[int, int]:
        """Requests that must be sent, least and most."""
        low, high = self._range("calls")
        return round(low), round(high)

    @property
    def tokens_range(self) -> tuple[int, int]:
        """Tokens, low and high."""
        low, high = self._range("tokens", self.spread)
        return round(low), round(high)

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """US dollars, low and high; None without a price."""
        if self.price is None:
            return None
        return self._range("cost", self.spread)

    @property
    def minutes_range(self) -> tuple[float, float] | None:
        """Minutes of asking, low and high; None if it is not known how fast calls are answered."""
        if self.pace is None:
            return None
        few, many = self.calls_range
        return few / self.pace.per_minute, many / self.pace.per_minute

    def _range(self, amount: str, spread: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
        """The low and the high total. Phases deviate together: if candidates stop early, the front is small too.

        The error in the tokens of a text is independent of that, so squares add up.
        """
        least = sum(getattr(phase.least, amount) for phase in self.phases)
        expected = sum(getattr(phase.expected, amount) for phase in self.phases)
        most = sum(getattr(phase.most, amount) for phase in self.phases)
        low = expected - math.hypot(expected * spread[0], expected - least)
        high = expected + math.hypot(expected * spread[1], most - expected)
        return max(low, least * (1 - spread[0])), high

    def limit_in_reach(self, lm: LMConfig) -> str:
        """The limit that may be reached before the end, of several the first one; empty if there is none."""
        limits = {
            "--max-cost": (lm.max_cost, self.cost_range or (0.0, 0.0)),
            "--max-tokens-total": (lm.max_tokens_total, self.tokens_range),
            "--max-calls": (lm.max_calls, self.calls_range),
        }
        shares = {
            f"{name} {limit:.12g}": limit / high
            for name, (limit, (_, high)) in limits.items()
            if limit is not None and limit < high
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


_WHOLE = 3  # held candidates that get whole grids, about: as many as a front has besides the original prompt
# About the share of candidates that stop: in searches on TREC, .47 of 9 and .68 of 37 did with 200 samples, .41 of 17
# with 100. At each rung, half of those that were left did.
_STOPPING = 0.6


class Span(NamedTuple):
    """The least, the expected and the most."""

    least: float
    expected: float
    most: float


def whole_grids(n_candidates: int, n_samples: int, n_wordings: int) -> Span:
    """How many whole grids the candidates' answers amount to: the least if all stop at once, the most if none stops.

    Those that don't stop wait on a part of the samples, and some are asked about all of them at the end.
    """
    if n_samples < FEWEST_SAMPLES or n_wordings < 2:
        return Span(n_candidates, n_candidates, n_candidates)
    schedule = Schedule(np.zeros(n_samples, dtype=np.int64), n_wordings, 0)
    shares = [rung.samples * rung.wordings / (n_samples * n_wordings) for rung in schedule.rungs]
    held = shares[schedule.rungs.index(schedule.held_at)]
    n_stopping = _STOPPING * n_candidates
    of_stopped = min(held, float(np.average(shares, weights=0.5 ** np.arange(len(shares)))))
    n_whole = min(_WHOLE, n_candidates - n_stopping)
    expected = n_stopping * of_stopped + (n_candidates - n_stopping - n_whole) * held + n_whole
    return Span(n_candidates * shares[0], expected, n_candidates)
