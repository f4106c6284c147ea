"""`psopt.measure`: what a model answers a prompt under rephrasings; all verbs that measure and don't search call it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.answers import AnswerType
from psopt.api._progress import reading
from psopt.api._prompts import prompt_for
from psopt.errors import InputError
from psopt.evaluation import evaluate, rephrased_prompts
from psopt.models import ModelProvider
from psopt.models.chat import Budget
from psopt.rephrasings import freeze_rephrasings
from psopt.settings import MeasureOptions, built, check_keywords
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from psopt.api._prompts import AnyPrompt
    from psopt.evaluation import Predictions
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions
    from psopt.tasks import Sample, Task


def measure(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Predictions:
    """Let a model answer samples under rephrasings of a prompt.

    Parameters
    ----------
    task : Task
    prompt : Prompt, path, str or list of messages, optional
        A prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a brace, or chat messages; by
        default the original prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, where it does not say so itself.
    model : str, callable, dspy.LM or Model
        A name; a function that takes chat messages and returns the answer's text, at once or as a coroutine; or a
        model that is made already.
    strategy : {"simple", "detail", "1-shot"}
        What the original prompt holds.
    options : MeasureOptions, optional
        On what it is measured.
    on_progress : callable, optional
    progress : bool, optional
        Show a bar; by default in notebooks and terminals, and nowhere where there is an `on_progress`.
    **settings
        Of `MeasureOptions` by name: ``rephrasings``, ``split``, ``samples``, ``seed``, ``cache_dir``, ``lm`` and
        ``rephrasing``; and what those two hold, such as ``max_calls``.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    options = measure_options(settings, options)
    asked = prompt_for(task, prompt, strategy, options.seed, prompt_options)
    with reading(on_progress, progress) as on_reading:
        return predict(task, asked, model, options, models_of(options), on_reading)


def measure_options(settings: Mapping[str, Any], options: MeasureOptions | None = None) -> MeasureOptions:
    """On what a verb measures: as its keywords say, else its options.

    Raises InputError if there is no such keyword.
    """
    check_keywords(settings, MeasureOptions)
    return built(MeasureOptions, settings, options)


def models_of(options: MeasureOptions) -> ModelProvider:
    """Where the models of a measurement come from."""
    return ModelProvider(options.cache_dir, options.lm)


def predict(
    task: Task,
    prompt: Prompt,
    model: Any,
    options: MeasureOptions,
    models: ModelProvider,
    on_progress: OnProgress | None = None,
    *,
    further: Sequence[Sample] = (),
) -> Predictions:
    """Do what `measure` promises, of `further` samples too; measurements by the same provider share its budget."""
    chosen = [*chosen_samples(task, options), *further]
    frozen = _freeze(task, prompt, options, models)
    answering = models.answering(model, task)
    texts, forms = frozen.on(options.split)
    return evaluate(
        answering,
        prompt,
        texts,
        chosen,
        on_progress,
        from_probabilities=options.lm.logprobs and not task.spec.is_open,
        forms=forms,
        answer_type=AnswerType.of(task),
    )


def chosen_samples(task: Task, options: MeasureOptions) -> tuple[Sample, ...]:
    """The samples that a prompt is measured on."""
    return subset(_samples(task, options.split), options.samples, seed=options.seed, by_label=not task.spec.is_open)


def grids(
    task: Task, prompt: Prompt, models: Sequence[Any], options: MeasureOptions, further: Sequence[Sample] = ()
) -> Iterator[tuple[Model, list[Prompt], list[str]]]:
    """Yield what `measure` would ask each model: the rephrased prompts and the texts; nothing is sent.

    Where a model writes the rephrasings, those of rules stand for them.
    """
    unlimited = ModelProvider(options.cache_dir, options.lm, Budget())
    frozen = _freeze(task, prompt, replace(options, rephrasing=options.rephrasing.by_rule()), unlimited)
    chosen = [*chosen_samples(task, options), *further]
    prompts = rephrased_prompts(prompt, *frozen.on(options.split))
    for model in models:
        yield unlimited.answering(model, task), prompts, [sample.text for sample in chosen]


def _freeze(task: Task, prompt: Prompt, options: MeasureOptions, models: ModelProvider) -> RephrasingSet:
    on_test = options.split == "test"
    n_search = 1 if on_test else options.rephrasings
    n_heldout = options.rephrasings if on_test else 1
    return freeze_rephrasings(task, prompt, n_search, n_heldout, options.seed, options.rephrasing, models=models)


def _samples(task: Task, split: str) -> tuple[Sample, ...]:
    splits = {
        "train": task.train,
        "val": task.val,
        "test": task.test,
        "all": (*task.train, *task.val, *task.test),
    }
    if split not in splits:
        raise InputError(f"split must be train, val, test or all, not {split!r}")
    return splits[split] or splits["all"]
