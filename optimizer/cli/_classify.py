"""`psopt classify`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._options import lm_options, output_options
from psopt.cli._writing import as_json_text
from psopt.errors import DataError, InputError

if TYPE_CHECKING:
    from psopt.api import Classified, Home
    from psopt.cli._model_choice import ModelChoice

_EXAMPLE = "Example: cat new.txt | psopt classify --prompt runs/tickets/prompts/1a2b3c.json --vote -"


@click.command(epilog=_EXAMPLE)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@click.option("--prompt", type=click.Path(path_type=Path), required=True, metavar="P", help="A prompt's JSON.")
@click.option("--model", metavar="M", help="The model that classifies [default: the one that the prompt is for].")
@click.option("--vote", is_flag=True, help="Ask under all rephrasings; the majority answers. Q times the price.")
@click.option("--rephrasings", default=10, show_default=True, type=click.IntRange(2), metavar="Q", help="With --vote.")
@click.option("--seed", default=42, show_default=True, type=click.IntRange(0), help="Seeds the rules' rephrasings.")
@click.option(
    "--cache-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where answers are kept."
)
@lm_options
@output_options
def classify(file: Path, prompt: Path, model: str | None, **options: Any) -> int:
    """Classify texts, one a line, from FILE or standard input: a label a line, in the same order.

    A prompt of a run is used as the run used it: with its model, at its server, asked as it was, and with its
    rephrasings.
    """
    from psopt.api import classify_texts, home_of
    from psopt.cli._model_choice import choose_model
    from psopt.cli._reading import reading_bar
    from psopt.runs import read_source

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    source = read_source(prompt)
    home = home_of(source)
    texts = _read(file)
    choice = choose_model({"model": model, **options}, [source], silent=quiet or as_json)
    _warn(home, choice.model, silent=quiet or as_json)
    lm = choice.lm
    if _is_default("max_unanswered"):  # a text that is refused is an N/A here, and spoils no measurement
        lm = replace(lm, max_unanswered=1.0)
    mine = {name: options[name] for name in ("vote", "rephrasings", "seed", "cache_dir")}
    with reading_bar(quiet=quiet or as_json) as on_progress:
        found = classify_texts(home, texts, choice.model, lm=lm, on_progress=on_progress, **mine)
    for one in found:
        click.echo(_line(one, choice if as_json else None, vote=options["vote"]))
    if not quiet and (note := _note(found)):
        click.echo(note, err=True)
    return 0


def _is_default(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.DEFAULT


def _note(found: list[Classified]) -> str:
    """Say how many texts have no label, and why; empty if all have one."""
    kinds = Counter(one.na_kind or "unknown label" for one in found if one.label is None)
    if not kinds:
        return ""
    counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    said = next((one.said for one in found if one.said), None)
    return f"N/A: {kinds.total()} of {len(found)} texts ({counts}){f', such as {said!r}' if said else ''}"


def _warn(home: Home, model: str, *, silent: bool) -> None:
    """Say that minilm, which reads texts relative to those of a task, does not have those of the run."""
    if home.lacking and model == "minilm" and not silent:
        click.echo(f"Note: the run's data can't be had, so answers may differ from the run's: {home.lacking}", err=True)


def _line(one: Classified, choice: ModelChoice | None, *, vote: bool) -> str:
    if choice is not None:
        why = {"na_kind": one.na_kind, "said": one.said} if one.na_kind else {}
        answer = {"text": one.text, "label": one.label, "agreement": one.agreement, **why}
        return as_json_text({**answer, **choice.to_dict()}, indent=None)
    from psopt.evaluation import NA

    label = one.label or NA
    return f"{label}\t{one.agreement:.2f}" if vote else label


def _read(file: Path) -> list[str]:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        lines = content.decode("utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8 (byte {error.start}): convert it to UTF-8") from error
    texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        raise InputError("there is no text to classify: one a line is expected")
    return texts
