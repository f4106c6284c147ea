"""What is seen of a compilation: lines through DSPy's own logger, and a bar where there is a terminal or a notebook."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from psopt.api import SearchBar
from psopt.dspy_programs._dspy import dspy
from psopt.notebooks import progress_bar

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search import Candidate
    from psopt.tasks import Task

# A child of DSPy's logger, so that dspy.enable_logging and dspy.disable_logging hold for it.
_LOGGER = logging.getLogger("dspy.teleprompt.psopt")


class ProgressLine(SearchBar):
    """Logs what is expected, what goes on and what has come of it, beside the bar; tells DSPy's callbacks of trials."""

    def __init__(self) -> None:
        super().__init__(progress_bar(None))

    def started(self, task: Task, folder: Path) -> None:
        """Say what is searched, and where it is written."""
        _LOGGER.info("psopt: %s, written to %s", task.name, folder)
        super().started(task, folder)

    def phase(self, what: str) -> None:
        """Say what is done now."""
        _LOGGER.info("psopt: %s", what)
        super().phase(what)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        val = candidate.val
        of_consistency = "" if val.consistency is None else f" C {val.consistency:.3f}"
        scores = f"{val.quality_name} {val.f1:.3f} S {val.sensitivity:.3f}{of_consistency}"
        _LOGGER.debug("psopt: trial %d of %d, %s: %s", n_done, n_total, candidate.id, scores)
        super().trial(candidate, n_done, n_total)
        _tell_callbacks(candidate)


def _tell_callbacks(candidate: Candidate) -> None:
    """Tell DSPy's callbacks of an evaluation, when it is over: its parts are asked together with those of others."""
    val = candidate.val
    call_id = uuid.uuid4().hex
    scores = {"score": val.f1, "sensitivity": val.sensitivity, "consistency": val.consistency}
    for callback in dspy.settings.callbacks:
        edits = [str(edit) for edit in candidate.edits]
        callback.on_evaluate_start(call_id=call_id, instance=None, inputs={"program": candidate.id, "edits": edits})
        callback.on_evaluate_end(call_id=call_id, outputs=scores, exception=None)
