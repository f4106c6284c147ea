"""A DSPy program of the user's by its name, with the data and the model of the command line."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._optimizer import SensitivityOptimizer
from psopt.errors import InputError, import_extra
from psopt.models import cache_folder
from psopt.models.chat import CHAT_KINDS
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.api import Run
    from psopt.runs import RunSettings
    from psopt.search import Observer
    from psopt.tasks import Sample, Task


def load_program(name: str) -> Any:
    """Import ``module:attribute``, a `dspy.Module` or what makes one when called; the working directory counts.

    Raises
    ------
    InputError
        If there is none.
    """
    dspy = import_extra("dspy", "--program", "dspy")
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InputError(f"--program {name!r} is not of the form module:attribute")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except Exception as error:  # whatever the user's module does when it is imported
        raise InputError(f"--program {name}: importing {module} failed: {type(error).__name__}: {error}") from error
    if not hasattr(found, attribute):
        raise InputError(f"--program {name}: {module} has no {attribute!r}")
    program = getattr(found, attribute)
    if not isinstance(program, dspy.Module) and callable(program):
        program = program()
    if not isinstance(program, dspy.Module):
        raise InputError(f"--program {name} is no dspy.Module but a {type(program).__name__}")
    return program


def optimize_program(
    task: Task,
    settings: RunSettings,
    *,
    out: Path | None = None,
    cache_dir: str | Path | None = None,
    observer: Observer | None = None,
    force: bool = False,
) -> Run:
    """Do what `psopt optimize --program` promises; a run in `out` is gone on with, if `force` also one that differs.

    Raises
    ------
    PsoptError
        If the program can't be loaded, does not fit the data, or its model fails.
    """
    _check_options(settings)
    program = load_program(str(settings.program))
    field, label = _fields(program)
    optimizer = SensitivityOptimizer(
        settings.trials,
        settings.rephrasings,
        task_model=_language_model(task, settings, cache_dir),
        judge_model=settings.judge,
        lm=settings.lm,
        cache_dir=cache_dir,
        label_field=label,
        seed=settings.seed,
        log_dir=out,
        num_threads=settings.lm.concurrency,
    )
    optimizer.settings, optimizer.like, optimizer.force = settings, task, force
    optimizer.rephraser, optimizer.proposer = _writer(settings.rephraser), _writer(settings.proposer)
    train, val = (subset(samples, settings.samples, seed=settings.seed) for samples in (task.train, task.val))
    better = optimizer.compile(
        program,
        trainset=_examples(train, field, label),
        valset=_examples(val, field, label),
        testset=_examples(task.test, field, label),
        observer=observer,
    )
    run: Run = better.run
    return run


def _fields(program: Any) -> tuple[str, str]:
    """The program's one input, by its first step, and its outcome."""
    from psopt.dspy_programs._outcome import find_outcome

    steps = list(program.named_predictors())
    outcome = find_outcome(program, [], None, None)
    inputs = list(steps[0][1].signature.input_fields)
    if len(inputs) != 1:
        raise InputError(
            f"the program's first step reads {', '.join(inputs)}, but a data file gives one text: "
            "optimize it in Python, with psopt.SensitivityOptimizer"
        )
    return inputs[0], outcome.field


def _examples(samples: Sequence[Sample], field: str, label: str) -> list[Any]:
    import dspy

    return [dspy.Example({field: one.text, label: one.label}).with_inputs(field) for one in samples]


def _language_model(task: Task, settings: RunSettings, cache_dir: str | Path | None) -> Any:
    """The model of --model: the embedded one as a `dspy.LM`, others by their name."""
    if settings.model == "minilm":
        from psopt.models import minilm_lm

        texts = [sample.text for sample in task.train]
        return minilm_lm(texts, cache_dir=cache_folder(cache_dir), cache=False)
    kind, _, name = settings.model.partition("/")
    if kind not in CHAT_KINDS or not name:
        raise InputError(
            f"--program needs a language model: minilm, openai/NAME, azure/NAME or dspy/NAME, not {settings.model!r}"
        )
    return settings.model


def _writer(model: str | None) -> str | None:
    """A model that writes; None where rules do."""
    return None if model == "rules" else model


def _check_options(settings: RunSettings) -> None:
    """Refuse what means nothing for a program.

    Raises
    ------
    InputError
        Naming the option.
    """
    meaningless = {
        "--logprobs": settings.lm.logprobs,
        "--rephrasings-file": settings.rephrasings_file is not None,
        "--vary": settings.vary != "paraphrase",
        "--strategy": settings.strategy != "simple",
    }
    for option, is_given in meaningless.items():
        if is_given:
            raise InputError(f"{option} means nothing for a --program: its instructions are its own; leave it out")
