"""What is seen of a compilation: lines through DSPy's own logger, and a bar where there is a terminal or a notebook."""

from __future__ import annotations

import logging
import sys
import uuid
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._dspy import dspy
from psopt.search import Observer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search import Candidate
    from psopt.tasks import Task

# A child of DSPy's logger, so that dspy.enable_logging and dspy.disable_logging hold for it.
_LOGGER = logging.getLogger("dspy.teleprompt.psopt")


class ProgressLine(Observer):
    """Logs what is expected, what goes on and what has come of it; shows trials on a bar, and F1, S and C of the last.

    The bar has a step more than there are trials: it is full when the final test is over, too.
    """

    def __init__(self) -> None:
        self._bar: Any = None

    def started(self, task: Task, folder: Path) -> None:
        """Begin the bar."""
        from tqdm.auto import tqdm

        _LOGGER.info("psopt: %s, written to %s", task.name, folder)
        self._bar = tqdm(desc=f"psopt: {task.name}", unit=" trials", disable=None, file=sys.stderr)

    def phase(self, what: str) -> None:
        """Say what is done now."""
        _LOGGER.info("psopt: %s", what)
        if self._bar is not None:
            self._bar.set_postfix_str(what[:60])

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        val = candidate.val
        of_consistency = "" if val.consistency is None else f" C {val.consistency:.3f}"
        scores = f"{val.quality_name} {val.f1:.3f} S {val.sensitivity:.3f}{of_consistency}"
        if self._bar is not None:
            self._bar.total = n_total + 1
            self._bar.update(n_done - self._bar.n)
            self._bar.set_postfix_str(scores)
        _LOGGER.debug("psopt: trial %d of %d, %s: %s", n_done, n_total, candidate.id, scores)
        _tell_callbacks(candidate)

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.total = max(self._bar.total or 0, self._bar.n)
            self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()


def _tell_callbacks(candidate: Candidate) -> None:
    """Tell DSPy's callbacks of an evaluation, when it is over: its parts are asked together with those of others."""
    val = candidate.val
    call_id = uuid.uuid4().hex
    scores = {"score": val.f1, "sensitivity": val.sensitivity, "consistency": val.consistency}
    for callback in dspy.settings.callbacks:
        edits = [str(edit) for edit in candidate.edits]
        callback.on_evaluate_start(call_id=call_id, instance=None, inputs={"program": candidate.id, "edits": edits})
        callback.on_evaluate_end(call_id=call_id, outputs=scores, exception=None)
