"""Options that go together, as one parameter of the commands that have them.

`verb` gives Typer a command with an option for each field, and hands the command the groups again.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import typer
from psopt.cli import _options as option
from psopt.cli._typer import SETTINGS, Command

_Flags = TypeVar("_Flags")


@dataclass(frozen=True, slots=True)
class DataFlags:
    """--dataset and what says how to read it."""

    dataset: option.Dataset
    text_column: option.TextColumn = None
    inputs: option.Inputs = None
    label_column: option.LabelColumn = None
    answers: option.Answers = None
    order: option.Order = None
    task_file: option.TaskFile = None
    test_file: option.TestFile = None
    strict_data: option.StrictData = False
    skip_empty: option.SkipEmpty = False
    pinned_column: option.PinnedColumn = None


@dataclass(frozen=True, slots=True)
class PromptFlags:
    """How a prompt of the user's own is read."""

    prompt_format: option.PromptFormat = None
    answer: option.Answer = None
    response_format: option.ResponseFormat = None


@dataclass(frozen=True, slots=True)
class MeasuringFlags:
    """On what prompts are measured, and where answers are kept."""

    strategy: option.Strategy = "simple"
    rephrasings: option.RephrasingCount = 10
    samples: option.Samples = 500
    seed: option.Seed = 42
    cache_dir: option.CacheDir = None


@dataclass(frozen=True, slots=True)
class PlannedFlags:
    """How large a run is, and where answers are kept."""

    effort: option.EffortOption = None
    strategy: option.Strategy = "simple"
    rephrasings: option.PlannedRephrasings = None
    heldout: option.PlannedHeldout = None
    samples: option.PlannedSamples = None
    train_samples: option.TrainSamples = None
    test_samples: option.TestSamples = None
    trials: option.Trials = None
    rounds: option.Rounds = None
    seed: option.Seed = 42
    cache_dir: option.CacheDir = None


@dataclass(frozen=True, slots=True)
class RephrasingFlags:
    """Where rephrasings come from."""

    rephraser: option.Rephraser = None
    judge: option.Judge = None
    rephrasings_file: option.RephrasingsFile = None
    vary: option.Vary = "paraphrase"
    keep_labels: option.KeepLabels = True


@dataclass(frozen=True, slots=True)
class RequestFlags:
    """What goes with each request; also for the commands that go on with a run."""

    extra_body: option.ExtraBody = None
    headers: option.Headers = None
    api_version: option.ApiVersion = None
    renegotiate: option.Renegotiate = False


@dataclass(frozen=True, slots=True)
class BatchFlags:
    """How grids are asked by a server's batch API."""

    batch: option.Batch = False
    batch_size: option.BatchSize = 50_000
    batch_tick: option.BatchTick = 15.0
    max_batches: option.MaxBatches = 100
    batch_keep_files: option.BatchKeepFiles = False


@dataclass(frozen=True, slots=True)
class ModelFlags:
    """How language models are asked, and what they may cost."""

    api_base: option.ApiBase = None
    concurrency: option.Concurrency = 32
    timeout: option.Timeout = 60.0
    retries: option.Retries = 12
    max_tokens: option.MaxTokens = 256
    structured: option.Structured = True
    logprobs: option.Logprobs = False
    hf_likelihood: option.HfLikelihood = "mean"
    calibration: option.Calibration = "auto"
    requests_per_minute: option.RequestsPerMinute = None
    max_unanswered: option.MaxUnanswered = 0.05
    max_calls: option.MaxCalls = None
    max_tokens_total: option.MaxTokensTotal = None
    max_cost: option.MaxCost = None
    batches: BatchFlags = field(default_factory=BatchFlags)
    request: RequestFlags = field(default_factory=RequestFlags)


@dataclass(frozen=True, slots=True)
class OutputFlags:
    """What is printed."""

    as_json: option.Json = False
    quiet: option.Quiet = False

    @property
    def silent(self) -> bool:
        """Whether nothing is said beside the result."""
        return self.as_json or self.quiet


def verb(example: str) -> Callable[[Callable[..., int]], typer.Typer]:
    """Make a function a command of its name, with its docstring and an example as help.

    A parameter that is a group of flags becomes an option for each of its fields.
    """

    def register(function: Callable[..., int]) -> typer.Typer:
        app = typer.Typer(add_completion=False, context_settings=SETTINGS)
        app.command(cls=Command, epilog=f"Example: {example}")(_flat(function))
        return app

    return register


def _flat(function: Callable[..., int]) -> Callable[..., int]:
    """The same function with an option for each field of its groups, as Typer reads signatures."""
    hints = get_type_hints(function, include_extras=True)

    @functools.wraps(function)
    def command(**values: Any) -> int:
        groups = {name: collect(hint, values) for name, hint in hints.items() if _is_group(hint)}
        own = {name: value for name, value in values.items() if name in hints}
        return function(**own, **groups)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        own = parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += _parameters(hint) if _is_group(hint) else [own]
    command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def _parameters(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for flag in fields(group):
        hint = hints[flag.name]
        if _is_group(hint):
            yield from _parameters(hint)
        else:
            default = inspect.Parameter.empty if flag.default is MISSING else flag.default
            yield inspect.Parameter(flag.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def collect(group: type[_Flags], values: Mapping[str, Any]) -> _Flags:
    """Make a group of flags from a command's values."""
    hints = get_type_hints(group)
    return group(**{name: collect(hint, values) if _is_group(hint) else values[name] for name, hint in hints.items()})
