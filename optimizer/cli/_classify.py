"""A prompt at work: `psopt classify`, and `psopt serve` for requests."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from psopt.cli._measuring import ModelChoice, choose_model, prompt_lines, read_prompts, reading_bar
from psopt.cli._tables import without_controls
from psopt.cli._typer import UsageError, is_given
from psopt.cli._verb import JSON, PICK, OutputOptions, verb
from psopt.cli._writing import as_json_text, print_json, tell, warn, with_version, wrapped
from psopt.errors import DataError, InputError, import_extra
from psopt.settings import PROMPT, AnsweringOptions, LMConfig, Panel, PersonOptions, PromptOptions
from psopt.text import as_text, counted, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.api import Classified, Classifier
    from psopt.runs import PromptSource
    from psopt.tasks import InputColumns

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        allow_dash=True,
        help="Texts, one per line, or rows: a .csv, .tsv, .jsonl or .parquet file; - is standard input.",
    ),
]
Source = Annotated[str, typer.Argument(metavar="PROMPT", help="A run directory, or a prompt's JSON.")]
_SERVER = Panel("Server")

# Groups of texts that are sent to a server at the same time: with 8 to 32 the rate stayed within a tenth (64
# connections). A model in this process reads one group at a time.
_GROUPS = 16


@verb("cat new.txt | psopt classify --prompt runs/tickets --wordings 5 --abstain 0.2 -")
def classify(
    *,
    file: File = Path("-"),
    prompt: str = PROMPT.first("A run directory, a prompt's JSON, or with --label your own prompt.", "P", default=...),
    pick: str = PICK,
    reading: PromptOptions,
    answering: AnsweringOptions,
    people: PersonOptions,
    lm: LMConfig,
    output: OutputOptions,
) -> int:
    """Classify texts (one per line) or the rows of a table, from FILE or standard input: one label per line.

    If the prompt names several fields, standard input has one JSON object per line. With --json a row's columns are
    printed with its label. With --wordings the share of the vote follows after a tab, and with --abstain or --target-f1
    the word `kept` or `person` after another.

    A run directory stands for its recommended prompt, or that of --pick. A run's prompt is used as in the run: with the
    same model, server, options and rephrasings.
    """
    from psopt.api import asking_rule

    (source,) = read_prompts([prompt_file(prompt, pick)], reading)
    if source.prompt is None and not answering.labels:
        source.with_labels()  # raises
    texts, columns = read_texts(file, source, answering.inputs)
    classifier, choice = classifier_for(source, columns, answering, texts, lm)
    rule = None
    if people != PersonOptions():
        source = replace(source, prompt=classifier.prompt)
        rule = asking_rule(
            source,
            answering.wordings,
            rate=people.abstain,
            target_f1=people.target_f1,
            model=choice.model,
            lm=choice.lm,
        )
    with reading_bar() as on_progress:
        answers = classifier(texts, on_progress)
    for_people: Sequence[bool | None] = [None] * len(answers)
    notes = []
    if rule:
        for_people = rule.to_person(answers)
        n, n_left = len(for_people), sum(map(bool, for_people))
        notes += wrapped([f"Left to a person: {n_left} of {n} texts ({100 * n_left / n:.0f} %).", *rule.lines])
    for answer, to_person in zip(answers, for_people, strict=True):
        if output.as_json:
            typer.echo(_json_line(answer, choice, to_person))
        else:
            typer.echo(_line(answer, to_person, has_voted=answering.wordings > 1))
    if not output.quiet:
        for note in filter(None, [*notes, _note(answers)]):
            typer.echo(note, err=True)
    return 0


def classifier_for(
    source: PromptSource, columns: InputColumns, answering: AnsweringOptions, texts: list[str], lm: LMConfig
) -> tuple[Classifier, ModelChoice]:
    """A prompt and its model, ready for texts like these, and how that was chosen; say both."""
    from psopt.api import Classifier, prompt_to_classify_with

    read = prompt_to_classify_with(source, answering.labels, texts)
    if read.notes:
        tell(*prompt_lines(source, read.prompt, read.notes))
    source = replace(source, prompt=read.prompt)
    choice = choose_model(answering.model, lm, [source])
    tell(choice.line)
    if choice.model == "minilm" and source.lacking:  # minilm reads texts together with a task's
        warn(f"the run's data can't be had, so answers may differ from the run's: {source.lacking}")
    if not is_given("max_unanswered"):  # a refused text is N/A here, and no measurement suffers
        choice = replace(choice, lm=replace(choice.lm, max_unanswered=1.0))
    return Classifier(source, columns, answering, model=choice.model, lm=choice.lm, sample_texts=texts), choice


def prompt_file(prompt: str, pick: str) -> str | Path:
    """The file of the prompt that --pick names, if --prompt is a run directory."""
    from psopt.runs import is_prompt_text, pick_note, picked_prompt

    if not prompt or is_prompt_text(prompt) or not Path(prompt).is_dir():  # an empty path would be this folder
        if is_given("pick"):
            raise UsageError(f"--pick picks a prompt of a run, and --prompt {prompt} is no run directory: leave it out")
        return prompt
    tell(*pick_note(Path(prompt), pick))
    return picked_prompt(Path(prompt), pick)


def _note(answers: list[Classified]) -> str:
    """Say how many texts have no label, and why; empty if all have one."""
    kinds = Counter(answer.na_kind or "unknown label" for answer in answers if answer.label is None)
    if not kinds:
        return ""
    counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    note = f"N/A: {kinds.total()} of {len(answers)} texts ({counts})"
    example = next((answer.said for answer in answers if answer.said), None)
    return f"{note}, such as {example!r}" if example else note


def _json_line(answer: Classified, choice: ModelChoice, to_person: bool | None) -> str:
    from psopt.tasks import columns_of_row

    columns = dict(columns_of_row(answer.text))
    entry: dict[str, Any] = {}
    if len(columns) > 1:
        entry["fields"] = columns
    entry |= {name: getattr(answer, name) for name in ("text", "label", "agreement", "sensitivity")}
    if to_person is not None:
        entry["to_person"] = to_person
    if answer.na_kind:
        entry |= {"na_kind": answer.na_kind, "said": answer.said}
    return as_json_text(with_version(entry | choice.to_dict()), indent=None)


def _line(answer: Classified, to_person: bool | None, *, has_voted: bool) -> str:
    from psopt.evaluation import NA

    cells = [without_controls(" ".join((answer.label or NA).split()))]  # one line per answer, whatever it contains
    if has_voted:
        cells.append(f"{answer.agreement:.2f}")
    if to_person is not None:
        cells.append("person" if to_person else "kept")
    return "\t".join(cells)


def read_texts(file: Path, source: PromptSource, inputs: Sequence[str]) -> tuple[list[str], InputColumns]:
    """Texts, one per line, or the rows of a table, and their columns; raises InputError or DataError without any."""
    from psopt.api import input_columns
    from psopt.tasks import columns_of, is_data_file, texts_of_file, texts_of_lines

    if is_data_file(file):
        columns = input_columns(source, inputs, columns_of(file))
        return texts_of_file(file, columns), columns
    columns = input_columns(source, inputs)
    if str(file) == "-":
        name, content = "standard input", as_text(sys.stdin.buffer.read(), "standard input", DataError)
    else:
        name, content = str(file), read_text(file, error=DataError)
    texts = texts_of_lines(content, columns, source=name)
    if not texts:
        raise InputError("there is no text to classify: one per line is expected")
    if n_empty := content.rstrip("\n").count("\n") + 1 - len(texts):
        warn(f"{counted(n_empty, 'empty line')} left out, so the answers have fewer lines than {name}")
    return texts, columns


@verb("psopt serve runs/tickets --port 8080")
def serve(
    *,
    prompt: Source,
    pick: str = PICK,
    reading: PromptOptions,
    answering: AnsweringOptions,
    host: str = _SERVER.first("The address to listen at; 0.0.0.0 for all of this machine.", "HOST", "127.0.0.1"),
    port: int = _SERVER.first("The port to listen at; 0 for a free one.", "PORT", 8080, least=0, most=65535),
    most_waiting: int = _SERVER.first(
        "Texts that may wait; others are told to ask again (429).", "N", 1000, least=1, flags="--max-waiting"
    ),
    client_keys: bool = _SERVER.first(
        "Ask the model with the key that each request bears; none is kept.", default=False
    ),
    lm: LMConfig,
    as_json: bool = JSON,
) -> int:
    """Answer OpenAI's clients with a run's prompt: the text is the last message, the label is the answer.

    The answer has the headers `x-psopt-agreement` and `x-psopt-sensitivity`, which are useful with --wordings. /health
    shows how many texts are waiting. At SIGTERM, accepted texts are answered before the process ends.
    """
    import_extra("uvicorn", "psopt serve", "serve")
    from psopt.api import input_columns
    from psopt.models.chat import asks_in_chat
    from psopt.serving import serve as answer_requests
    from psopt.tasks import texts_of_records

    (source,) = read_prompts([prompt_file(prompt, pick)], reading)
    columns = input_columns(source, answering.inputs)
    # A prompt that names columns is read together with a row that has them, and the others that it names.
    named = (*columns.names, *source.fields_named(columns.names))
    row = texts_of_records([dict.fromkeys(named, "..")], columns) if columns.names else []
    classifier, _ = classifier_for(source, columns, answering, row, lm)

    def say(address: str) -> None:
        if as_json:
            print_json({"url": f"{address}/v1", "prompt": classifier.prompt.id}, indent=None)
        tell(f"answering at {address}/v1 with prompt {classifier.prompt.id}")

    answer_requests(
        classifier,
        host=host,
        port=port,
        n_threads=_GROUPS if asks_in_chat(classifier.model) else 1,
        most_waiting=most_waiting,
        passes_keys=client_keys,
        on_ready=say,
    )
    return 0
