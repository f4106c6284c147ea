"""The inputs of a program's compilation; and messages for Python callers, with arguments instead of options."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._lm import counted_lm, is_counted
from psopt.errors import PsoptError
from psopt.models.chat import LMConfig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.dspy_programs._outcome import Equivalence, Metric
    from psopt.models import ModelProvider
    from psopt.runs import RunSettings
    from psopt.search import Observer
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Compilation:
    """The inputs of a program's compilation."""

    # As in run.json. For a program that was given in Python the data set, the model and the number of samples are
    # filled in.
    settings: RunSettings
    models: ModelProvider
    # None: the model of DSPy's settings, rules, none, rules
    task_model: Any
    rephraser: Any
    judge: Any
    proposer: Any
    uses_engine: bool  # whether even a `dspy.LM` is asked through psopt's engine; named ones always are
    n_threads: int
    observer: Observer
    # The run directory; an existing run is resumed, with `force` even one that differs
    folder: Path | None = None
    force: bool = False
    task: Task | None = None  # the source of the examples; the run takes its name, definitions and origin
    label_field: str | None = None
    metric: Metric | None = None
    equivalence: Equivalence | None = None
    teacher: Any = None
    max_errors: int = 0  # on how many texts the program or the metric may fail
    # The number of language model calls for which sizes are chosen; None if the settings have sizes
    most_calls: int | None = None

    @property
    def is_python(self) -> bool:
        """Whether the program was given in Python, not on the command line."""
        return self.settings.program == "python"

    def tell(self, line: str) -> None:
        """Show a line, if it is not empty; options in it are arguments in Python."""
        if line:
            self.observer.phase(python_words(line) if self.is_python else line)

    def as_asked(self, lm: Any) -> Any:
        """A language model in the form it is asked: through psopt's engine, or at least without DSPy's cache."""
        if isinstance(lm, str):
            return counted_lm(lm, self.models)
        if self.uses_engine and not is_counted(lm) and lm.model != "psopt/minilm":  # the embedded one needs no engine
            return counted_lm(lm, self.models)
        if getattr(lm, "cache", False):
            return lm.copy(cache=False)  # the key of DSPy's cache does not hold the server
        return lm


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
def in_python_words() -> Iterator[None]:
    """Rewrite psopt's errors for Python."""
    try:
        yield
    except PsoptError as error:
        error.args = (python_words(str(error)),)
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
