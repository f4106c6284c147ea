"""What a run has spent, saved at every call: limits hold for all its parts together, even if it is killed."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, fields
from io import FileIO
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models.chat import Usage
from psopt.runs._directory import MANIFEST, SPENT, json_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models.chat import Budget
    from psopt.runs._directory import RunDirectory

_LIMITS = ("max_calls", "max_tokens_total", "max_cost")
_SIZE = 400  # bytes: more than the numbers take, so that each state overwrites the one before in a single write


@contextlib.contextmanager
def spending_kept(directory: RunDirectory, budget: Budget) -> Iterator[None]:
    """Tell a budget what the run has spent before, and save what it spends from now on.

    A request that was in flight when the process was killed counts as failed: it may have been paid for. Raises
    InputError if the run has a limit, and its file is damaged.
    """
    path = directory.path / SPENT
    spent = json_object(path)
    options = json_object(directory.path / MANIFEST).get("settings", {}).get("lm", {})
    is_limited = budget.is_limited or any(options.get(name) is not None for name in _LIMITS)
    if path.exists() and not spent and is_limited:
        why = "is damaged, so what the run has spent is unknown, and it has a limit"
        raise InputError(f"{path} {why}: remove it to count from 0")
    budget.earlier = Usage(**{part.name: spent[part.name] for part in fields(Usage) if part.name in spent})
    file: FileIO | None = None

    def write(usage: Usage) -> None:
        """Save an amount; if the disk is full, the one before stays, and writing other files reports the error."""
        nonlocal file
        with contextlib.suppress(OSError):
            if file is None:
                file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666), "w")
            file.seek(0)  # each amount overwrites the one before
            file.write(json.dumps(asdict(usage)).ljust(_SIZE).encode())

    budget.ledger = write
    try:
        yield
    finally:
        budget.ledger = None
        if file is not None:
            file.close()
