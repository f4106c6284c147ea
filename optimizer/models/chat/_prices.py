"""What tokens cost, by model: a small table that users extend."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs
from psopt.errors import InputError

# Of the price of single calls (openai.com/api/pricing; Azure's Global Batch).
IN_BATCHES = 0.5
PRICES_OF = "2026-11-22"
"""When prices.toml was compared with what the makers list."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    tokens_in: float
    tokens_out: float
    # For those of the tokens in that the server had read before; None where that is not known
    cached_in: float | None = None

    def of(self, tokens_in: float, tokens_out: float, cached_in: float = 0) -> float:
        """US dollars for so many tokens, of which so many of those in were read before.

        >>> Price(2.0, 8.0, 0.5).of(1_000_000, 0, 800_000)
        0.8
        """
        cached_price = self.tokens_in if self.cached_in is None else self.cached_in
        read = (tokens_in - cached_in) * self.tokens_in + cached_in * cached_price
        return (read + tokens_out * self.tokens_out) / 1e6

    def in_batches(self) -> Price:
        """The price of what is asked by batches; what was read before is taken to cost as much as the rest.

        OpenAI and Azure ask half for it. That they ask less for cached tokens there too is not promised everywhere.
        """
        return Price(self.tokens_in * IN_BATCHES, self.tokens_out * IN_BATCHES)


def user_prices() -> Path:
    """The user's own table: `$PSOPT_PRICES`, else `prices.toml` in the user's configuration folder for psopt."""
    chosen = os.environ.get("PSOPT_PRICES")
    return Path(chosen) if chosen else platformdirs.user_config_path("psopt") / "prices.toml"


def price_of(model: str) -> Price | None:
    """Return the price of a model by its full name (``openai/gpt-4o-mini``); None where no table has it.

    Raises InputError if the user's table can't be read.
    """
    prices = _table((resources.files("psopt.models.chat") / "prices.toml").read_bytes(), "prices.toml")
    path = user_prices()
    try:
        prices |= _table(path.read_bytes(), str(path))
    except FileNotFoundError:
        if "PSOPT_PRICES" in os.environ:
            raise InputError(f"PSOPT_PRICES names {path}, which does not exist") from None
    except OSError as error:
        raise InputError(f"the prices in {path} can't be read: {error.strerror}") from error
    return prices.get(model)


def grid_price(model: str, *, in_batches: bool) -> Price | None:
    """Return the price at which a model's grids are asked, query by query or in batches; None as `price_of`."""
    price = price_of(model)
    return price.in_batches() if price and in_batches else price


def _table(content: bytes, where: str) -> dict[str, Price]:
    try:
        entries: dict[str, Any] = tomllib.loads(content.decode())
        return {name: _price(entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f'{where} is no table of prices ({error}); a line of it reads: "openai/NAME" = {{ in = 0.15, out = 0.6 }}'
        ) from error


def _price(entry: dict[str, Any]) -> Price:
    cached = entry.get("cached")
    return Price(float(entry["in"]), float(entry["out"]), None if cached is None else float(cached))


def check_price(model: str) -> None:
    """Make sure that a model has a price, so that its cost can be limited.

    Raises InputError if it has none.
    """
    if price_of(model) is None:
        raise InputError(
            f"--max-cost needs the price of {model}: add a line"
            f' "{model}" = {{ in = .., out = .. }} (USD for a million tokens) to {user_prices()}'
        )
