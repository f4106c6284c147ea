"""`psopt.measure`: a model's answers to a prompt under rephrasings; `psopt.diagnose`: where they are unstable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.answers import AnswerType
from psopt.api._progress import reading
from psopt.api._prompts import AnyPrompt, prompt_for, task_for
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
from psopt.runs import as_in_run, as_measured, read_source, set_in
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
    check_keywords(settings, MeasureOptions)
    task = task_for(task, [prompt], prompt_options)
    model, options = model_and_options([prompt], model, options, settings, prompt_options)
    measured_prompt = prompt_for(task, prompt, strategy, options.seed, prompt_options)
    with reading(on_progress, progress) as on_reading:
        return predict(task, measured_prompt, model, options, ModelProvider(options.cache_dir, options.lm), on_reading)


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
    task = task_for(task, [prompt], prompt_options)
    check_keywords(settings, MeasureOptions)
    options = options or MeasureOptions(split="train")
    model, options = model_and_options([prompt], model, options, settings, prompt_options)
    diagnosed = prompt_for(task, prompt, strategy, options.seed, prompt_options)
    models = ModelProvider(options.cache_dir, options.lm)
    with reading(on_progress, progress) as on_reading:
        predictions, reruns = predict_again(task, diagnosed, model, options, models, on_reading)
    labelled = task.train if options.split == "train" else ()
    return PromptReport(
        diagnosed,
        predictions,
        float(predictions.sensitivities.mean()),
        predictions.na_rate,
        score(predictions, intervals=True) if predictions.is_labelled else None,
        diagnose_predictions(predictions, labelled=labelled),
        diagnosis_figure,
        find_suspects(predictions, labelled=labelled),
        reruns,
    )


def model_and_options(
    prompts: Iterable[AnyPrompt | None],
    model: Any,
    options: MeasureOptions | None,
    settings: Mapping[str, Any],
    prompt_options: PromptOptions | None = None,
) -> tuple[Any, MeasureOptions]:
    """The model that a verb was given, otherwise that of the prompts; and its options, otherwise those of their run.

    Raises InputError if the prompts were measured differently, or with a model that no name loads.
    """
    options = built(MeasureOptions, settings, group_given("options", options, MeasureOptions))
    given = {*settings, *set_in(options)}
    sources = [read_source(prompt, prompt_options) for prompt in prompts if prompt is not None]
    if model is None:
        is_known = any(source.measured for source in sources)
        model = as_measured(sources, given).model if is_known else "minilm"
    return model, as_in_run(sources, model, options, given)


def predict(
    task: Task,
    prompt: Prompt,
    model: Any,
    options: MeasureOptions,
    models: ModelProvider,
    on_progress: OnProgress | None = None,
    *,
    further: Sequence[Sample] = (),
    anew: bool = False,
) -> Predictions:
    """Do what `measure` does, also for `further` samples; measurements by the same provider share its budget.

    `anew` asks each column separately, as in `evaluate`.

    Raises InputError if reruns are asked for: `predict_again` does those.
    """
    if options.rephrasing.repeats and not anew:
        raise InputError("--vary repeat stands beside S in psopt diagnose and psopt check: leave it out here")
    samples = [*chosen_samples(task, options), *further]
    columns = _columns(task, prompt, samples, options, models)
    predictions = evaluate(
        columns.asked(models.answering(model, task)),
        prompt,
        columns.rephrasings,
        samples,
        on_progress,
        forms=columns.forms,
        anew=anew,
        **_how(task, options),
    )
    return replace(predictions, families=columns.families) if columns.texts else predictions


def predict_again(
    task: Task,
    prompt: Prompt,
    model: Any,
    options: MeasureOptions,
    models: ModelProvider,
    on_progress: OnProgress | None = None,
    *,
    further: Sequence[Sample] = (),
) -> tuple[Predictions, Reruns | None]:
    """Do what `predict` does, and with ``--vary repeat`` ask the same samples equally often under the original wording.

    A probe asks some samples twice: if their answers are the same, nothing else is asked again. Otherwise each wording
    is asked with a seed of its own, as the reruns are: under one seed, a server samples alike for all wordings, and S
    would contain less of that randomness than the S of reruns.
    """
    if "example-order" in options.rephrasing.families and len(prompt.examples) < 2:
        raise InputError("--vary example-order changes nothing in a prompt with fewer than two examples: leave it out")
    if not options.rephrasing.repeats:
        return predict(task, prompt, model, options, models, on_progress, further=further), None
    if options.rephrasings == 1:
        raise InputError(
            "--vary repeat compares S with that of reruns, and of one answer there is none: --rephrasings 2"
        )
    answering = models.answering(model, task)
    all_samples = chosen_samples(task, options)

    def again(samples: Sequence[Sample], n: int) -> Predictions:
        return evaluate(
            answering, prompt, [prompt.description] * n, samples, on_progress, anew=True, **_how(task, options)
        )

    probe = probed(all_samples)
    if not flipped(again(probe, 2)).any():
        once = replace(options, rephrasing=options.rephrasing.once())
        predictions = predict(task, prompt, answering, once, models, on_progress, further=further)
        return predictions, no_reruns(predictions.of_samples(np.arange(len(all_samples))), len(probe))
    predictions = predict(task, prompt, answering, options, models, on_progress, further=further, anew=True)
    reruns = again(all_samples, predictions.n_rephrasings)
    return predictions, compare_reruns(predictions.of_samples(np.arange(len(all_samples))), reruns)


def probed(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples that are asked twice before all are asked again, spread over all."""
    return evenly_spread(samples, N_PROBED)


def _how(task: Task, options: MeasureOptions) -> dict[str, Any]:
    """How answers are asked for and compared."""
    is_soft = options.lm.logprobs and not task.spec.is_open
    return {"from_probabilities": is_soft, "answer_type": AnswerType.of(task)}


def chosen_samples(task: Task, options: MeasureOptions) -> tuple[Sample, ...]:
    """The samples that a prompt is measured on: those of all splits, if the chosen one has none."""
    splits = {"train": task.train, "val": task.val, "test": task.test, "all": task.samples}
    samples = splits[options.split] or task.samples
    return task.subset(samples, options.samples, seed=options.seed)


def grids(
    task: Task, prompt: Prompt, models: Sequence[Any], options: MeasureOptions, further: Sequence[Sample] = ()
) -> Iterator[tuple[Model, list[Prompt], list[str]]]:
    """Yield what `measure` would ask each model: the rephrased prompts and the texts; nothing is sent.

    If a model writes the rephrasings, rule-made ones stand in for them, and typing errors for its texts.
    """
    unlimited = ModelProvider(options.cache_dir, options.lm, Budget())
    samples = [*chosen_samples(task, options), *further]
    by_rule = replace(options, rephrasing=options.rephrasing.by_rule())
    columns = _columns(task, prompt, samples, by_rule, unlimited)
    prompts = rephrased_prompts(prompt, columns.rephrasings, columns.forms)
    if options.rephrasing.repeats and options.lm.draws:
        prompts = numbered(prompts)
    for model in models:
        yield columns.asked(unlimited.answering(model, task)), prompts, [sample.text for sample in samples]


class _Columns(NamedTuple):
    """What is asked about each sample, Q times: under which wording, in which form, about which texts.

    The families are those of the wordings, then of the changed texts; texts are empty if none is changed.
    """

    rephrasings: tuple[str, ...]
    forms: tuple[PromptFormat, ...]
    families: tuple[str, ...] = ()
    texts: tuple[Sequence[str], ...] = ()

    def asked(self, model: Model) -> Model:
        """The model, with changed texts if there are any."""
        return ChangedTextsModel(model, self.texts) if self.texts else model


def _columns(
    task: Task, prompt: Prompt, samples: Sequence[Sample], options: MeasureOptions, models: ModelProvider
) -> _Columns:
    """Wordings and changed texts, in equal parts; raises InputError if there are too few for each family."""
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
        frozen = freeze_rephrasings(task, prompt, *sizes, options.seed, worded, models=models)
        rephrasings, forms = frozen.on(options.split)
    if not n_texts:
        return _Columns(rephrasings, forms)
    texts = [sample.text for sample in samples]
    writer = models.writer(rephrasing.rephraser) if "text-paraphrase" in rephrasing.texts else None
    changed = change_texts(texts, rephrasing.texts, n_texts, options.seed, task.labels, writer)
    families = [form.family for form in forms] or ["paraphrase"] * len(rephrasings)
    return _Columns(
        (*rephrasings, *[prompt.description] * n_texts),
        (*(forms or [prompt.form] * len(rephrasings)), *[prompt.form] * n_texts),
        (*families, *(family for family, _ in changed)),
        (*[texts] * len(rephrasings), *(column for _, column in changed)),
    )
