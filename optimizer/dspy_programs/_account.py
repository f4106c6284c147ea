"""What running a program takes: runs and tokens, from several threads, within the limits of a budget."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models.chat import Budget

_PAUSE = 0.01


class Account:
    """Counts runs of a program as calls, and the tokens that DSPy counted; neither where psopt's engine does it."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._lock = budget, threading.Lock()
        self.counts_elsewhere = False

    def had_already(self, n: int) -> None:
        """Count answers that were known."""
        self._budget.usage.cached += n

    @contextlib.contextmanager
    def one_run(self) -> Iterator[None]:
        """Reserve a run, and settle for it when it is over.

        Raises
        ------
        BudgetReachedError
            If there is none left.
        """
        import dspy
        from dspy.utils.usage_tracker import track_usage

        if self.counts_elsewhere:
            yield
            return
        self._reserve()
        went_well = False
        try:
            with track_usage() as usage:
                yield
            went_well = True
        except dspy.AdapterParseError:  # an answer, though not a good one
            went_well = True
            raise
        finally:
            self._settle(usage, went_well=went_well)

    def _reserve(self) -> None:
        while True:
            with self._lock:
                if self._budget.reserve(0, 0.0):
                    return
            time.sleep(_PAUSE)

    def _settle(self, usage: Any, *, went_well: bool) -> None:
        total = self._budget.usage
        with self._lock:
            self._budget.release(0, 0.0)
            total.made += went_well
            total.failed += not went_well
            for entries in usage.usage_data.values():
                for entry in entries:
                    total.tokens_in += entry.get("prompt_tokens") or entry.get("input_tokens") or 0
                    total.tokens_out += entry.get("completion_tokens") or entry.get("output_tokens") or 0
