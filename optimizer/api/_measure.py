"""`psopt.measure`: a model's answers to a prompt under rephrasings; `psopt.diagnose`: where they are unstable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.answers import AnswerType
from psopt.api._progress import reading
from psopt.api._prompts import AnyPrompt, own_prompt, task_for
from psopt.diagnosis import PromptReport, diagnose_predictions, find_suspects
from psopt.errors import InputError
from psopt.evaluation import (
    N_PROBED,
    Predictions,
    Reruns,
    compare_reruns,
    evaluate,
    flipped,
    no_reruns,
    numbered,
    rephrased_prompts,
    score,
)
from psopt.models import ChangedTextsModel, Model, ModelProvider, OnProgress, evenly_spread
from psopt.models.chat import Budget
from psopt.rephrasings import change_texts, check_room, freeze_rephrasings
from psopt.report import diagnosis_figure
from psopt.runs import Grid, as_in_run, as_measured, read_source, set_in
from psopt.search_spaces import seed_prompt
from psopt.settings import MeasureOptions, PromptOptions, built, check_keywords, group_given

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from psopt.search_spaces import Prompt, PromptFormat
    from psopt.tasks import Sample, Task


def measure(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Predictions:
    """Let a model answer samples under rephrasings of a prompt.

    Raises PsoptError if an argument or the task can't be used.

    Parameters
    ----------
    task : Task, or str or path
        A data set's name or file is loaded as `load_task` does.
    prompt : Prompt, path, str or list of messages, optional
        A prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a brace, or chat messages; by
        default the original prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, if it does not say so itself.
    model : str, callable, dspy.LM or Model, optional
        A name; a function that takes chat messages and returns the answer's text, directly or as a coroutine; or an
        existing model object. By default the one that the prompt's file says it was measured with, asked in the same
        way except for what you set; ``minilm`` if it names none.
    strategy : {"simple", "detail", "1-shot"}
        What the original prompt holds.
    options : MeasureOptions, optional
        What it is measured on.
    on_progress, progress : optional
        Show a progress bar; by default in notebooks and terminals, unless there is an `on_progress`.
    **settings
        Of `MeasureOptions` by name: ``rephrasings``, ``split``, ``samples``, ``seed``, ``cache_dir``, ``lm`` and
        ``rephrasing``; and what those two hold, such as ``max_calls``.
    """
    (measurement,), model = measurements(task, [prompt], model, options, settings, strategy, prompt_options)
    with reading(on_progress, progress) as on_reading:
        return measurement.predict(model, on_reading)


def diagnose(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> PromptReport:
    """Measure a prompt under rephrasings, and say which samples are unstable and what they have in common.

    Raises PsoptError if an argument or the task can't be used.

    Parameters
    ----------
    options : MeasureOptions, optional
        What it is measured on; train, unless they or the keywords say otherwise: what is learnt from a diagnosis must
        not come from val or test.
    task, prompt, model, prompt_options, strategy, on_progress, progress, **settings
        See `measure`.
    """
    options = options or MeasureOptions(split="train")
    (measurement,), model = measurements(task, [prompt], model, options, settings, strategy, prompt_options)
    with reading(on_progress, progress) as on_reading:
        predictions, reruns = measurement.predict_again(model, on_reading)
    labelled = measurement.task.train if measurement.options.split == "train" else ()
    return PromptReport(
        measurement.prompt,
        predictions,
        float(predictions.sensitivities.mean()),
        predictions.na_rate,
        score(predictions, intervals=True) if predictions.is_labelled else None,
        diagnose_predictions(predictions, labelled=labelled),
        diagnosis_figure,
        find_suspects(predictions, labelled=labelled),
        reruns,
    )


def measurements(
    task: Task | str | Path,
    prompts: Iterable[AnyPrompt | None],
    model: Any,
    options: MeasureOptions | None,
    settings: Mapping[str, Any],
    strategy: str,
    prompt_options: PromptOptions | None,
    *groups: type,
) -> tuple[list[Measurement], Any]:
    """What a verb measures: a prompt each, with one budget for all; and the model.

    The model is the one given, otherwise that of the prompts; the options not given are those of their run. Keywords
    are of `MeasureOptions` and the other `groups`.

    Raises InputError if the prompts were measured differently, or with a model that no name loads.
    """
    check_keywords(settings, MeasureOptions, *groups)
    read = [prompt if prompt is None else read_source(prompt, prompt_options) for prompt in prompts]
    sources = [source for source in read if source is not None]
    task = task_for(task, sources, prompt_options)
    options = built(MeasureOptions, settings, group_given("options", options, MeasureOptions))
    keywords = {*settings, *set_in(options)}
    if model is None:
        is_known = any(source.measured for source in sources)
        model = as_measured(sources, keywords).model if is_known else "minilm"
    options = as_in_run(sources, model, options, keywords)
    models = ModelProvider(options.cache_dir, options.lm)
    measured = []
    for source in read:
        own = own_prompt(task, source, strategy, prompt_options)
        measured.append(Measurement(task, own or seed_prompt(task, strategy, seed=options.seed), options, models))
    return measured, model


@dataclass(frozen=True)
class Measurement:
    """A prompt, and what it is measured on; measurements with the same provider share its budget."""

    task: Task
    prompt: Prompt
    options: MeasureOptions
    models: ModelProvider
    pinned: Sequence[Sample] = ()  # asked about as well, whether it is measured on them or not

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """The samples that it is measured on: those of all splits, if the chosen one has none."""
        splits = {"train": self.task.train, "val": self.task.val, "test": self.task.test, "all": self.task.samples}
        samples = splits[self.options.split] or self.task.samples
        return self.task.subset(samples, self.options.samples, seed=self.options.seed)

    @property
    def probed(self) -> Sequence[Sample]:
        """The samples that are asked twice before all are asked again, spread over all."""
        return evenly_spread(self.samples, N_PROBED)

    def of_samples(self, predictions: Predictions) -> Predictions:
        """The answers without those to pinned samples that it is not measured on."""
        return predictions.of_samples(np.arange(len(self.samples)))

    def predict(self, model: Any, on_progress: OnProgress | None = None, *, anew: bool = False) -> Predictions:
        """Do what `measure` does; `anew` asks each column separately, as in `evaluate`.

        Raises InputError if reruns are asked for: `predict_again` does those.
        """
        if self.options.rephrasing.repeats and not anew:
            raise InputError("--vary repeat stands beside S in psopt diagnose and psopt check: leave it out here")
        columns = self._columns()
        model = columns.asked(self.models.answering(model, self.task))
        how = {"forms": columns.forms, "anew": anew, **self._how}
        predictions = evaluate(model, self.prompt, columns.rephrasings, self._asked, on_progress, **how)
        return replace(predictions, families=columns.families) if columns.texts else predictions

    def predict_again(self, model: Any, on_progress: OnProgress | None = None) -> tuple[Predictions, Reruns | None]:
        """Do what `predict` does; with ``--vary repeat`` ask the same samples equally often under the original wording.

        A probe asks some samples twice: if their answers are the same, nothing else is asked again. Otherwise each
        wording is asked with a seed of its own, as the reruns are: under one seed, a server samples alike for all
        wordings, and S would contain less of that randomness than the S of reruns.
        """
        rephrasing = self.options.rephrasing
        if "example-order" in rephrasing.families and len(self.prompt.examples) < 2:
            raise InputError(
                "--vary example-order changes nothing in a prompt with fewer than two examples: leave it out"
            )
        if not rephrasing.repeats:
            return self.predict(model, on_progress), None
        if self.options.rephrasings == 1:
            raise InputError(
                "--vary repeat compares S with that of reruns, and of one answer there is none: --rephrasings 2"
            )
        model = self.models.answering(model, self.task)

        def again(samples: Sequence[Sample], n: int) -> Predictions:
            wordings = [self.prompt.description] * n
            return evaluate(model, self.prompt, wordings, samples, on_progress, anew=True, **self._how)

        if not flipped(again(self.probed, 2)).any():
            once = replace(self, options=replace(self.options, rephrasing=rephrasing.once()))
            predictions = once.predict(model, on_progress)
            return predictions, no_reruns(self.of_samples(predictions), len(self.probed))
        predictions = self.predict(model, on_progress, anew=True)
        reruns = again(self.samples, predictions.n_rephrasings)
        return predictions, compare_reruns(self.of_samples(predictions), reruns)

    @cached_property
    def _asked(self) -> tuple[Sample, ...]:
        ids = {sample.id for sample in self.samples}
        return (*self.samples, *(sample for sample in self.pinned if sample.id not in ids))

    @property
    def _how(self) -> dict[str, Any]:
        is_soft = self.options.lm.logprobs and not self.task.spec.is_open
        return {"from_probabilities": is_soft, "answer_type": AnswerType.of(self.task)}

    def grids(self, models: Sequence[Any]) -> Iterator[tuple[Model, Grid]]:
        """Yield what `measure` would ask each model; nothing is sent.

        If a model writes the rephrasings, rule-made ones stand in for them, and typing errors for its texts.
        """
        options = replace(self.options, rephrasing=self.options.rephrasing.by_rule())
        unlimited = ModelProvider(options.cache_dir, options.lm, Budget())
        columns = replace(self, options=options, models=unlimited)._columns()
        prompts = rephrased_prompts(self.prompt, columns.rephrasings, columns.forms)
        if options.rephrasing.repeats and options.lm.draws:
            prompts = numbered(prompts)
        texts = [sample.text for sample in self._asked]
        for name in models:
            model = columns.asked(unlimited.answering(name, self.task))
            yield model, Grid.of(model, prompts, texts)

    def _columns(self) -> _Columns:
        """Wordings and changed texts, in equal parts; raises InputError if there are too few for each family."""
        task, prompt, options = self.task, self.prompt, self.options
        rephrasing = options.rephrasing
        n_families = len((*rephrasing.wordings, *rephrasing.texts))
        check_room(n_families, options.rephrasings)
        n_texts = sum(family in rephrasing.texts for family in rephrasing.turns(options.rephrasings))
        n_wordings = options.rephrasings - n_texts
        rephrasings: tuple[str, ...] = ()
        forms: tuple[PromptFormat, ...] = ()
        if n_wordings:
            sizes = (1, n_wordings) if options.split == "test" else (n_wordings, 1)
            worded = replace(rephrasing, families=rephrasing.wordings)
            frozen = freeze_rephrasings(task, prompt, *sizes, options.seed, worded, models=self.models)
            rephrasings, forms = frozen.on(options.split)
        if not n_texts:
            return _Columns(rephrasings, forms)
        texts = [sample.text for sample in self._asked]
        writer = self.models.writer(rephrasing.rephraser) if "text-paraphrase" in rephrasing.texts else None
        changed = change_texts(texts, rephrasing.texts, n_texts, options.seed, task.labels, writer)
        families = [form.family for form in forms] or ["paraphrase"] * len(rephrasings)
        return _Columns(
            (*rephrasings, *[prompt.description] * n_texts),
            (*(forms or [prompt.form] * len(rephrasings)), *[prompt.form] * n_texts),
            (*families, *(family for family, _ in changed)),
            (*[texts] * len(rephrasings), *(column for _, column in changed)),
        )


class _Columns(NamedTuple):
    """What is asked about each sample, Q times; families and texts are empty if no text is changed."""

    rephrasings: tuple[str, ...]
    forms: tuple[PromptFormat, ...]
    families: tuple[str, ...] = ()
    texts: tuple[Sequence[str], ...] = ()

    def asked(self, model: Model) -> Model:
        return ChangedTextsModel(model, self.texts) if self.texts else model
