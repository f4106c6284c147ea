"""Options that several commands share."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._notices import hush

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions

Decorator = "Callable[[Callable[..., Any]], Callable[..., Any]]"


def dataset_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--dataset and what says how to read it."""
    options = [
        click.option(
            "--dataset",
            required=True,
            metavar="D",
            help="A built-in name (psopt data list) or a .csv .tsv .jsonl .parquet or task .toml file.",
        ),
        click.option("--text-column", metavar="NAME", help="Column that holds the texts."),
        click.option("--label-column", metavar="NAME", help="Column that holds the labels."),
        click.option(
            "--task-file",
            type=click.Path(path_type=Path),
            metavar="TOML",
            help="Task file: description, labels, definitions.",
        ),
        click.option(
            "--test-file", type=click.Path(path_type=Path), metavar="FILE", help="Test samples in a file of their own."
        ),
        click.option("--strict-data", is_flag=True, help="Fail rather than use the bundled sample."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_MODELS = "minilm, openai/NAME, hf/PATH, dspy/NAME or sim/OPTIONS"


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--model of a run, and what else says how prompts are measured."""
    command = measuring_options(command)
    return click.option("--model", default="minilm", show_default=True, metavar="M", help=f"{_MODELS}.")(command)


def prompt_model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same where --prompt may say which model it is for (see `choose_model`)."""
    command = measuring_options(command)
    said = f"{_MODELS} [default: the one that --prompt is for; minilm without --prompt]."
    return click.option("--model", metavar="M", help=said)(command)


def measuring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """On what prompts are measured, and where answers are kept."""
    options = [
        click.option(
            "--strategy",
            default="simple",
            show_default=True,
            metavar="S",
            help="Seed prompt: simple, detail or 1-shot.",
        ),
        click.option(
            "--rephrasings",
            default=10,
            show_default=True,
            type=click.IntRange(1),
            metavar="Q",
            help="How many wordings of the description, the original among them.",
        ),
        click.option(
            "--samples",
            default=500,
            show_default=True,
            type=click.IntRange(2),
            metavar="N",
            help="At most so many samples a split; test is used whole.",
        ),
        click.option(
            "--seed", default=42, show_default=True, type=click.IntRange(0), help="Seeds everything that is drawn."
        ),
        click.option(
            "--cache-dir",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Where answers are kept [default: $PSOPT_CACHE_DIR or the user's cache].",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def rephrasing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where rephrasings come from."""
    options = [
        click.option(
            "--rephraser", metavar="M", help="A model that writes the rephrasings [default: psopt's own, or rules]."
        ),
        click.option("--judge", metavar="M", help="A model that checks whether a rephrasing asks for the same."),
        click.option(
            "--rephrasings-file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A rephrasings.json, of `psopt rephrase` or of another run.",
        ),
        click.option(
            "--vary",
            default="paraphrase",
            show_default=True,
            metavar="F,F",
            help="What rephrasings change, in equal parts: paraphrase,wording,format,label-order,example-order.",
        ),
        click.option(
            "--keep-labels/--drop-labels",
            default=True,
            show_default=True,
            help="Whether a rephrasing must name the labels that the description enumerates.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _json_object(_context: click.Context, _option: click.Parameter, given: str | None) -> dict[str, Any] | None:
    """Read --extra-body."""
    if given is None:
        return None
    try:
        body = json.loads(given)
    except ValueError as error:
        raise click.BadParameter(f"no JSON: {error}") from None
    if not isinstance(body, dict):
        raise click.BadParameter('a JSON object is expected, such as \'{"reasoning_effort": "low"}\'')
    return body


def _headers(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Read --header; a value is never repeated."""
    pairs = [one.partition("=") for one in given]
    bad = next((index for index, (name, sign, _) in enumerate(pairs, 1) if not (name.strip() and sign)), None)
    if bad is not None:
        raise click.BadParameter(f"number {bad} has no '=': NAME=VALUE is expected")
    return {name.strip(): value.strip() for name, _, value in pairs} or None


REQUEST_OPTIONS = (
    click.option(
        "--extra-body",
        callback=_json_object,
        metavar="JSON",
        help="Merged into every request; a null leaves a field out.",
    ),
    click.option(
        "--header",
        "headers",
        multiple=True,
        callback=_headers,
        metavar="K=V",
        help="Sent with every request; may be repeated. Values are kept nowhere: give them again to resume.",
    ),
    click.option("--api-version", metavar="V", help="Azure's api-version [default: $OPENAI_API_VERSION]."),
    click.option("--renegotiate", is_flag=True, help="Find out anew what the server takes."),
)


def lm_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How language models are asked, and what they may cost: the fields of LMConfig."""
    options = [
        click.option(
            "--api-base",
            metavar="URL",
            help="An OpenAI-compatible server, such as http://localhost:8000/v1 [default: $OPENAI_BASE_URL or OpenAI].",
        ),
        click.option(
            "--concurrency", default=32, show_default=True, type=click.IntRange(1), help="Most requests in flight."
        ),
        click.option(
            "--timeout",
            default=60.0,
            show_default=True,
            type=click.FloatRange(0, min_open=True),
            metavar="S",
            help="Seconds to wait for an answer at first; then what answers take decides.",
        ),
        click.option(
            "--retries",
            default=12,
            show_default=True,
            type=click.IntRange(0),
            help="How often a failed call is sent again, or a server that is away looked for.",
        ),
        click.option(
            "--max-tokens", default=256, show_default=True, type=click.IntRange(1), help="Most tokens of one answer."
        ),
        click.option(
            "--structured/--plain",
            default=True,
            show_default=True,
            help="Hold the model to the labels where the server can, or let it answer freely.",
        ),
        click.option("--logprobs", is_flag=True, help="Measure with the labels' probabilities, not the answers alone."),
        click.option(
            "--hf-likelihood",
            default="mean",
            show_default=True,
            type=click.Choice(["mean", "sum"]),
            help="What hf/ models score a label by: its tokens' mean log-likelihood, or their sum.",
        ),
        click.option(
            "--requests-per-minute", type=click.FloatRange(0, min_open=True), metavar="N", help="Start no more."
        ),
        click.option(
            "--max-unanswered",
            default=0.05,
            show_default=True,
            type=click.FloatRange(0, 1),
            metavar="X",
            help="Stop, resumable, if the server refuses a larger share of the texts for good.",
        ),
        click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Stop, resumable, before more calls."),
        click.option("--max-tokens-total", type=click.IntRange(0), metavar="N", help="Stop before more tokens in all."),
        click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Stop before a higher cost."),
        *REQUEST_OPTIONS,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def request_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What goes with each request, for the verbs that go on with a run."""
    for option in reversed(REQUEST_OPTIONS):
        command = option(command)
    return command


def take_lm_options(options: dict[str, Any]) -> LMConfig:
    """Take the options of `lm_options` out of a command's."""
    from psopt.models.chat import LMConfig

    names = [field.name for field in fields(LMConfig)]
    given = {name: options.pop(name) for name in names if name in options}
    return LMConfig(**{**given, "headers": given.get("headers") or {}})


def take_rephrasing_options(options: dict[str, Any]) -> RephrasingOptions:
    """Take the options of `rephrasing_options` out of a command's."""
    from psopt.rephrasings import RephrasingOptions, check_judge, read_families

    check_judge(options["rephraser"], options["judge"])
    families = read_families(options.pop("vary"))
    file = options.pop("rephrasings_file")
    names = ("rephraser", "judge", "keep_labels")
    return RephrasingOptions(file=file, families=families, **{name: options.pop(name) for name in names})


JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--json and --quiet."""
    options = [
        JSON,
        click.option("--quiet", is_flag=True, callback=hush, help="Print nothing but errors."),
    ]
    for option in reversed(options):
        command = option(command)
    return command
