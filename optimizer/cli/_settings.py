"""From flags to settings: the one place where what a command was given becomes what psopt's verbs take."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.api import MeasureOptions
    from psopt.cli._flags import DataFlags, MeasuringFlags, ModelFlags, PlannedFlags, RephrasingFlags, RequestFlags
    from psopt.cli._options import RaceName, SplitName
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions
    from psopt.runs import DataOptions, PlanOptions, PromptSource, RunSettings
    from psopt.search import SamplerName
    from psopt.tasks import Task


def data_options(data: DataFlags, folder: str = "", sources: Sequence[PromptSource] = ()) -> DataOptions:
    """Where the data are; `folder` is what names of files are relative to, prompts from `sources` name inputs."""
    from psopt.runs import DataOptions, inputs_named

    inputs = tuple(data.inputs or ())
    if not inputs and data.text_column is None:
        inputs = inputs_named(sources, data.dataset, _text(data.task_file))
    return DataOptions(
        data.dataset,
        data.text_column,
        data.label_column,
        _text(data.task_file),
        _text(data.test_file),
        data.strict_data,
        folder,
        inputs,
        *_answers(data, sources),
        data.skip_empty,
        data.pinned_column,
    )


def _answers(data: DataFlags, sources: Sequence[PromptSource]) -> tuple[str | None, tuple[str, ...]]:
    """The answer type and the order of labels: as told, else as a prompt from `sources` was measured."""
    if data.answers is None and data.order is None and _is_own(data.dataset):
        measured = [source.measured.dataset for source in sources if source.measured]
        for dataset in measured:
            if "answers" in dataset:
                return dataset["answers"], tuple(dataset.get("order", ()))
    return data.answers, _listed(data.order)


def _is_own(dataset: str) -> bool:
    """Whether data are a file or on the hub: built-in ones say themselves what their answers are."""
    from psopt.tasks import is_hub_name

    return bool(Path(dataset).suffix) or is_hub_name(dataset)


def _listed(order: str | None) -> tuple[str, ...]:
    """The labels of --order."""
    labels = tuple(label.strip() for label in (order or "").split(","))
    if order is not None and not all(labels):
        raise typer.BadParameter(f"{order!r} is no list of labels: LOW,MEDIUM,HIGH is expected", param_hint="'--order'")
    return labels if order is not None else ()


def load_data(
    data: DataFlags, seed: int, sources: Sequence[PromptSource] = (), *, require_labels: bool, silent: bool
) -> Task:
    """Load the task with the inputs that prompts name, and say what is to be said of it."""
    from psopt.answers import AnswerType

    task = data_options(data, sources=sources).load(seed, require_labels=require_labels)
    if task.info.note and not silent:
        typer.echo(f"Note: {task.info.note}", err=True)
    if (note := AnswerType.of(task).note) and not silent:
        typer.echo(f"Note: {note}", err=True)
    return task


def request_options(request: RequestFlags) -> dict[str, Any]:
    """What goes with each request, as fields of `LMConfig`."""
    pairs = [header.partition("=") for header in request.headers or []]
    return {
        "extra_body": request.extra_body,
        "headers": {name.strip(): value.strip() for name, _, value in pairs},
        "api_version": request.api_version,
        "renegotiate": request.renegotiate,
    }


def lm_options(lm: ModelFlags) -> LMConfig:
    """How language models are asked."""
    from psopt.models.chat import LMConfig

    return LMConfig(
        api_base=lm.api_base,
        concurrency=lm.concurrency,
        timeout=lm.timeout,
        retries=lm.retries,
        max_tokens=lm.max_tokens,
        structured=lm.structured,
        logprobs=lm.logprobs,
        hf_likelihood=lm.hf_likelihood,
        calibration=lm.calibration,
        requests_per_minute=lm.requests_per_minute,
        max_unanswered=lm.max_unanswered,
        max_calls=lm.max_calls,
        max_tokens_total=lm.max_tokens_total,
        max_cost=lm.max_cost,
        **asdict(lm.batches),
        **request_options(lm.request),
    )


def rephrasing_options(rephrasing: RephrasingFlags) -> RephrasingOptions:
    """Where rephrasings come from."""
    from psopt.rephrasings import RephrasingOptions, check_judge, read_families

    check_judge(rephrasing.rephraser, rephrasing.judge)
    return RephrasingOptions(
        rephraser=rephrasing.rephraser,
        judge=rephrasing.judge,
        file=rephrasing.rephrasings_file,
        keep_labels=rephrasing.keep_labels,
        families=read_families(rephrasing.vary),
    )


def measure_options(
    measuring: MeasuringFlags, split: SplitName, rephrasing: RephrasingFlags, lm: LMConfig
) -> MeasureOptions:
    """On what a prompt is measured."""
    from psopt.api import MeasureOptions

    return MeasureOptions(
        lm=lm,
        rephrasing=rephrasing_options(rephrasing),
        rephrasings=measuring.rephrasings,
        split=split,
        samples=measuring.samples,
        seed=measuring.seed,
        cache_dir=measuring.cache_dir,
    )


def run_settings(
    data: DataFlags,
    planned: PlannedFlags,
    rephrasing: RephrasingFlags,
    lm: LMConfig,
    sources: Sequence[PromptSource] = (),
    *,
    sampler: str,
    race: RaceName,
    max_prompt_tokens: int | None,
    no_verbatim: bool = False,
    without: tuple[str, ...] = (),
    **run: Any,
) -> tuple[RunSettings, PlanOptions]:
    """The settings of a run, and what of it is to be planned; `run` holds options of `psopt optimize` alone."""
    from psopt.runs import AskedSizes, PlanOptions, RunSettings, asked_for
    from psopt.search import SearchOptions
    from psopt.search_spaces import SearchRestriction
    from psopt.text import shell_line

    parts = SearchRestriction(max_prompt_tokens=max_prompt_tokens, no_verbatim=no_verbatim, without=without)
    settings = RunSettings(
        data=data_options(data, str(Path.cwd()), sources),
        strategy=planned.strategy,
        rephrasing=rephrasing_options(rephrasing),
        search=SearchOptions(sampler=cast("SamplerName", sampler), seed=planned.seed, parts=parts, race=race),
        lm=lm,
        command=shell_line(["psopt", *sys.argv[1:]]),
        **run,
    )
    sizes = AskedSizes.of(
        planned.samples,
        planned.train_samples,
        planned.test_samples,
        planned.rephrasings,
        planned.heldout,
        planned.trials,
        planned.rounds,
    )
    return asked_for(settings, sizes), PlanOptions(planned.effort, sizes)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
