"""What tokens cost, and what a run may spend and has spent, over all its models."""

from __future__ import annotations

import math
import os
import threading
from dataclasses import astuple, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from psopt.errors import BudgetReachedError, InputError
from psopt.text import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.models.chat._client import CallStart, CallWatcher, OnCallEnd
    from psopt.settings import LMConfig


@dataclass(slots=True)
class Usage:
    """What was asked and spent."""

    # Requests that were answered, answers that were already in the cache, and attempts that failed
    made: int = 0
    cached: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0  # US dollars
    reasoning: int = 0  # how many of `tokens_out` were reasoning, where servers report that
    # How many of `tokens_in` the servers had cached, where they report that. They cost what the table of prices says
    # for them, otherwise as much as the rest: `cost` may then be too high, but never too low.
    cached_in: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(Usage)))


@dataclass(frozen=True, slots=True)
class Need:
    """Roughly what some requests will take: calls, tokens in and out together, US dollars."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Need) -> Need:
        return Need(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def fits(self, budget: Budget) -> bool:
        """Whether it is within a budget's limits, as if nothing had been spent."""
        amounts = zip(astuple(self), budget.limits, strict=True)
        return all(limit is None or amount <= limit for amount, limit in amounts)


# How messages show the limits, in the order of a `Need`, and what counts towards them
_SHOWN = (
    ("--max-calls {}", "made", ".0f"),
    ("--max-tokens-total {}", "used", ".0f"),
    ("--max-cost {:g} USD", "spent", ".4f"),
)


def _not_watched(_call: CallStart) -> OnCallEnd:
    return lambda _end: None


@dataclass(slots=True, eq=False)
class Budget:
    """Limits that all models of a run share, over all its parts; None is no limit.

    Before it is sent, a request reserves the most that it can take, so that no limit is ever exceeded; afterwards it
    pays what it took. When the rest, without what is held back, is too small for another, the budget is reached.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None  # US dollars
    usage: Usage = field(default_factory=Usage)  # what this process has spent
    earlier: Usage = field(default_factory=Usage)  # what a resumed run had spent before
    # Gets what the run has spent so far, before and after each request; requests in flight count as failed.
    ledger: Callable[[Usage], None] | None = None
    held_back: Need = field(default_factory=Need)  # what must be left
    # Whether requests that belong together are refused before the first one if they can't all be paid for. An
    # estimate decides that; the limits themselves do not depend on an estimate.
    in_whole: bool = False
    call_watcher: CallWatcher = _not_watched  # is notified of each call on this budget, as it is sent
    _reserved: Need = field(default_factory=Need)
    _in_batches: int = 0  # calls of them that open batches hold, whose files remember them: a kill loses none
    _lock: threading.Lock = field(default_factory=threading.Lock)  # DSPy's threads count on one budget

    @classmethod
    def of(cls, options: LMConfig) -> Budget:
        """Return a budget with the options' limits, and nothing spent yet."""
        return cls(options.max_calls, options.max_tokens_total, options.max_cost)

    @property
    def limits(self) -> tuple[int | None, int | None, float | None]:
        """The limits in the order of a `Need`."""
        return self.max_calls, self.max_tokens, self.max_cost

    @property
    def is_limited(self) -> bool:
        return any(limit is not None for limit in self.limits)

    def price(self, model: str) -> Price:
        """A model's price, or `NO_PRICE`; raises InputError if it is not known, and limits the cost."""
        price = price_of(model)
        if price is None and self.max_cost is not None:
            raise InputError(
                f"--max-cost needs the price of {model}: add a line"
                f' "{model}" = {{ in = .., out = .. }} (USD for a million tokens) to {user_prices()}'
            )
        return price or NO_PRICE

    def reserve(self, need: Need) -> bool:
        """Set aside what is needed; False if that must wait for others, BudgetReachedError if less is left."""
        if reason := self._too_much(Need(), need):
            raise BudgetReachedError(reason)
        if self._too_much(self._reserved, need):
            return False
        self.set_aside(need)
        return True

    def set_aside(self, need: Need, n_in_batches: int = 0) -> None:
        """Set aside what requests in flight may take, `n_in_batches` of them in a batch; `release` takes it back."""
        self._reserved += need
        self._in_batches += n_in_batches
        self._tell_ledger()

    def count(self, **amounts: float) -> None:
        """Add these amounts, named as in `Usage`, to what was spent."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self.usage, name, getattr(self.usage, name) + amount)
        self._tell_ledger()

    def _tell_ledger(self) -> None:
        if self.ledger is not None:
            self.ledger(self.earlier + self.usage + Usage(failed=self._reserved.calls - self._in_batches))

    def check_room(self, need: Need) -> None:
        """Raise BudgetReachedError, where `in_whole` is set, for requests that can't all be paid for."""
        if self.in_whole and (reason := self._too_much(self._reserved, need)):
            raise BudgetReachedError(reason)

    def _too_much(self, under_way: Need, need: Need) -> str | None:
        """Say which limit these requests would exceed, with what is set aside for others and held back."""
        spent, back = self.spent, self.held_back
        total = spent + under_way + need + back
        if total.fits(self):
            return None
        amounts = map(astuple, (total, spent, under_way, need, back))
        limits = zip(_SHOWN, self.limits, *amounts, strict=True)
        reached = next(each for each in limits if each[1] is not None and each[2] > each[1])
        (flag, how, form), limit, _, used, busy, more, kept = reached
        message = f"{used:{form}} {how}"
        if (left := limit - used - busy) > 0:
            besides = f" and {kept:{form}} for the final test" if kept else ""
            message += f", {left:{form}} left: {more:{form}} more{besides} don't fit"
        return f"{flag.format(limit)} is reached ({message})"

    @property
    def spent(self) -> Need:
        """What all parts of the run have spent."""
        usage = self.earlier + self.usage
        return Need(usage.made + usage.failed, usage.tokens, usage.cost)

    def times(self, need: Need, kept: Need) -> int:
        """How many times what is left pays for a need, if something else is kept for; 0 without limits."""
        amounts = zip(self.limits, astuple(self.spent + kept), astuple(need), strict=True)
        rooms = [(limit - used) / of_one for limit, used, of_one in amounts if limit is not None and of_one]
        return max(0, int(min(rooms, default=0)))

    def release(self, need: Need, n_in_batches: int = 0) -> None:
        self.set_aside(Need(-need.calls, -need.tokens, -need.cost), -n_in_batches)


# Share of the price of single calls (openai.com/api/pricing; Azure's Global Batch).
IN_BATCHES = 0.5
PRICES_OF = "2026-11-22"
"""When prices.toml was last compared with the makers' lists."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, in and out."""

    tokens_in: float
    tokens_out: float
    # For input tokens that the server had cached; None where that is not known
    cached_in: float | None = None

    def of(self, tokens_in: float, tokens_out: float, cached_in: float = 0) -> float:
        """US dollars for these tokens; `cached_in` of `tokens_in` were cached.

        >>> Price(2.0, 8.0, 0.5).of(1_000_000, 0, 800_000)
        0.8
        """
        cached_price = self.tokens_in if self.cached_in is None else self.cached_in
        read = (tokens_in - cached_in) * self.tokens_in + cached_in * cached_price
        return (read + tokens_out * self.tokens_out) / 1e6

    def in_batches(self) -> Price:
        """The price in batches; cached tokens cost as much as the rest, since not everybody promises less there."""
        return Price(self.tokens_in * IN_BATCHES, self.tokens_out * IN_BATCHES)


NO_PRICE = Price(0.0, 0.0)  # where it is not known: costs count as nothing


def user_prices() -> Path:
    """The user's own table: `$PSOPT_PRICES`, else `prices.toml` in the user's configuration folder for psopt."""
    return Path(os.environ.get("PSOPT_PRICES") or platformdirs.user_config_path("psopt") / "prices.toml")


def price_of(model: str) -> Price | None:
    """Return a model's price, by its full name, if a table has it; raises InputError if the user's can't be read."""
    with resources.as_file(resources.files("psopt.models.chat") / "prices.toml") as own:
        prices = _table(read_toml(own), "prices.toml")
    path = user_prices()
    if path.exists() or "PSOPT_PRICES" in os.environ:
        prices |= _table(read_toml(path, f"the table of prices {path}"), str(path))
    return prices.get(model)


def grid_price(model: str, *, in_batches: bool) -> Price | None:
    """Return a model's price for grids, asked query by query or in batches; None as in `price_of`."""
    price = price_of(model)
    return price.in_batches() if price and in_batches else price


def _table(entries: dict[str, Any], where: str) -> dict[str, Price]:
    prices = {}
    try:
        for name, entry in entries.items():
            amounts = {part: float(amount) for part, amount in entry.items()}
            prices[name] = Price(amounts["in"], amounts["out"], amounts.get("cached"))
            if not all(0 <= amount < math.inf for amount in amounts.values()):
                raise ValueError(f"a price of {name} is below 0, or no number")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f'{where} is no table of prices ({error}); a line of it reads: "openai/NAME" = {{ in = 0.15, out = 0.6 }}'
        ) from error
    return prices
