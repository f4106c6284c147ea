"""Progress of a compilation: lines through DSPy's own logger, and a bar."""

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


# A child of DSPy's logger, so that dspy.enable_logging and dspy.disable_logging apply to it.
_LOGGER = logging.getLogger("dspy.teleprompt.psopt")


class ProgressLine(SearchBar):
    """Logs expectations, progress and results next to the bar; reports trials to DSPy's callbacks."""

    def __init__(self) -> None:
        super().__init__(progress_bar(None))

    def started(self, task: Task, folder: Path) -> None:
        """Say what is searched, and where the run is written."""
        _LOGGER.info("psopt: %s, written to %s", task.name, folder)
        super().started(task, folder)

    def phase(self, what: str) -> None:
        """Say what is being done."""
        _LOGGER.info("psopt: %s", what)
        super().phase(what)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        val = candidate.val
        scores = f"{val.quality_name} {val.f1:.3f} S {val.sensitivity:.3f}"
        if val.consistency is not None:
            scores += f" C {val.consistency:.3f}"
        _LOGGER.debug("psopt: trial %d of %d, %s: %s", n_done, n_total, candidate.id, scores)
        super().trial(candidate, n_done, n_total)
        # An evaluation is reported after it ends, since its parts run together with those of others.
        inputs = {"program": candidate.id, "edits": [str(edit) for edit in candidate.edits]}
        outputs = {"score": val.f1, "sensitivity": val.sensitivity, "consistency": val.consistency}
        call_id = uuid.uuid4().hex
        for callback in dspy.settings.callbacks:
            callback.on_evaluate_start(call_id=call_id, instance=None, inputs=inputs)
            callback.on_evaluate_end(call_id=call_id, outputs=outputs, exception=None)
