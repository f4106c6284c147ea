"""`psopt.estimate`: what a verb would take, before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.api._measure import chosen_samples, grids, probed
from psopt.api._planning import kept_pace, plan_run
from psopt.api._prompts import AnyPrompt, own_prompt, task_for
from psopt.api._setup import each_model, frozen_evaluator, rephrasing_again, run_options
from psopt.evaluation import numbered
from psopt.models import Model, ModelProvider, name_of_model
from psopt.models.chat import Price, asking_nothing, grid_price, price_of
from psopt.runs import (
    STUDY,
    CostEstimate,
    Grid,
    Phase,
    RunSettings,
    SearchBasis,
    cache_of,
    judging_phases,
    n_evaluated,
    rephrasing_phases,
    text_phases,
)
from psopt.runs.planning import run_settings
from psopt.search_spaces import Prompt, seed_prompt
from psopt.settings import FAMILIES, MeasureOptions, PromptOptions, built

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.rephrasings import RephrasingOptions
    from psopt.tasks import Sample, Task


@asking_nothing()
def estimate(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    prompt_options: PromptOptions | None = None,
    model: Any = "minilm",
    trials: int | Literal["planned"] | None = "planned",
    cache_dir: str | Path | None = None,
    **settings: Any,
) -> CostEstimate:
    """Count what `optimize` would ask with the same arguments; nothing is sent.

    Raises PsoptError if an argument or the task can't be used.

    Parameters
    ----------
    prompt : Prompt or path, optional
        What would be measured, or what the run would start from; by default the original prompt of `strategy`.
    trials : int, "planned" or None
        None counts what `measure`, `check` or `diagnose` on test would ask; by default as many as the effort allows.
    task, prompt_options, model, cache_dir, **settings
        See `optimize`.
    """
    task = task_for(task, [prompt], prompt_options)
    if isinstance(trials, int):
        settings["trials"] = trials
    run, sizes = run_options(task, settings, model=name_of_model(model))
    own = own_prompt(task, prompt, run.strategy, prompt_options)
    if trials is None:
        options = {name: value for name, value in settings.items() if value is not None}
        measuring = built(MeasureOptions, {**options, "cache_dir": cache_dir})
        measured_prompt = own or seed_prompt(task, run.strategy, seed=measuring.seed)
        return estimate_measuring(task, {"": measured_prompt}, each_model(model), measuring)
    return plan_run(task, run_settings(run, sizes, prompt=own), sizes, cache_dir, model=model).estimate


def estimate_run(
    task: Task, settings: RunSettings, cache_dir: str | Path | None = None, run: Path | None = None
) -> CostEstimate:
    """Count what a run, or the rest of the one in the folder `run`, would ask, phase by phase; nothing is sent."""
    models = ModelProvider(cache_of(run, cache_dir), settings.lm)
    options, n_done = settings.rephrasing, 0
    if run:
        options, n_done = rephrasing_again(options, run), n_evaluated(run / STUDY)
    evaluator = frozen_evaluator(task, settings, options.by_rule(), models)
    counted = SearchBasis.of(task, settings, evaluator).estimate(settings, n_done)
    return replace(counted, pace=counted.pace or kept_pace([each.model for each in evaluator.each], models))


def estimate_measuring(
    task: Task,
    prompts: Mapping[str, Prompt],
    models: Sequence[Any],
    options: MeasureOptions,
    further: Sequence[Sample] = (),
) -> CostEstimate:
    """Count what `diagnose`, `check` or `compare` would ask, also about `further` samples; nothing is sent."""
    first_price = price_of(models[0]) if isinstance(models[0], str) else None
    estimates: list[CostEstimate] = []
    answering: list[Phase] = []
    provider = ModelProvider(options.cache_dir, options.lm)
    for name, prompt in prompts.items():
        phases: list[Phase] = []
        turns = options.rephrasing.turns(options.rephrasings)
        n_wordings = sum(family in FAMILIES for family in turns)
        if n_wordings:
            phases += rephrasing_phases(prompt, options.rephrasing, n_wordings, first_price)
        n_written = min(turns.count("text-paraphrase"), len(turns) - n_wordings - 1)  # one is the unchanged text
        texts_measured = [sample.text for sample in chosen_samples(task, options)]
        phases += text_phases(texts_measured, n_written, options.rephrasing, first_price)
        for model, rephrased, texts in grids(task, prompt, models, options, further):
            grid = Grid.of(model, rephrased, texts)
            price = grid_price(model.name, in_batches=options.lm.batch)
            names = []
            if len(prompts) > 1:
                names.append(name)
            if len(models) > 1:
                names.append(model.name)
            answering.append(Phase(" ".join(names) or "answers", grid.need(price), cached=grid.cached))
            phases.append(answering[-1])
            if options.rephrasing.repeats:
                phases.append(_asked_again(task, prompt, model, options, price))
            estimates.append(CostEstimate(tuple(phases), price, kept_pace([model], provider)))
            phases = []  # texts are written only once, whichever model is asked
    judging = judging_phases(task, answering, options.rephrasings, first_price)
    counted = CostEstimate.of_several(estimates)
    return replace(counted, phases=(*counted.phases, *judging))


def _asked_again(task: Task, prompt: Prompt, model: Model, options: MeasureOptions, price: Price | None) -> Phase:
    """What reruns take: a probe, or the whole grid if answers are drawn at random."""
    askings = numbered([prompt] * max(2, options.rephrasings))
    samples = chosen_samples(task, options)
    probe = Grid.of(model, askings[:2], [sample.text for sample in probed(samples)])
    whole = Grid.of(model, askings[: options.rephrasings], [sample.text for sample in samples])
    expected = whole if options.lm.draws else probe
    times = f"{probe.calls:,} calls where no answer changes, else {whole.calls:,}"
    return Phase("asked again", expected.need(price), times, expected.cached)


def estimate_rephrasing(
    task: Task, prompt: Prompt | str | None, options: RephrasingOptions, n_texts: int
) -> CostEstimate:
    """Count what `rephrase` would ask for this many texts, including the original; nothing is sent."""
    phases = rephrasing_phases(prompt or task.description, options, n_texts - 1)
    return CostEstimate(tuple(phases), price_of(options.rephraser or ""))
