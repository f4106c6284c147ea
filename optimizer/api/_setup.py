"""What a run is made of: its models, the evaluator that holds what all prompts are compared on, and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from psopt.answers import AnswerType
from psopt.errors import InputError
from psopt.evaluation import Evaluator, Split
from psopt.models import MOST_LABELLED, LabelledTexts, Model, ModelProvider, calibrates
from psopt.proposals.llm import LLMProposer
from psopt.rephrasings import RephrasingOptions, RephrasingSet, freeze_rephrasings, read_file
from psopt.runs import REPHRASINGS, RunSettings
from psopt.search_spaces import CALIBRATE, apply_edits
from psopt.settings import DataOptions, RunOptions, SizeOptions, built, check_keywords, leaves, models_name
from psopt.tasks import Sample, Task, subset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def rephrasing_again(options: RephrasingOptions, folder: Path) -> RephrasingOptions:
    """Where the rephrasings of a resumed run come from: it keeps those that it has had, if any."""
    path = folder / REPHRASINGS
    if not path.exists():
        return options
    try:
        read_file(path)
    except InputError as error:
        raise InputError(f"{error}; restore the file, or remove it to have them made again") from error
    return options.frozen_in(path)


def each_model(models: Any) -> Sequence[Any]:
    """The models of an argument that takes one or a list."""
    return models if isinstance(models, (list, tuple)) else [models]


@dataclass(frozen=True)
class Setup:
    """What a run is made of."""

    task: Task
    settings: RunSettings
    models: ModelProvider
    answering: tuple[Model, ...]  # the models that its prompt is for

    @classmethod
    def of(cls, task: Task, settings: RunSettings, models: ModelProvider, model: Any = None) -> Self:
        """Load the models: those given, one or a list, otherwise the settings'; raises InputError for equal names."""
        loaded = tuple(models.answering(each, task) for each in each_model(model or settings.models))
        models_name([each.name for each in loaded])
        return cls(task, settings, models, loaded)

    def frozen_evaluator(self, options: RephrasingOptions) -> Evaluator:
        """Do what `evaluator` does, with the rephrasings that these options ask for, frozen for all prompts."""
        settings, baseline = self.settings, self.settings.baseline(self.task)
        sizes = settings.rephrasings, settings.heldout
        frozen = freeze_rephrasings(self.task, baseline, *sizes, settings.seed, options, models=self.models)
        return self.evaluator(frozen)

    def evaluator(self, rephrasings: RephrasingSet) -> Evaluator:
        """Put together what all prompts are compared on: models, rephrasings, and samples."""
        samples, settings = self._samples, self.settings

        def evaluator(answering: Model, others: Sequence[Evaluator] = ()) -> Evaluator:
            if calibrates(answering):
                answering = answering.learning_from(self._labelled)
            return Evaluator(
                answering,
                rephrasings,
                samples,
                from_probabilities=settings.lm.logprobs and not self.task.spec.is_open,
                budget=self.models.budget,
                answer_type=AnswerType.of(self.task),
                others=others,
                over=settings.over,
            )

        first, *others = self.answering
        return evaluator(first, [evaluator(further_model) for further_model in others])

    @property
    def _labelled(self) -> LabelledTexts:
        """Texts of train with their labels, stratified by class, under the original prompt."""
        baseline = self.settings.baseline(self.task)
        samples = subset(self.task.train, MOST_LABELLED, seed=self.settings.seed)
        labels = [baseline.labels.index(str(sample.label)) for sample in samples]
        return LabelledTexts(apply_edits(baseline, [CALIBRATE]), [sample.text for sample in samples], labels)

    @property
    def _samples(self) -> dict[Split, tuple[Sample, ...]]:
        """The samples that prompts are compared on, cut to the settings' numbers; test is whole unless they set one."""
        task, settings = self.task, self.settings
        n_train = settings.samples if settings.train_samples is None else settings.train_samples
        return {
            "train": task.subset(task.train, n_train, seed=settings.seed),
            "val": task.subset(task.val, settings.samples, seed=settings.seed),
            "test": test_samples(task, settings),
        }


def make_proposer(settings: RunSettings, models: ModelProvider) -> LLMProposer | None:
    """Make the model that drafts edits in addition to the rules, if there is one."""
    return LLMProposer(models.writer(settings.writer)) if settings.writer else None


def test_samples(task: Task, settings: RunSettings) -> tuple[Sample, ...]:
    """The samples of the final test: every pinned one, and others up to the number that the settings have."""
    test, n_test = task.test, settings.test_samples
    if n_test is None:
        return test
    pinned = {sample.id for sample in test if sample.pinned or sample.id in settings.pinned}
    others = [sample for sample in test if sample.id not in pinned]
    chosen = task.subset(others, max(0, n_test - len(pinned)), seed=settings.seed)
    test_ids = pinned | {sample.id for sample in chosen}
    return tuple(sample for sample in test if sample.id in test_ids)


def run_options(task: Task, keywords: Mapping[str, Any], **facts: Any) -> tuple[RunOptions, SizeOptions]:
    """What a run is asked to do, and how large it should be; `facts` take precedence over the keywords."""
    check_keywords(keywords, RunOptions, SizeOptions)
    for leaf in leaves(DataOptions):
        if leaf.key in keywords:
            raise InputError(f"{leaf.key} says how data are read, and the task is read already: see psopt.load_task")
    if keywords.get("program"):
        raise InputError("a program is compiled with psopt.SensitivityOptimizer; --program is for psopt optimize")
    run = built(RunOptions, {**keywords, "dataset": task.name, **facts})
    return run, built(SizeOptions, keywords)
