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


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """US dollars for so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


def user_prices() -> Path:
    """The user's own table: `$PSOPT_PRICES`, else `prices.toml` in the user's configuration folder for psopt."""
    chosen = os.environ.get("PSOPT_PRICES")
    return Path(chosen) if chosen else platformdirs.user_config_path("psopt") / "prices.toml"


def price_of(model: str) -> Price | None:
    """Return the price of a model by its full name (``openai/gpt-4o-mini``); None where no table has it.

    Raises
    ------
    InputError
        If the user's table can't be read.
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


def _table(content: bytes, where: str) -> dict[str, Price]:
    try:
        entries: dict[str, Any] = tomllib.loads(content.decode())
        return {name: Price(float(price["in"]), float(price["out"])) for name, price in entries.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f'{where} is no table of prices ({error}); a line of it reads: "openai/NAME" = {{ in = 0.15, out = 0.6 }}'
        ) from error


def check_price(model: str) -> None:
    """Make sure that a model has a price, so that its cost can be limited.

    Raises
    ------
    InputError
        If it has none.
    """
    if price_of(model) is None:
        raise InputError(
            f"--max-cost needs the price of {model}: add a line"
            f' "{model}" = {{ in = .., out = .. }} (USD for a million tokens) to {user_prices()}'
        )
