"""The name that was probably meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# difflib's own default. Without their dashes, `--trails` and `--trials` have .83, `--json` and `--version` .55.
_ALIKE = 0.6


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``: did you mean NAME?`` for the nearest of some names, or nothing.

    >>> did_you_mean("--trails", ["--retries", "--trials"])
    ': did you mean --trials?'
    """
    bare = {known.lstrip("-"): known for known in names}
    near = difflib.get_close_matches(name.lstrip("-"), bare, n=1, cutoff=_ALIKE)
    return f": did you mean {bare[near[0]]}?" if near else ""
