"""The data file of rephrasings by rule, wordings.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def wordings_file() -> dict[str, Any]:
    """Read the file, once."""
    return tomllib.loads(resources.files("psopt.rephrasings").joinpath("wordings.toml").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """Return one of its lists of words."""
    return frozenset(wordings_file()[name].split())
