"""What running a program takes: runs and tokens, from several threads, within the limits of a budget."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._dspy import dspy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models.chat import Budget

_PAUSE = 0.01  # seconds; a run takes far longer, so that looking this often costs nothing


class RunCounter:
    """Counts runs of a program as calls, and the tokens that DSPy counted; neither where psopt's engine does it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self.counts_elsewhere = False

    def add_known(self, n: int) -> None:
        """Count answers that were known already."""
        self._budget.usage.cached += n

    @contextlib.contextmanager
    def one_run(self) -> Iterator[None]:
        """Reserve a run, and settle for it when it is over.

        Raises
        ------
        BudgetReachedError
            If there is none left.
        """
        if self.counts_elsewhere:
            yield
            return
        self._reserve()
        went_well = False
        try:
            with dspy.track_usage() as usage:
                yield
            went_well = True
        except dspy.AdapterParseError:  # an answer, though not a good one
            went_well = True
            raise
        finally:
            self._settle(usage, went_well=went_well)

    def _reserve(self) -> None:
        """Wait while runs that are under way may still use up what is left, or leave some of it."""
        while True:
            with self._lock:
                if self._budget.reserve(0, 0.0):
                    return
            time.sleep(_PAUSE)

    def _settle(self, usage: Any, *, went_well: bool) -> None:
        spent = self._budget.usage
        with self._lock:
            self._budget.release(0, 0.0)
            spent.made += went_well
            spent.failed += not went_well
            for entries in usage.usage_data.values():
                for entry in entries:
                    spent.tokens_in += entry.get("prompt_tokens") or entry.get("input_tokens") or 0
                    spent.tokens_out += entry.get("completion_tokens") or entry.get("output_tokens") or 0
