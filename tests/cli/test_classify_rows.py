"""`psopt classify` takes rows: the columns that the prompt names, from tables and from JSON lines."""

from __future__ import annotations

import csv
import itertools
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psopt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.errors import DataError, InputError
from psopt.search_spaces import Prompt, render
from psopt.tasks import InputColumns, Row, fields_of, texts_of_lines, texts_of_records
from psopt.templates import Field, Message, Part, Slot, Template

from tests import commands
from tests.cli.telling import check_refused
from tests.sweeps import each

LABELS = ("billing", "sales")
ROWS = [
    {"id": 7, "subject": 'An "offer", {body}', "body": "Dear all,\nwe sell {{subject}}", "spare": None},
    {"id": 9, "subject": "", "body": "a bill – 20 €", "spare": 2.0},
]


def own_prompt(*names: str) -> Prompt:
    fields = [piece for name in names for piece in (Field(name, f"{{{name}}}"), "\n")]
    template = Template((Message("user", (Part(0), Slot("notes"), "\n", *fields, "Team:")),))
    return Prompt("Which team?", LABELS, notes=('A mail with "offer" is for sales.',), template=template)


OWN, BODY, BOTH = Prompt("Which team?", LABELS), own_prompt("body"), own_prompt("subject", "body")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows in three forms, and prompts."""
    folder = tmp_path_factory.mktemp("rows")
    for name, prompt in {"both": BOTH, "body": BODY, "own": OWN}.items():
        (folder / f"{name}.json").write_text(json.dumps(prompt.to_dict()))
    (folder / "mine.txt").write_text("Say which team answers this mail: billing or sales.\n\n{subject}\n{body}\n")
    (folder / "list.json").write_text(json.dumps(ROWS))
    (folder / "ids.csv").write_text("id\n1\n")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "rows.parquet")
    with (folder / "rows.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, [*ROWS[0]], quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ROWS)
    return folder


class Asked:
    """A model that says sales where something is sold, and keeps what it was asked."""

    name = "asked"

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        self.texts = list(texts)
        return np.array([[int("sell" in render(prompt, text)[-1]["content"]) for prompt in prompts] for text in texts])


def classified(folder: Path, *words: str, texts: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    return commands.psopt(folder, "classify", *words, "--model", "sim", texts=texts, code=code)


@each("file", ["rows.csv", "rows.jsonl", "rows.parquet", "-"])
def test_rows_are_asked_by_the_columns_that_the_prompt_names(folder: Path, file: str) -> None:
    texts = (folder / "rows.jsonl").read_text() if file == "-" else ""
    done = classified(folder, file, "--prompt", "both.json", "--json", texts=texts)
    first, second = map(json.loads, done.stdout.splitlines())
    assert second["fields"] | {"spare": ""} == {"id": "9", "subject": "", "body": "a bill – 20 €", "spare": ""}
    assert first["fields"]["body"] == "Dear all,\nwe sell {{subject}}"
    assert first["text"] == 'subject: An "offer", {body}\nbody: Dear all,\nwe sell {{subject}}'
    assert {first["label"], second["label"]} <= set(LABELS)


def test_lines_are_the_one_field_that_a_prompt_names_or_rows(folder: Path) -> None:
    for lines, texts in {
        "a bill\n\n{to} pay\n": ["a bill", "{to} pay"],
        '{"body": "a bill"}\n{"body": 20}\n': ["a bill", "20"],
        '{"team": "a bill"}\n': ['{"team": "a bill"}'],
    }.items():
        done = classified(folder, "--prompt", "body.json", "--json", texts=lines)
        assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == texts


def test_the_own_form_reads_a_table_by_input_and_labels_are_told_to_a_prompt_that_knows_none(folder: Path) -> None:
    done = classified(folder, "rows.csv", "--prompt", "own.json", "--input", "subject", "--input", "body")
    assert len(done.stdout.splitlines()) == 2
    labels = [word for label in LABELS for word in ("--label", label)]
    done = classified(folder, "rows.csv", "--prompt", "mine.txt", *labels)
    assert set(done.stdout.split()) <= set(LABELS)
    assert "fields: subject, body" in done.stderr


@each(
    "words, texts, message",
    [
        (["both.json"], 'a bill\n["a"]\n', "its lines are no JSON objects, and the inputs are 'subject', 'body'"),
        (["both.json"], '{"subject": "a"}\n', "row 1 has no column 'body', which the prompt names"),
        (["both.json"], '{"subject": "a", "body": "b"}\n{"body": "b"}\n', "line 2: the input (column 'subj"),
        (["both.json", "ids.csv"], "", "which column holds the texts? Say --input NAME; its columns: 'id'"),
        (["own.json", "rows.csv", "--input", "bodi"], "", "has no column 'bodi'; did you mean 'body'?"),
        (["both.json"], "", "there is no text to classify"),
        (
            ["mine.txt"],
            "a",
            "is no JSON of psopt's: to classify, the labels must be known; give a prompt's JSON, or each",
        ),
        (["body.json"], '{"body": "a"}\n\nb\n', "line 3: no JSON object with 'body', as other lines are"),
        (["own.json", "list.json"], "", "list.json holds a list: put its items into a .jsonl file"),
        (["own.json", "--label", "refund"], "a", "has its own labels, "),
    ],
)
def test_rows_that_can_not_be_asked_are_told(folder: Path, words: list[str], texts: str, message: str) -> None:
    check_refused(classified(folder, "--prompt", *words, texts=texts, code=2), message)


def test_in_python_rows_are_mappings_and_what_is_lacking_is_told(tmp_path: Path) -> None:
    model = Asked()
    assert psopt.classify([], BODY, model=model) == []
    faults: list[tuple[Any, type[Exception], str]] = [
        ("an offer", InputError, "give a list, [text]"),
        (ROWS[0], InputError, "texts is a dict, and its columns' names would be classified: give a list of rows"),
        (pa.Table.from_pylist(ROWS), InputError, "texts is a Table"),
        (["a text"], DataError, "record 1: is a text alone, where the inputs are 'subject', 'body'; give a mapping"),
        ([{"subject": "a"}], DataError, "row 1 has no column 'body', which the prompt names"),
        ([ROWS[0], 7], DataError, "rows, record 2: expected a text or a mapping, not 7"),
    ]
    for rows, error, message in faults:
        with pytest.raises(error, match=re.escape(message)):
            psopt.classify(rows, BOTH, model=model)
    assert not hasattr(model, "texts")
    first, second = psopt.classify(ROWS, BOTH, model=model)
    assert (first.label, second.label) == ("sales", "billing")
    assert isinstance(first.text, Row)
    assert first.text.fields["id"] == "7"
    psopt.classify(["an offer", {"body": "none"}], BODY, model=model)
    assert [str(text) for text in model.texts] == ["an offer", "none"]
    mixed: list[str | Mapping[str, Any]] = ["a text", ROWS[1]]
    psopt.classify(iter(mixed), OWN, model=model, inputs=("subject", "body"))
    assert model.texts == ["a text", "body: a bill – 20 €"]
    (tmp_path / "mine.txt").write_text("Which team answers?")
    with pytest.raises(InputError, match="two labels, and this has only 'sales'"):
        psopt.classify(["we sell it"], tmp_path / "mine.txt", model=model, labels="sales")
    (answer,) = psopt.classify(["we sell it"], tmp_path / "mine.txt", model=model, labels=LABELS)
    assert answer.label == "sales"


def test_rows_of_pairs_are_put_together_as_the_data_set_does() -> None:
    columns = InputColumns.of_builtin("cb")
    (text,) = texts_of_records([{"id": 1, "hypothesis": "He {premise} left.", "premise": "She\nknows."}], columns)
    assert text == "Premise: She knows. Hypothesis: He {premise} left."
    assert fields_of(text)["premise"] == "She knows."
    columns = InputColumns(("subject", "body"), texts_alone=True)
    assert texts_of_lines("a\n\nb {\n", columns) == ["a", "b {"]
    inner = [f"a{sign}b" for sign in ("\u2028", "\x85", "\f", "\v", "\x1e")]
    assert texts_of_lines("\r\n".join(inner), columns) == inner
    assert texts_of_lines('{"subject": "a", "body": "b"}\n', columns) == ["subject: a\nbody: b"]


@each(
    "answers, truths, said, steady",
    [("number:0.5", (1, 2), ("1", "1.2", "1.4"), 1.0), ("ordinal", ("1", "2", "9"), ("1", "2", "2"), 0.6)],
)
def test_votes_of_a_prompt_away_from_its_data_compare_answers_as_its_run_did(
    tmp_path: Path, answers: str, truths: tuple[Any, ...], said: tuple[str, ...], steady: float
) -> None:
    records = [{"text": f"text {place}", "label": truths[place % len(truths)]} for place in range(60)]
    asked = itertools.count()

    def model(_: Any) -> str:
        return said[next(asked) % len(said)]

    task = psopt.Task.from_records(records, answers=answers)
    sizes: dict[str, Any] = {"trials": 1, "samples": 10, "test_samples": 10, "rephrasings": 3, "heldout": 3}
    run = psopt.optimize(task, model=model, out=tmp_path / answers[:3], concurrency=1, **sizes)
    prompt = run.path / "prompts" / f"{run.baseline.id}.json"
    (answer,) = psopt.classify(["a new text"], prompt, model=model, vote=True, rephrasings=3, concurrency=1)
    assert answer.sensitivity < 1 - steady + 0.1
    assert answer.agreement >= steady
