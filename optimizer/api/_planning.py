"""How much a verb will ask, before anything is sent: the plan of a run, `psopt.estimate`, the pace of local models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from psopt.api._measure import Measurement
from psopt.api._prompts import AnyPrompt, own_prompt, task_for
from psopt.api._setup import Setup, each_model, rephrasing_again, run_options
from psopt.evaluation import numbered
from psopt.models import AnswerCache, Model, ModelProvider, capabilities_of, n_computed, name_of_model
from psopt.models.chat import AnswerRate, Price, asking_nothing, grid_price, keep_rate, kept_rate, price_of
from psopt.rephrasings import FEWEST, n_parts_of, read_given
from psopt.runs import (
    MANIFEST,
    STUDY,
    CostEstimate,
    Grid,
    Pace,
    Phase,
    RunDirectory,
    RunSettings,
    SearchBasis,
    cache_of,
    judging_phases,
    n_evaluated,
    rephrasing_phases,
    text_phases,
)
from psopt.runs.planning import Limits, Plan, Planner, asked_sizes, effort_for, resumed_from, run_settings, sized
from psopt.search import check_limits
from psopt.search_spaces import Prompt, seed_prompt
from psopt.settings import FAMILIES, MeasureOptions, PromptOptions, built

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.evaluation import Evaluator
    from psopt.models.chat import Need
    from psopt.rephrasings import RephrasingOptions
    from psopt.settings import SizeOptions
    from psopt.tasks import Sample, Task


# What a call takes is counted on this many samples and wordings; more would hardly change it.
_SAMPLES = 60
_WORDINGS = 2
_FIRST = 8  # answers that are timed first; twice as many if they come too fast, and so on
_LONG_ENOUGH = 1.0  # seconds; chosen: spreads the cost of reading a prompt's beginning over as many texts as fit
_FEWEST = 4  # answers that were computed, not cached; the time of fewer is not meaningful


def plan_run(
    task: Task, settings: RunSettings, asked: SizeOptions, cache_dir: str | Path | None = None, *, model: Any = None
) -> Plan:
    """Plan a run: the sizes that are not `asked` for, and what they are expected to take; nothing is sent.

    A `model` replaces the settings' name of one. Raises InputError if a limit does not pay the least of a run.
    """
    setup = Setup.of(task, settings, ModelProvider(cache_dir, settings.lm), model)
    plan = SizeChoice(setup, asked).plan()
    planned = plan.applied_to(settings)
    setup.models.budget.max_calls = planned.lm.max_calls
    if setup.models.budget.is_limited:
        evaluator = replace(setup, settings=planned).frozen_evaluator(planned.rephrasing.by_rule())
        check_paid(evaluator, planned, settings.baseline(task))
    pace = plan.estimate.pace or kept_pace(setup.answering, setup.models)
    return replace(plan, estimate=replace(plan.estimate, pace=pace))


def check_paid(evaluator: Evaluator, settings: RunSettings, baseline: Prompt, *, has_val: bool = False) -> None:
    """Refuse a limit that does not pay the least of a run; see `check_limits`."""
    effort = settings.effort if settings.limited_by == "effort" else ""
    check_limits(evaluator, baseline, has_val=has_val, effort=effort)


@dataclass(frozen=True)
class SizeChoice:
    """Chooses how large a run will be."""

    setup: Setup
    asked: SizeOptions  # the sizes that the user has set

    def plan(self) -> Plan:
        """Plan a run."""
        effort, settings = self._effort, self.setup.settings
        asks_others = settings.writer or settings.rephrasing.is_written
        is_unlimited = self._is_free and not asks_others  # limits are on what costs money or time
        of_user = Limits() if is_unlimited else Limits.of_user(settings.lm)
        limits, limits_of_run = of_user.within(effort)
        planner = self._planner(limits)
        is_full, full = effort == "full", planner.path[-1]
        sizes = full if is_full else planner.chosen
        # counted on the samples and wordings of these sizes
        settings = sized(settings, asdict(sizes))
        basis = self._basis(settings)
        full_calls = planner.estimate(full).calls
        warnings = () if is_full else planner.warnings(sizes)
        return Plan(effort, sizes, limits_of_run, basis.estimate(settings), full_calls, full.test, warnings)

    def least(self) -> Need:
        """Count what the smallest useful run with the user's sizes takes."""
        planner = self._planner(Limits())
        return planner.estimate(planner.least).expected

    def settings_in(self, directory: RunDirectory) -> tuple[RunSettings, Plan | None]:
        """Return the settings of a run including its sizes, and its plan if it was made now; set the models' limit."""
        plan, settings = None, self.setup.settings
        if directory.has_begun:
            settings = resumed_from(directory.read_json(MANIFEST), settings, self.asked)
        elif self._effort == "full":
            return self._in_full, None
        else:
            plan = self.plan()
            settings = plan.applied_to(settings)
        self.setup.models.budget.max_calls = settings.lm.max_calls
        return settings, plan

    @property
    def _in_full(self) -> RunSettings:
        """The settings; of the wordings of a file as many as it holds, where the user has set no number."""
        settings = self.setup.settings
        if settings.rephrasing.file is None:
            return settings
        by_user, available = asked_sizes(self.asked), _available(self.setup.task, settings)
        wanted = {"rephrasings": settings.rephrasings, "heldout": by_user.get("rephrasings", settings.heldout)}
        sizes = {name: min(n, max(FEWEST, available[name])) for name, n in wanted.items() if name not in by_user}
        return sized(settings, sizes)

    @property
    def _is_free(self) -> bool:
        return all(capabilities_of(model).is_free for model in self.setup.answering)

    @property
    def _effort(self) -> str:
        return effort_for(self.asked.effort, self.setup.settings.lm, is_free=self._is_free)

    def _basis(self, settings: RunSettings, **how: Any) -> SearchBasis:
        evaluator = replace(self.setup, settings=settings).frozen_evaluator(settings.rephrasing.by_rule())
        return SearchBasis.of(self.setup.task, settings, evaluator, **how)

    def _planner(self, limits: Limits) -> Planner:
        """Count what a call takes on a part of the task, from which all sizes are calculated."""
        settings = self.setup.settings
        available = _available(self.setup.task, settings)
        n_wordings = min(_WORDINGS, *(available.get(name, _WORDINGS) for name in ("rephrasings", "heldout")))
        part = replace(
            settings,
            samples=_SAMPLES,
            train_samples=None,
            test_samples=_SAMPLES,
            rephrasings=min(settings.rephrasings, n_wordings),
            heldout=n_wordings,
        )
        basis = self._basis(part, ignoring_cache=True)
        return Planner(settings, basis, asked_sizes(self.asked), available, limits)


def _available(task: Task, settings: RunSettings) -> Mapping[str, int]:
    """The most available: samples of a split, and the wordings of a file."""
    samples = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    if settings.rephrasing.file is None:
        return samples
    baseline = settings.baseline(task)
    of_file = read_given(settings.rephrasing.file, baseline.description, n_parts_of(baseline))
    return {**samples, "rephrasings": len(of_file.search), "heldout": len(of_file.heldout)}


def kept_pace(answering: Sequence[Model], models: ModelProvider) -> Pace | None:
    """How fast local models were when they were last timed; None if unknown, and for others."""
    asked = [model for model in answering if not capabilities_of(model).is_free]
    paces = []
    for model in asked:
        is_local = capabilities_of(model).costs_time
        rate = kept_rate(AnswerCache(models.cache_dir), model.name, None) if is_local else None
        paces.append(Pace(rate.per_minute, rate.day) if rate else None)
    return Pace.of_several(paces, len(answering) - len(paces))


def timed_pace(evaluator: Evaluator, prompt: Prompt, models: ModelProvider) -> Pace | None:
    """Time answers that a run asks for anyway, those to the original prompt on val, and store how fast they came.

    If they are in the cache, the stored pace is used.
    """
    for each in evaluator.each:
        per_second = _answers_a_second(each, prompt) if capabilities_of(each.model).costs_time else None
        if per_second is not None:
            rate = AnswerRate(60 * per_second, 1, datetime.now(UTC).date().isoformat())
            keep_rate(AnswerCache(models.cache_dir), each.model.name, None, rate)
    return kept_pace([each.model for each in evaluator.each], models)


def _answers_a_second(evaluator: Evaluator, prompt: Prompt) -> float | None:
    rows = np.flatnonzero(~evaluator.partial_answers(prompt, "val").is_answered[:, 0])

    def ask(start: int, end: int) -> None:
        cells = np.zeros_like(evaluator.partial_answers(prompt, "val").is_answered)
        cells[rows[start:end], 0] = True
        evaluator.answers(prompt, "val", cells)

    ask(0, 1)  # the first answer loads the model
    per_second, start, size = None, 1, _FIRST
    while start < len(rows):
        computed_before, begin = n_computed(evaluator.model), perf_counter()
        ask(start, start + size)
        seconds = perf_counter() - begin
        computed = min(size, len(rows) - start)
        if computed_before is not None:
            computed = (n_computed(evaluator.model) or 0) - computed_before
        if computed >= _FEWEST and seconds > 0:
            per_second = computed / seconds
            if seconds >= _LONG_ENOUGH:
                break
        start, size = start + size, 2 * size
    return per_second


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
    if trials is not None and trials != "planned":
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
    evaluator = Setup.of(task, settings, models).frozen_evaluator(options.by_rule())
    counted = SearchBasis.of(task, settings, evaluator).estimate(settings, n_done)
    return replace(counted, pace=counted.pace or kept_pace([each.model for each in evaluator.each], models))


def estimate_measuring(
    task: Task,
    prompts: Mapping[str, Prompt],
    models: Sequence[Any],
    options: MeasureOptions,
    pinned: Sequence[Sample] = (),
) -> CostEstimate:
    """Count what `diagnose`, `check` or `compare` would ask, also about `pinned` samples; nothing is sent."""
    first_price = price_of(models[0]) if isinstance(models[0], str) else None
    estimates: list[CostEstimate] = []
    answering: list[Phase] = []
    provider = ModelProvider(options.cache_dir, options.lm)
    for name, prompt in prompts.items():
        measurement = Measurement(task, prompt, options, provider, pinned)
        phases: list[Phase] = []
        turns = options.rephrasing.turns(options.rephrasings)
        n_wordings = sum(family in FAMILIES for family in turns)
        if n_wordings:
            phases += rephrasing_phases(prompt, options.rephrasing, n_wordings, first_price)
        n_written = min(turns.count("text-paraphrase"), len(turns) - n_wordings - 1)  # one is the unchanged text
        texts_measured = [sample.text for sample in measurement.samples]
        phases += text_phases(texts_measured, n_written, options.rephrasing, first_price)
        for model, grid in measurement.grids(models):
            price = grid_price(model.name, in_batches=options.lm.batch)
            names = []
            if len(prompts) > 1:
                names.append(name)
            if len(models) > 1:
                names.append(model.name)
            answering.append(Phase(" ".join(names) or "answers", grid.need(price), cached=grid.cached))
            phases.append(answering[-1])
            if options.rephrasing.repeats:
                phases.append(_asked_again(measurement, model, price))
            estimates.append(CostEstimate(tuple(phases), price, kept_pace([model], provider)))
            phases = []  # texts are written only once, whichever model is asked
    judging = judging_phases(task, answering, options.rephrasings, first_price)
    counted = CostEstimate.of_several(estimates)
    return replace(counted, phases=(*counted.phases, *judging))


def _asked_again(measurement: Measurement, model: Model, price: Price | None) -> Phase:
    """What reruns take: a probe, or the whole grid if answers are drawn at random."""
    options = measurement.options
    askings = numbered([measurement.prompt] * max(2, options.rephrasings))
    probe = Grid.of(model, askings[:2], [sample.text for sample in measurement.probed])
    whole = Grid.of(model, askings[: options.rephrasings], [sample.text for sample in measurement.samples])
    expected = whole if options.lm.draws else probe
    times = f"{probe.calls:,} calls where no answer changes, else {whole.calls:,}"
    return Phase("asked again", expected.need(price), times, expected.cached)


def estimate_rephrasing(
    task: Task, prompt: Prompt | str | None, options: RephrasingOptions, n_texts: int
) -> CostEstimate:
    """Count what `rephrase` would ask for this many texts, including the original; nothing is sent."""
    phases = rephrasing_phases(prompt or task.description, options, n_texts - 1)
    return CostEstimate(tuple(phases), price_of(options.rephraser or ""))
