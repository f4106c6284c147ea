"""`psopt classify`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from psopt.cli._flags import ModelFlags, OutputFlags, verb
from psopt.cli._options import CacheDir, Seed, option
from psopt.cli._typer import is_given
from psopt.cli._writing import as_json_text
from psopt.errors import DataError, InputError

if TYPE_CHECKING:
    from psopt.api import Classified
    from psopt.cli._model_choice import ModelChoice
    from psopt.runs import PromptSource

File = Annotated[Path, typer.Argument(metavar="FILE", allow_dash=True, help="Texts, one a line; - is standard input.")]
Prompt = Annotated[Path, option("Prompt", "--prompt", "A prompt's JSON.", "P")]
Model = Annotated[
    str | None,
    option("Model", "--model", "The model that classifies", "M", show_default="the one that the prompt is for"),
]
Vote = Annotated[
    bool, option("Rephrasings", "--vote", "Ask under all rephrasings; the majority answers. Q times the price.")
]
Rephrasings = Annotated[int, option("Rephrasings", "--rephrasings", "With --vote.", "Q", min=2)]


@verb("cat new.txt | psopt classify --prompt runs/tickets/prompts/1a2b3c.json --vote -")
def classify(
    *,
    file: File = Path("-"),
    prompt: Prompt,
    model: Model = None,
    vote: Vote = False,
    rephrasings: Rephrasings = 10,
    seed: Seed = 42,
    cache_dir: CacheDir = None,
    lm: ModelFlags,
    output: OutputFlags,
) -> int:
    """Classify texts, one a line, from FILE or standard input: a label a line, in the same order.

    A prompt of a run is used as the run used it: with its model, at its server, asked as it was, and with its
    rephrasings.
    """
    from psopt.api import classify as run_classification
    from psopt.cli._model_choice import choose_model
    from psopt.cli._reading import reading_bar
    from psopt.runs import read_source

    source = read_source(prompt)
    source.with_labels()
    texts = _read(file)
    choice = choose_model(model, lm, [source], silent=output.silent)
    if not output.silent:
        _warn(source, choice.model)
    options = choice.lm
    if not is_given("max_unanswered"):  # a text that is refused is an N/A here, and spoils no measurement
        options = replace(options, max_unanswered=1.0)
    with reading_bar(quiet=output.silent) as on_progress:
        answers = run_classification(
            texts,
            source,
            model=choice.model,
            vote=vote,
            rephrasings=rephrasings,
            seed=seed,
            lm=options,
            cache_dir=cache_dir,
            on_progress=on_progress,
        )
    for answer in answers:
        typer.echo(_line(answer, choice if output.as_json else None, vote=vote))
    if not output.quiet and (note := _note(answers)):
        typer.echo(note, err=True)
    return 0


def _note(answers: list[Classified]) -> str:
    """Say how many texts have no label, and why; empty if all have one."""
    kinds = Counter(answer.na_kind or "unknown label" for answer in answers if answer.label is None)
    if not kinds:
        return ""
    counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    example = next((answer.said for answer in answers if answer.said), None)
    return f"N/A: {kinds.total()} of {len(answers)} texts ({counts}){f', such as {example!r}' if example else ''}"


def _warn(source: PromptSource, model: str) -> None:
    """Say that minilm, which reads texts relative to those of a task, does not have those of the run."""
    if model == "minilm" and source.lacking:
        lacking = f"the run's data can't be had, so answers may differ from the run's: {source.lacking}"
        typer.echo(f"Note: {lacking}", err=True)


def _line(answer: Classified, choice: ModelChoice | None, *, vote: bool) -> str:
    if choice is not None:
        why = {"na_kind": answer.na_kind, "said": answer.said} if answer.na_kind else {}
        entry = {"text": answer.text, "label": answer.label, "agreement": answer.agreement, **why}
        return as_json_text({**entry, **choice.to_dict()}, indent=None)
    from psopt.evaluation import NA

    label = answer.label or NA
    return f"{label}\t{answer.agreement:.2f}" if vote else label


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
