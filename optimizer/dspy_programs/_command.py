"""`psopt optimize --program`: a DSPy program with the data and the models of the command line."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._compilation import Compilation
from psopt.dspy_programs._compile import compile_program
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import Given
from psopt.dspy_programs._outcome import find_outcome
from psopt.errors import InputError, first_line, import_own
from psopt.models import ModelProvider
from psopt.runs import cache_of
from psopt.tasks import as_value
from psopt.tracking import tracked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.runs import Run, RunSettings
    from psopt.search import Observer
    from psopt.tasks import AnswerSpec, Sample, Task


_OF_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def optimize_program(
    task: Task,
    settings: RunSettings,
    *,
    out: Path | None = None,
    cache_dir: str | Path | None = None,
    observer: Observer | None = None,
    force: bool = False,
) -> Run:
    """Run `psopt optimize --program`; a run in `out` is resumed, with `force` even one that differs.

    Raises PsoptError if the program cannot be loaded, does not fit the data, or its model fails.
    """
    _check_options(settings)
    program = load_program(str(settings.program))
    input_field, label_field = _fields(program, task)
    models = ModelProvider(cache_of(out, cache_dir), settings.lm)
    settings = replace(settings, cache_dir=str(models.cache_dir.absolute()))
    tracking = tracked(observer, settings.log, (), models.budget)
    rephrasing = settings.rephrasing
    compilation = Compilation(
        settings=settings,
        models=models,
        task_model=_language_model(task, settings, models),
        rephraser=rephrasing.rephraser if rephrasing.rephraser_writes else None,
        judge=rephrasing.judge,
        proposer=settings.writer,
        uses_engine=True,
        n_threads=settings.lm.concurrency,
        observer=tracking,
        folder=out,
        force=force,
        task=task,
        label_field=label_field,
    )
    most = {"train": settings.train_samples or settings.samples, "val": settings.samples, "test": settings.test_samples}
    splits = {}
    for split, n in most.items():
        of_split: Sequence[Sample] = getattr(task, split)
        samples = task.subset(of_split, n or len(of_split), seed=settings.seed)
        splits[split] = _examples(samples, input_field, label_field, task.spec)
    with tracking:
        return compile_program(program, splits, compilation).run


def _fields(program: Any, task: Task) -> tuple[str, str]:
    """The program's only input, and its outcome."""
    outcome = find_outcome(program, [], None, None, task.spec if task.spec.is_open else None)
    inputs = _inputs(program)
    if len(inputs) != 1:
        raise InputError(
            f"the program reads {', '.join(inputs) or 'nothing'}, but a data file gives one text: "
            "optimize it in Python, with psopt.SensitivityOptimizer"
        )
    return inputs[0], outcome.field


def _inputs(program: Any) -> list[str]:
    """The parameters that a program needs; if it takes any, as DSPy's own modules do, the inputs of its first step."""
    kind = type(program)  # an instance would warn
    forward = getattr(kind, "forward", getattr(kind, "aforward", dspy.Predict.forward))
    parameters = list(inspect.signature(forward).parameters.values())[1:]  # without self
    named = [parameter for parameter in parameters if parameter.kind not in _OF_ANY]
    if not named:
        first_step = next(predictor for _, predictor in program.named_predictors())
        return list(first_step.signature.input_fields)
    required = [parameter for parameter in named if parameter.default is parameter.empty]
    return [parameter.name for parameter in required or named]


def _examples(samples: Sequence[Sample], input_field: str, label_field: str, spec: AnswerSpec) -> list[Given]:
    entries = []
    for sample in samples:
        fields = {input_field: sample.text, label_field: as_value(sample.label, spec)}
        entries.append(Given(dspy.Example(fields).with_inputs(input_field), sample.id))
    return entries


def _language_model(task: Task, settings: RunSettings, models: ModelProvider) -> Any:
    """The model of --model: the embedded one as a `dspy.LM`, others by name."""
    if settings.model != "minilm":
        return settings.model
    from psopt.models import minilm_lm  # needs an optional dependency

    return minilm_lm([sample.text for sample in task.train], cache_dir=models.cache_dir, cache=False)


def _check_options(settings: RunSettings) -> None:
    """Refuse options that mean nothing for a program; raises InputError, which names the option."""
    meaningless = {
        "--logprobs": settings.lm.logprobs,
        "--batch": settings.lm.batch,
        "--rephrasings-file": settings.rephrasing.file is not None,
        "--vary": settings.rephrasing.families != ("paraphrase",),
        "--strategy": settings.strategy != "simple",
        "--prompt": settings.prompt is not None,
    }
    for option, is_given in meaningless.items():
        if is_given:
            raise InputError(f"{option} means nothing for a --program: its instructions are its own; leave it out")


def load_program(name: str) -> Any:
    """Import ``module:attribute``, a `dspy.Module` or a callable that makes one; raises InputError if there is none."""
    program = import_own(name, "--program")
    if not isinstance(program, dspy.Module) and callable(program):
        try:
            program = program()
        except Exception as error:
            raise InputError(
                f"--program {name}: calling it without arguments failed: {type(error).__name__}: {first_line(error)}"
            ) from error
    if not isinstance(program, dspy.Module):
        raise InputError(f"--program {name} is no dspy.Module but a {type(program).__name__}")
    return program
