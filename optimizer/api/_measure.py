"""`psopt.measure`: what a model answers a prompt under rephrasings; all verbs that measure and don't search call it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.answers import AnswerType
from psopt.api._progress import reading
from psopt.api._prompts import prompt_for
from psopt.errors import InputError
from psopt.evaluation import evaluate, rephrased_prompts
from psopt.models import ModelProvider
from psopt.models.chat import Budget, LMConfig
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.evaluation import Predictions
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.runs import PromptOptions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

SplitChoice = Literal["train", "val", "test", "all"]


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """On what a prompt is measured.

    Attributes
    ----------
    rephrasings : int
        Q. On test they are the held-out ones, elsewhere the search ones with the original among them, as in a run.
    split : str
        ``train``, ``val``, ``test`` or ``all``. Data without labels are one split, and used whole.
    samples : int
        At most so many samples, stratified.
    seed : int
    lm : LMConfig
    rephrasing : RephrasingOptions
        Where rephrasings come from, and of which families they are.
    cache_dir : path or None
    """

    rephrasings: int = 10
    split: SplitChoice = "test"
    samples: int = 500
    seed: int = 42
    lm: LMConfig = field(default_factory=LMConfig)
    rephrasing: RephrasingOptions = field(default_factory=RephrasingOptions)
    cache_dir: str | Path | None = None

    def keywords(self) -> dict[str, Any]:
        """The same as verbs take them."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

    def models(self) -> ModelProvider:
        """Where the models of a measurement come from."""
        return ModelProvider(self.cache_dir, self.lm)


def measure(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    rephrasings: int = 10,
    rephrasing: RephrasingOptions | None = None,
    split: SplitChoice = "test",
    samples: int = 500,
    strategy: str = "simple",
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
) -> Predictions:
    """Let a model answer samples under rephrasings of a prompt.

    Parameters
    ----------
    task : Task
    prompt : Prompt, path, str or list of messages, optional
        A prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a brace, or chat messages; by
        default the seed prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, where it does not say so itself.
    model : str, callable, dspy.LM or Model
        A name; a function that takes chat messages and returns the answer's text, at once or as a coroutine; or a
        model that is made already.
    rephrasings, rephrasing, split, samples, seed, lm, cache_dir
        See `MeasureOptions`.
    on_progress : callable, optional
    progress : bool, optional
        Show a bar; by default in notebooks and terminals, and nowhere where there is an `on_progress`.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    options = measure_options(rephrasings, split, samples, seed, lm, rephrasing, cache_dir)
    asked = prompt_for(task, prompt, strategy, seed, prompt_options)
    with reading(on_progress, progress) as on_reading:
        return predict(task, asked, model, options, options.models(), on_reading)


def measure_options(
    rephrasings: int,
    split: SplitChoice,
    samples: int,
    seed: int,
    lm: LMConfig | None,
    rephrasing: RephrasingOptions | None,
    cache_dir: str | Path | None,
) -> MeasureOptions:
    """What a verb was given, as one value."""
    lm = lm or LMConfig()
    return MeasureOptions(rephrasings, split, samples, seed, lm, rephrasing or RephrasingOptions(), cache_dir)


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
