"""What Python callers see: messages with arguments instead of options, lines through DSPy's own logger, and a bar."""

from __future__ import annotations

import contextlib
import logging
import re
import traceback
import uuid
from dataclasses import fields
from typing import TYPE_CHECKING

from psopt.api import SearchBar
from psopt.dspy_programs._dspy import dspy
from psopt.errors import PsoptError
from psopt.models.chat import LMConfig
from psopt.notebooks import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.search import Candidate
    from psopt.tasks import Task


_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z-]+)(?:[ =](\d[\w.%]*|(?<=gate )\w+|(?<=answers )[\w:.+-]+|(?<=pick )\w+))?"
)
_RESUME = re.compile(r"`psopt resume ([^`]+)`")
_OF_DATA = {"answers", "order", "heldout_from"}
_OWN = {"max_calls", "max_errors", "max_prompt_tokens", "gate", "gate_margin", "pick", "storage", "seed"} | _OF_DATA
_RENAMED = {
    "out": "log_dir",
    "trials": "num_trials",
    "rephrasings": "num_rephrasings",
    "model": "task_model",
    "proposer": "prompt_model",
    "rephraser": "prompt_model",
    "judge": "judge_model",
}
_OF_LM = frozenset(setting.name for setting in fields(LMConfig))


def python_words(text: str) -> str:
    """Rewrite the options in a message as arguments of `SensitivityOptimizer`.

    >>> python_words("Not tested (--gate off): raise --max-calls 100, or --timeout")
    "Not tested (gate='off'): raise max_calls=100, or lm=LMConfig(timeout=..)"
    >>> python_words("resume with `psopt resume runs/a b`")
    "resume with the same call and log_dir='runs/a b'"
    """
    text = _RESUME.sub(lambda match: f"the same call and log_dir={match[1]!r}", text)
    return _OPTION.sub(_argument, text)


@contextlib.contextmanager
def in_python_words(*, with_traceback: bool = False) -> Iterator[None]:
    """Rewrite psopt's errors for Python; on request with the traceback of their cause."""
    try:
        yield
    except PsoptError as error:
        error.args = (python_words(str(error)),)
        if with_traceback and error.__cause__ is not None:
            error.add_note("".join(traceback.format_exception(error.__cause__)))
        raise


def _argument(match: re.Match[str]) -> str:
    name = match[1].replace("-", "_")
    name = _RENAMED.get(name, name)
    value = match[2] or ""
    if value and not re.fullmatch(r"[\d.]+", value):
        value = repr(value)
    if name in _OWN or name in _RENAMED.values():
        return f"{name}={value}".removesuffix("=")
    if name in _OF_LM:
        return f"lm=LMConfig({name}={value or '..'})"
    return match[0]


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
