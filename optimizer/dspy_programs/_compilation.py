"""The arguments of `SensitivityOptimizer`: checked, named by messages, and handed to a compilation."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._lm import counted_lm, is_counted
from psopt.dspy_programs._outcome import n_extra_arguments
from psopt.errors import InputError, UnknownNameError, nearest
from psopt.evaluation import OBJECTIVES
from psopt.models.chat import LMConfig
from psopt.settings import in_python
from psopt.tasks import ORDINAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from psopt.dspy_programs._outcome import Equivalence, Metric
    from psopt.models import ModelProvider
    from psopt.runs import RunSettings
    from psopt.search import Observer
    from psopt.tasks import Task


Auto = Literal["light", "medium", "heavy"]
# MIPROv2 takes 670 and 1,181 calls for 100 + 100 examples of a one-step program, GEPA's light 871, bootstrapped random
# search 1,974. S needs answers under several wordings, so this is about the least that it costs.
AUTO_CALLS: dict[Auto, int] = {"light": 1_950, "medium": 4_900, "heavy": 19_500}
"""The maximum number of language model calls."""
_OWN = {
    *("max_calls", "max_errors", "max_prompt_tokens", "gate", "gate_margin", "pick", "storage", "seed"),
    *("answers", "order", "heldout_from"),
}
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
    return in_python(text, _argument, "the same call and log_dir={folder!r}")


def _argument(flag: str, value: str) -> str:
    name = flag.replace("-", "_")
    name = _RENAMED.get(name, name)
    if name in _OWN or name in _RENAMED.values():
        return f"{name}={value}".removesuffix("=")
    if name in _OF_LM:
        return f"lm=LMConfig({name}={value or '..'})"
    return ""


# Arguments of `compile`: the last two have no effect
_TAKEN = ("num_trials", "seed", "max_errors", "num_threads", "provide_traceback", "requires_permission_to_run")
_OF_OTHER_OPTIMIZERS = {  # by patterns of their names
    "max_*_demos": "how many demonstrations there are is searched for",
    "minibatch*": "racing decides how much of the valset a program is asked about",
    "*_aware_proposer": "give prompt_model=.. to let a model propose",
    "view_data_batch_size": "give prompt_model=.. to let a model propose",
    "eval_kwargs": "num_threads=.. and max_errors=.. are arguments of their own",
    "restrict": "give the sets that are to be used",
    "labeled_sample": "give the sets that are to be used",
}
_LEAST = {
    "num_trials": 1,
    "num_rephrasings": 2,
    "num_threads": 1,
    "seed": 0,
    "max_calls": 0,
    "max_errors": 0,
    "max_prompt_tokens": 1,
}
_IS_MODEL = (lambda value: isinstance(value, (str, dspy.BaseLM))), "a name or a dspy.LM, not {}"
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "equivalence": (callable, "a function of two answers, not {}"),
    "label_field": (lambda value: isinstance(value, str), "the name of one output, not {}"),
    "lm": (lambda value: isinstance(value, LMConfig), "a psopt.LMConfig, not {}; name the model with task_model=.."),
    "order": (lambda value: not isinstance(value, str), "a list of labels from lowest to highest, not the text {}"),
    "task_model": _IS_MODEL,
    "judge_model": _IS_MODEL,
    "auto": (AUTO_CALLS.__contains__, f"one of {', '.join(AUTO_CALLS)} or None, not {{}}"),
}
_PICKS = ("recommended", "knee", "short", *OBJECTIVES)
_ID_OR_QUERY = r"[0-9a-f]{4,}|.* .*"  # see `psopt.Run.pick`


def check_values(optimizer: Any) -> None:
    """Refuse invalid settings of a `SensitivityOptimizer`; raises InputError, which names the argument."""
    for name, least in _LEAST.items():
        value = getattr(optimizer, name)
        if value is None and name != "seed":
            continue
        if not isinstance(value, Integral) or value < least:
            raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    if optimizer.metric is not None:
        n_extra_arguments(optimizer.metric)  # refuses what is no metric
    for name, (is_allowed, allowed) in _ALLOWED.items():
        value = getattr(optimizer, name)
        if value is not None and not is_allowed(value):
            raise InputError(f"{name} must be {allowed.format(repr(value))}")
    if optimizer.pick not in _PICKS and not re.fullmatch(_ID_OR_QUERY, str(optimizer.pick)):
        raise UnknownNameError("pick", str(optimizer.pick), _PICKS)
    if optimizer.answers == ORDINAL and optimizer.metric is not None:
        raise InputError("a metric says what an answer is worth, and so does answers='ordinal': give one of them")
    if optimizer.auto is not None and (optimizer.num_trials, optimizer.num_rephrasings) != (None, None):
        raise InputError("auto sets num_trials and num_rephrasings: give it, or them")


def check_modules(student: Any, teacher: Any) -> None:
    """Refuse what is no program; raises InputError."""
    for name, program in (("student", student), ("teacher", teacher)):
        if not isinstance(program, dspy.Module) and (name == "student" or program is not None):
            raise InputError(f"the {name} is no dspy.Module but a {type(program).__name__}")


def check_names(arguments: Iterable[str]) -> None:
    """Refuse arguments of `compile` that mean nothing here; raises InputError, which names the argument."""
    for name in arguments:
        for pattern, reason in _OF_OTHER_OPTIMIZERS.items():
            if fnmatch(name, pattern):
                raise InputError(f"compile: {name} means nothing to SensitivityOptimizer: {reason}")
        if name not in _TAKEN:
            raise InputError(f"compile does not know {name}{nearest(name, _TAKEN)}")
