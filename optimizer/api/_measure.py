"""From a task, a prompt and a model to predictions, for commands that measure and don't search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError
from psopt.evaluation import evaluate, rephrased_prompts
from psopt.models import ModelProvider
from psopt.models.chat import Budget, LMConfig
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from psopt.evaluation import Predictions
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
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
    words : RephrasingOptions
        Where rephrasings come from, and of which families they are.
    cache_dir : path or None
    """

    rephrasings: int = 10
    split: SplitChoice = "test"
    samples: int = 500
    seed: int = 42
    lm: LMConfig = field(default_factory=LMConfig)
    words: RephrasingOptions = field(default_factory=RephrasingOptions)
    cache_dir: str | Path | None = None

    def models(self) -> ModelProvider:
        """Where the models of a measurement come from."""
        return ModelProvider(self.cache_dir, self.lm)


def measure(
    task: Task,
    prompt: Prompt,
    model: Any,
    options: MeasureOptions,
    on_progress: OnProgress | None = None,
    models: ModelProvider | None = None,
) -> Predictions:
    """Let a model answer a split of a task under rephrasings of a prompt.

    `models` makes the models, so that several measurements can share a budget; by default as the options say.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    models = models or options.models()
    chosen = subset(_samples(task, options.split), options.samples, seed=options.seed)
    frozen = _frozen(task, prompt, options, models)
    answering = models.answering(model, task)
    texts, forms = frozen.on(options.split)
    return evaluate(answering, prompt, texts, chosen, on_progress, from_probabilities=options.lm.logprobs, forms=forms)


def grids(
    task: Task, prompt: Prompt, models: Sequence[Any], options: MeasureOptions
) -> Iterator[tuple[Model, list[Prompt], list[str]]]:
    """Yield what `measure` would ask each model: the rephrased prompts and the texts; nothing is sent.

    Where a model writes the rephrasings, those of rules stand for them.
    """
    provider = ModelProvider(options.cache_dir, options.lm, Budget())
    by_rule = replace(options, words=replace(options.words, rephraser=None, judge=None))
    frozen = _frozen(task, prompt, by_rule, provider)
    chosen = subset(_samples(task, options.split), options.samples, seed=options.seed)
    for model in models:
        answering = provider.answering(model, task)
        yield answering, rephrased_prompts(prompt, *frozen.on(options.split)), [sample.text for sample in chosen]


def _frozen(task: Task, prompt: Prompt, options: MeasureOptions, models: ModelProvider) -> RephrasingSet:
    on_test = options.split == "test"
    return freeze_rephrasings(
        task,
        prompt.description,
        1 if on_test else options.rephrasings,
        options.rephrasings if on_test else 1,
        options.seed,
        options.words,
        models=models,
    )


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
