"""What a command would take: calls exactly where its prompts are known, tokens and money as a range."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.models.chat import Need

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Grid
    from psopt.models.chat import AnswerRate, LMConfig, Price
    from psopt.runs._racing_estimate import RacingEstimate

BASELINE = "original prompt on val"
BASELINE_TEST = "original prompt on test"
FRONT_TEST = "front on test"
CANDIDATES = "candidates on val"
DIAGNOSES = "diagnoses on train"
FIRST_DIAGNOSIS = "first diagnosis on train"
LAST_DIAGNOSIS = "chosen prompt on train"
LEFT_OUT = "edits left out, on val"
PRIORS = "label priors of calibrated prompts"
SEARCHING = {CANDIDATES, DIAGNOSES}
"""The phases of a search that take the longer the more trials there are."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run."""

    what: str
    calls: int  # requests; those whose answers are in the cache among them
    cached: int  # how many of them need not be sent, as far as their prompts are known already
    tokens: int  # about how many tokens are read and written
    times: str = ""  # why the phase may come several times, or not at all; empty if it comes once
    # What it may take, if the tokens of a text are as expected
    least: Need = field(default_factory=Need)
    most: Need = field(default_factory=Need)
    cost: float = 0.0

    @classmethod
    def of(cls, what: str, grid: Grid, price: Price | None) -> Phase:
        """A phase whose prompts are known."""
        need = grid.need(price)
        return cls(what, grid.calls, grid.cached, need.tokens, "", need, need, need.cost)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are expected to be answered."""

    per_minute: float
    # When that was measured; empty where only a limit on requests per minute is known, which is the fastest then
    day: str = ""

    @classmethod
    def of(cls, rate: AnswerRate | None, lm: LMConfig) -> Pace | None:
        """What was measured, no faster than requests may start; None where neither is known."""
        most = lm.requests_per_minute
        if rate is None:
            return cls(most) if most else None
        measured = rate.with_places(lm.concurrency)
        return cls(min(measured, most) if most else measured, rate.day)


class FinalTestSize(NamedTuple):
    """How large the final test is: what it can show hangs on that."""

    samples: int
    wordings: int
    n_classes: int
    """With N/A."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a command would take.

    Attributes
    ----------
    phases : tuple of Phase
    price : Price or None
        Of the model that is asked most.
    spread : (float, float)
        By what share all tokens together may be fewer or more than expected: scripts and vocabularies differ.
    trials : int
        How many trials the phases are for; 0 for commands that don't search.
    racing : RacingEstimate or None
        What racing is expected to save; None where candidates don't race, or nothing is searched.
    pace : Pace or None
        How fast calls will be answered, where that is known.
    test : FinalTestSize or None
        How large the final test is; None for commands that don't search.
    candidates : int
        How many are to be evaluated, the original prompt not among them.
    """

    phases: tuple[Phase, ...]
    price: Price | None
    spread: tuple[float, float] = (0.0, 0.0)
    trials: int = 0
    racing: RacingEstimate | None = None
    pace: Pace | None = None
    test: FinalTestSize | None = None
    candidates: int = 0

    @property
    def calls(self) -> int:
        """Requests in all, about."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """Tokens in all, about."""
        return sum(phase.tokens for phase in self.phases)

    @property
    def cost(self) -> float | None:
        """US dollars, about; None without a price."""
        return sum(phase.cost for phase in self.phases) if self.price else None

    @property
    def calls_expected(self) -> int:
        """Requests that must be sent, about: those in the cache are not."""
        return sum(max(0, phase.calls - phase.cached) for phase in self.phases)

    @property
    def candidate_calls(self) -> float:
        """Calls to be sent for one candidate, in the mean of those that stop and those that don't."""
        return self._sent(CANDIDATES) / max(1, self.candidates)

    @property
    def diagnosis_calls(self) -> int:
        """Calls to be sent for all diagnoses of the search."""
        return self._sent(FIRST_DIAGNOSIS, DIAGNOSES)

    @property
    def final_calls(self) -> int:
        """Calls to be sent when the search is over: the test, and what the report says beside it."""
        return self._sent(BASELINE_TEST, FRONT_TEST, LAST_DIAGNOSIS, LEFT_OUT)

    def _sent(self, *names: str) -> int:
        return sum(max(0, phase.calls - phase.cached) for phase in self.phases if phase.what in names)

    @property
    def calls_range(self) -> tuple[int, int]:
        """Requests that must be sent, least and most."""
        sent = [max(0, phase.calls - phase.cached) for phase in self.phases]
        low, high = self._range([float(n) for n in sent], lambda need: float(need.calls), (0.0, 0.0))
        return round(low), round(high)

    @property
    def tokens_range(self) -> tuple[int, int]:
        """Tokens, few and many."""
        low, high = self._range(
            [float(phase.tokens) for phase in self.phases], lambda need: float(need.tokens), self.spread
        )
        return round(low), round(high)

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """US dollars, few and many; None without a price."""
        if self.price is None:
            return None
        return self._range([phase.cost for phase in self.phases], lambda need: need.cost, self.spread)

    @property
    def minutes_range(self) -> tuple[float, float] | None:
        """Minutes of asking, few and many; None where nobody knows how fast calls are answered."""
        if self.pace is None:
            return None
        few, many = self.calls_range
        return few / self.pace.per_minute, many / self.pace.per_minute

    def _range(
        self, expected: Sequence[float], amount: Callable[[Need], float], spread: tuple[float, float]
    ) -> tuple[float, float]:
        """Between what and what it is: phases go together, for where candidates stop early the front is small too.

        How many tokens a text has is another matter: there squares add up.
        """
        total = sum(expected)
        below = [middle - amount(phase.least) for middle, phase in zip(expected, self.phases, strict=True)]
        above = [amount(phase.most) - middle for middle, phase in zip(expected, self.phases, strict=True)]
        low = total - math.hypot(total * spread[0], sum(below))
        least = sum(amount(phase.least) for phase in self.phases) * (1 - spread[0])
        return max(low, least), total + math.hypot(total * spread[1], sum(above))

    def trials_within(self, lm: LMConfig) -> tuple[int, int] | None:
        """After how many trials a limit is reached, few and many; None if none is before the end."""
        limits = (
            (lm.max_calls, self.calls_range),
            (lm.max_tokens_total, self.tokens_range),
            (lm.max_cost, self.cost_range or (0.0, 0.0)),
        )
        within = [
            self._trials_for(limit / high if high else math.inf, limit / low if low else math.inf)
            for limit, (low, high) in limits
            if limit is not None and limit < high
        ]
        return min(within) if within and self.candidates else None

    def _trials_for(self, share_low: float, share_high: float) -> tuple[int, int]:
        """By the share of all that a limit pays, what is not searching comes first."""
        searching = sum(phase.tokens for phase in self.phases if phase.what in SEARCHING) / max(1, self.tokens)
        if not searching:
            return 1, 1

        def trials(share: float) -> int:
            of_searching = max(0.0, min(1.0, (share - 1 + searching) / searching))
            return 1 + int(of_searching * (self.trials - 1))

        return trials(share_low), trials(share_high)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "phases": [asdict(phase) for phase in self.phases],
            "calls": self.calls,
            "calls_range": self.calls_range,
            "tokens": self.tokens,
            "tokens_range": self.tokens_range,
            "cost_usd": self.cost,
            "cost_usd_range": self.cost_range,
            "minutes_range": self.minutes_range,
            "racing": self.racing and self.racing.to_dict(),
        }
