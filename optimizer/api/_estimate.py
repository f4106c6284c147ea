"""`psopt.estimate`: what a verb would take, before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.api._measure import MeasureOptions, grids
from psopt.api._planning import plan_run
from psopt.api._prompts import own_prompt
from psopt.api._rephrase import what_to_rephrase
from psopt.api._setup import freeze_for, make_evaluator, rephrasing_again
from psopt.api._timing import kept_pace
from psopt.evaluation import Grid
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig, grid_price, price_of
from psopt.rephrasings import RephrasingOptions
from psopt.runs import (
    STUDY,
    AskedSizes,
    CostEstimate,
    DataOptions,
    Phase,
    PlanOptions,
    RunSettings,
    asked_for,
    estimate_search,
    judging_phases,
    n_evaluated,
    rephrasing_phases,
)
from psopt.search import SearchOptions
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.runs import Effort, PromptOptions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

_WRITING_SPREAD = (0.2, 0.25)  # how far tokens may be off, where only texts are written


def estimate(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    prompt_options: PromptOptions | None = None,
    model: str = "minilm",
    effort: Effort | None = None,
    trials: int | Literal["planned"] | None = "planned",
    rounds: int | None = None,
    rephrasings: int | None = None,
    heldout: int | None = None,
    rephrasing: RephrasingOptions | None = None,
    samples: int | None = None,
    train_samples: int | None = None,
    test_samples: int | None = None,
    strategy: str = "simple",
    seed: int = 42,
    proposer: str | None = None,
    leave_one_out: int | None = None,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
) -> CostEstimate:
    """Count what `optimize` would ask with the same arguments; nothing is sent.

    Parameters
    ----------
    prompt : Prompt or path, optional
        What would be measured, or what the run would start from; by default the seed prompt of `strategy`.
    trials : int, "planned" or None
        None for what `measure`, `check` or `diagnose` of test would ask; by default as many as the effort allows.
    task, prompt_options, model, effort, rounds, rephrasings, heldout, rephrasing, samples, train_samples, test_samples
        See `optimize`.
    strategy, seed, proposer, leave_one_out, lm
        See `optimize`.
    cache_dir
        See `optimize`.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    lm = lm or LMConfig()
    rephrasing = rephrasing or RephrasingOptions()
    own = own_prompt(task, prompt, strategy, prompt_options)
    if trials is None:
        asked = own or seed_prompt(task, strategy, seed=seed)
        options = MeasureOptions(rephrasings or 10, "test", samples or 500, seed, lm, rephrasing, cache_dir)
        return estimate_measuring(task, {"": asked}, [model], options)
    n_trials = None if trials == "planned" else trials
    sizes = AskedSizes.of(samples, train_samples, test_samples, rephrasings, heldout, n_trials, rounds)
    settings = RunSettings(
        DataOptions(task.name),
        model,
        strategy,
        rephrasing=rephrasing,
        search=SearchOptions(seed=seed),
        lm=lm,
        proposer=proposer,
        leave_one_out=leave_one_out,
        prompt=own,
    )
    return plan_run(task, asked_for(settings, sizes), PlanOptions(effort, sizes), cache_dir).estimate


def estimate_run(
    task: Task, settings: RunSettings, cache_dir: str | Path | None = None, run: Path | None = None
) -> CostEstimate:
    """Count what a run, or what is left of the one in the folder `run`, would ask, phase by phase; nothing is sent."""
    baseline = settings.baseline(task)
    models = ModelProvider(cache_dir, settings.lm)
    options = rephrasing_again(settings.rephrasing, run) if run else settings.rephrasing
    rephrasings = freeze_for(task, baseline, settings, options.by_rule(), models)
    evaluator = make_evaluator(task, settings, models, rephrasings)
    n_done = n_evaluated(run / STUDY) if run else 0
    counted = estimate_search(task, settings, baseline, evaluator, n_done)
    return replace(counted, pace=counted.pace or kept_pace(evaluator.model, models))


def estimate_measuring(
    task: Task,
    prompts: Mapping[str, Prompt],
    models: Sequence[Any],
    options: MeasureOptions,
    further: Sequence[Sample] = (),
) -> CostEstimate:
    """Count what `diagnose`, `check` or `compare` would ask, of `further` samples too; nothing is sent."""
    first_price = price_of(models[0]) if isinstance(models[0], str) else None
    phases: list[Phase] = []
    answering: list[Phase] = []
    spreads = []
    prices = []
    for name, prompt in prompts.items():
        phases += rephrasing_phases(prompt, options.rephrasing, options.rephrasings, first_price)
        for model, rephrased, texts in grids(task, prompt, models, options, further):
            grid = Grid.of(model, rephrased, texts)
            price = grid_price(model.name, in_batches=options.lm.batch)
            named = " ".join([*([name] if len(prompts) > 1 else []), *([model.name] if len(models) > 1 else [])])
            answering.append(Phase.of(named or "answers", grid, price))
            phases.append(answering[-1])
            spreads.append(grid.spread(price))
            prices.append(price)
    phases += judging_phases(task, answering, options.rephrasings, first_price)
    widest = max(low for low, _ in spreads), max(high for _, high in spreads)
    return CostEstimate(tuple(phases), None if None in prices else prices[0], widest)


def estimate_rephrasing(
    task: Task, prompt: Prompt | str | None, options: RephrasingOptions, n_texts: int
) -> CostEstimate:
    """Count what `rephrase` would ask for so many texts, the original among them; nothing is sent."""
    phases = rephrasing_phases(what_to_rephrase(task, prompt), options, n_texts - 1)
    return CostEstimate(tuple(phases), price_of(options.rephraser or ""), _WRITING_SPREAD)
