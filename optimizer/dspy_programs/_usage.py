"""What running a program takes: calls of its language models and tokens, from several threads, within a budget."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._dspy import dspy
from psopt.models.chat import Need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models.chat import Budget

_PAUSE = 0.01  # seconds; a run takes far longer, so that looking this often costs nothing


class _CallsOfARun(dspy.utils.callback.BaseCallback):  # type: ignore[misc]  # dspy has no types
    """Counts what one run of a program asks of language models."""

    def __init__(self) -> None:
        self.n = 0

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Count one more."""
        del call_id, instance, inputs
        self.n += 1


class RunCounter:
    """Counts the calls of every step of a program, and their tokens; neither where psopt's engine does it.

    How many calls a run makes is known when it is over. Before, as many are reserved as a run has ever made.

    Parameters
    ----------
    n_steps : int
        As many calls the first runs are taken to make.
    """

    def __init__(self, budget: Budget, n_steps: int) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._most_calls = n_steps
        self.counts_elsewhere = False

    @contextlib.contextmanager
    def one_run(self) -> Iterator[None]:
        """Reserve a run, and settle for it when it is over.

        Raises BudgetReachedError if there is none left.
        """
        if self.counts_elsewhere:
            yield
            return
        n_reserved = self._reserve()
        counted = _CallsOfARun()
        went_well = False
        try:
            with dspy.track_usage() as usage, dspy.context(callbacks=[*dspy.settings.callbacks, counted]):
                yield
            went_well = True
        except dspy.AdapterParseError:  # an answer, though not a good one
            went_well = True
            raise
        finally:
            self._settle(usage, counted.n, n_reserved, went_well=went_well)

    def _reserve(self) -> int:
        """Wait while runs that are under way may still use up what is left, or leave some of it."""
        while True:
            with self._lock:
                n_calls = self._most_calls
                if self._budget.reserve(Need(n_calls)):
                    return n_calls
            time.sleep(_PAUSE)

    def _settle(self, usage: Any, n_calls: int, n_reserved: int, *, went_well: bool) -> None:
        with self._lock:
            # One that failed before it asked anything is a failed attempt all the same.
            self._budget.count(made=n_calls if went_well else max(0, n_calls - 1), failed=not went_well)
            self._budget.release(Need(n_reserved))
            self._most_calls = max(self._most_calls, n_calls)
            for entries in usage.usage_data.values():
                for entry in entries:
                    read = entry.get("prompt_tokens") or entry.get("input_tokens") or 0
                    written = entry.get("completion_tokens") or entry.get("output_tokens") or 0
                    self._budget.count(tokens_in=read, tokens_out=written)
