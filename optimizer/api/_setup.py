"""What a run is made of: its models, and what all prompts are compared on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.evaluation import Evaluator, Split
from psopt.proposals.llm import LLMProposer
from psopt.rephrasings import freeze_rephrasings
from psopt.runs import N_HELDOUT, REPHRASINGS
from psopt.tasks import subset

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models import ModelProvider
    from psopt.rephrasings import RephrasingOptions, RephrasingSet
    from psopt.runs import RunSettings
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


def rephrasing_again(options: RephrasingOptions, folder: Path) -> RephrasingOptions:
    """Where the rephrasings of a run that is resumed come from: they are those that it has had, if it has had any."""
    kept = folder / REPHRASINGS
    return replace(options, file=kept) if kept.exists() else options


def freeze_for(
    task: Task, baseline: Prompt, settings: RunSettings, options: RephrasingOptions, models: ModelProvider
) -> RephrasingSet:
    """Freeze the rephrasings that all prompts of a run are put to."""
    return freeze_rephrasings(task, baseline, settings.rephrasings, N_HELDOUT, settings.seed, options, models=models)


def make_evaluator(
    task: Task, settings: RunSettings, models: ModelProvider, rephrasings: RephrasingSet, model: Any = None
) -> Evaluator:
    """Put together what all prompts are compared on: a model, by default the settings', rephrasings, and samples."""
    answering = models.answering(model or settings.model, task)
    samples = _split_samples(task, settings)
    return Evaluator(answering, rephrasings, samples, from_probabilities=settings.lm.logprobs, budget=models.budget)


def make_proposer(settings: RunSettings, models: ModelProvider) -> LLMProposer | None:
    """Make what drafts edits beside the rules, where there is a model for that."""
    return LLMProposer(models.writer(settings.proposer)) if settings.has_proposer else None


def _split_samples(task: Task, settings: RunSettings) -> dict[Split, tuple[Sample, ...]]:
    """The samples that prompts are compared on: train and val cut to the settings' number, test whole."""

    def cut(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
        return subset(samples, settings.samples, seed=settings.seed)

    return {"train": cut(task.train), "val": cut(task.val), "test": task.test}
