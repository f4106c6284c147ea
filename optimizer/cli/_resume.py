"""`psopt resume`."""

from __future__ import annotations

from typing import Annotated

import typer
from psopt.cli._flags import OutputFlags, RequestFlags, verb
from psopt.cli._options import (
    CacheDir,
    DryRun,
    MaxCalls,
    MaxCost,
    MaxTokensTotal,
    RaceName,
    RunFolder,
    option,
    positive,
)

_AS_BEFORE = "the run's"

Trials = Annotated[
    int | None, option("Search", "--trials", "A new total of trials", "N", min=1, show_default=_AS_BEFORE)
]
LeaveOneOut = Annotated[
    int | None, option("Search", "--leave-one-out", "Measure what so many edits contribute.", "N", min=0)
]
Race = Annotated[
    RaceName | None,
    option(
        "Search",
        "--race",
        "Whether to stop asking about a prompt once others are clearly better",
        show_default=_AS_BEFORE,
    ),
]
MaxPromptTokens = Annotated[
    int | None,
    option(
        "Search",
        "--max-prompt-tokens",
        "Most tokens a call of a prompt that is handed back",
        "N",
        min=1,
        show_default=_AS_BEFORE,
    ),
]
MaxTokens = Annotated[
    int | None,
    option("Model", "--max-tokens", "Most tokens of one answer", "N", min=1, show_default=_AS_BEFORE),
]
MaxUnanswered = Annotated[
    float | None,
    option(
        "Limits",
        "--max-unanswered",
        "Texts that may be refused",
        "X",
        min=0,
        max=1,
        show_default=_AS_BEFORE,
    ),
]
ApiBase = Annotated[
    str | None,
    option("Model", "--api-base", "Where the server is now", "URL", show_default="where it was"),
]
Storage = Annotated[
    str | None,
    option("Search", "--storage", "The storage, where it needs a password that is not in PGPASSWORD.", "URL"),
]
Concurrency = Annotated[
    int | None,
    option("Model", "--concurrency", "Most requests in flight", "N", min=1, show_default=_AS_BEFORE),
]
Timeout = Annotated[
    float | None,
    option(
        "Model",
        "--timeout",
        "Seconds to wait for an answer at first",
        "S",
        callback=positive,
        show_default=_AS_BEFORE,
    ),
]
Retries = Annotated[
    int | None,
    option("Model", "--retries", "How often a failed call is sent again", "N", min=0, show_default=_AS_BEFORE),
]
Batch = Annotated[
    bool | None,
    option("Model", "--batch/--no-batch", "Ask by the server's batch API, or call by call", show_default=_AS_BEFORE),
]
BatchSize = Annotated[
    int | None, option("Model", "--batch-size", "Most requests in a batch", "N", min=1, show_default=_AS_BEFORE)
]
BatchTick = Annotated[
    float | None,
    option(
        "Model",
        "--batch-tick",
        "Seconds between two looks at open batches",
        "S",
        callback=positive,
        show_default=_AS_BEFORE,
    ),
]
MaxBatches = Annotated[
    int | None, option("Model", "--max-batches", "Most batches open at once", "N", min=1, show_default=_AS_BEFORE)
]
BatchKeepFiles = Annotated[
    bool | None,
    option(
        "Model",
        "--batch-keep-files/--no-batch-keep-files",
        "Leave the files of batches at the server, or delete them once their answers are kept",
        show_default=_AS_BEFORE,
    ),
]
Force = Annotated[
    bool,
    option("Search", "--force", "Even if the data, the rephrasings or psopt's version have changed."),
]


Log = Annotated[
    list[str] | None,
    option(
        "Output",
        "--log",
        "Record the run with mlflow[:EXPERIMENT], wandb[:PROJECT] or otel, several with commas between, or off",
        "TRACKER",
        show_default=_AS_BEFORE,
    ),
]


@verb("psopt resume runs/trec-minilm")
def resume(
    *,
    run: RunFolder,
    trials: Trials = None,
    leave_one_out: LeaveOneOut = None,
    race: Race = None,
    max_prompt_tokens: MaxPromptTokens = None,
    max_calls: MaxCalls = None,
    max_tokens_total: MaxTokensTotal = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_unanswered: MaxUnanswered = None,
    api_base: ApiBase = None,
    storage: Storage = None,
    request: RequestFlags,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    retries: Retries = None,
    batch: Batch = None,
    batch_size: BatchSize = None,
    batch_tick: BatchTick = None,
    max_batches: MaxBatches = None,
    batch_keep_files: BatchKeepFiles = None,
    cache_dir: CacheDir = None,
    force: Force = False,
    dry_run: DryRun = False,
    log: Log = None,
    output: OutputFlags,
) -> int:
    """Go on with an interrupted run, or add trials to a finished one.

    Answers that were paid for are not asked again. Limits count from now on.
    """
    from psopt.api import settings_to_resume
    from psopt.cli._run import run as carry_on
    from psopt.cli._run import show_run_estimate
    from psopt.cli._settings import request_options
    from psopt.tracking import tracker_names

    settings = settings_to_resume(
        run,
        trials=trials,
        leave_one_out=leave_one_out,
        race=race,
        max_prompt_tokens=max_prompt_tokens,
        storage=storage,
        log=None if log is None else tracker_names(log),
        api_base=api_base,
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        max_tokens=max_tokens,
        max_unanswered=max_unanswered,
        max_calls=max_calls,
        max_tokens_total=max_tokens_total,
        max_cost=max_cost,
        batch=batch,
        batch_size=batch_size,
        batch_tick=batch_tick,
        max_batches=max_batches,
        batch_keep_files=batch_keep_files,
        **request_options(request),
    )
    if settings.prompt and not output.silent:
        typer.echo(f"prompt {settings.prompt_file or settings.prompt.id}, as the run keeps it", err=True)
    if dry_run:
        return show_run_estimate(settings, cache_dir, as_json=output.as_json, run=run)
    return carry_on(settings, run, cache_dir, output, resume=True, force=force)
