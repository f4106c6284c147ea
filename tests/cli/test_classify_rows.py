"""`psopt classify` takes rows: the columns that the prompt names, from tables and from JSON lines."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import psopt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.cli import main
from psopt.errors import DataError, InputError
from psopt.search_spaces import Prompt, render
from psopt.tasks import InputColumns, Row, fields_of, texts_of_lines, texts_of_records
from psopt.templates import Field, Message, Part, Slot, Template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LABELS = ("billing", "sales")
ROWS = [
    {"id": 7, "subject": 'An "offer", {body}', "body": "Dear all,\nwe sell {{subject}}", "spare": None},
    {"id": 9, "subject": "", "body": "a bill – 20 €", "spare": 2.0},
]


def template(*names: str) -> Template:
    fields = [piece for name in names for piece in (Field(name, f"{{{name}}}"), "\n")]
    return Template((Message("user", (Part(0), Slot("notes"), "\n", *fields, "Team:")),))


BOTH = Prompt("Which team?", LABELS, notes=('A mail with "offer" is for sales.',), template=template("subject", "body"))
BODY = Prompt("Which team?", LABELS, template=template("body"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    for name, prompt in {"both": BOTH, "body": BODY, "own": Prompt("Which team?", LABELS)}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(prompt.to_dict()))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    cells = [
        [f'"{str(value if value is not None else "").replace(chr(34), chr(34) * 2)}"' for value in row.values()]
        for row in ROWS
    ]
    lines = [",".join(line) for line in [list(ROWS[0]), *cells]]
    (tmp_path / "rows.csv").write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    return tmp_path


class Asked:
    """A model that says sales where something is sold, and keeps what it was asked."""

    name = "asked"

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        import numpy as np

        self.texts = list(texts)
        return np.array([[int("sell" in render(prompt, text)[-1]["content"]) for prompt in prompts] for text in texts])


def classified(*arguments: str, stdin: str = "", monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    with pytest.raises(SystemExit) as stop:
        main(["classify", *arguments, "--model", "minilm"])
    return int(stop.value.code or 0)


@pytest.mark.parametrize("file", ["rows.csv", "rows.jsonl", "rows.parquet", "-"])
def test_rows_are_asked_by_the_columns_that_the_prompt_names(
    here: Path, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = (here / "rows.jsonl").read_text() if file == "-" else ""
    assert classified(file, "--prompt", "both.json", "--json", stdin=stdin, monkeypatch=monkeypatch) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert second["fields"] | {"spare": ""} == {"id": "9", "subject": "", "body": "a bill – 20 €", "spare": ""}
    assert first["fields"]["body"] == "Dear all,\nwe sell {{subject}}"
    assert first["text"] == 'subject: An "offer", {body}\nbody: Dear all,\nwe sell {{subject}}'
    assert (first["label"], second["label"]) == ("sales", "billing")


def test_lines_are_the_one_field_that_a_prompt_names_or_rows(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for lines, texts in {
        "a bill\n\n{to} pay\n": ["a bill", "{to} pay"],
        '{"body": "a bill"}\n{"body": 20}\n': ["a bill", "20"],
        '{"team": "a bill"}\n': ['{"team": "a bill"}'],
    }.items():
        assert classified("--prompt", "body.json", "--json", stdin=lines, monkeypatch=monkeypatch) == 0
        assert [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()] == texts


def test_the_own_form_reads_a_table_by_input(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("rows.csv", "--prompt", "own.json", "--input", "subject", "--input", "body")
    assert classified(*arguments, monkeypatch=monkeypatch) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("--prompt", "both.json"), "a bill\n", "standard input, line 1: the line is no valid JSON"),
        (("--prompt", "both.json"), '["a"]\n', 'standard input, line 1: expected an object such as {"text"'),
        (("--prompt", "both.json"), '{"subject": "a"}\n', "row 1 has no column 'body', which the prompt names"),
        (
            ("--prompt", "both.json"),
            '{"subject": "a", "body": "b"}\n{"body": "b"}\n',
            "line 2: the input (column 'subj",
        ),
        (("ids.csv", "--prompt", "both.json"), "", "which column holds the texts? Say --input NAME; its columns: 'id'"),
        (("rows.csv", "--prompt", "own.json", "--input", "bodi"), "", "has no column 'bodi'; did you mean 'body'?"),
        (("--prompt", "both.json"), "", "there is no text to classify"),
        (("--prompt", "mine.txt"), "a", "each label with --label"),
    ],
)
def test_rows_that_can_not_be_asked_are_told(
    here: Path,
    arguments: tuple[str, ...],
    stdin: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (here / "ids.csv").write_text("id\n1\n")
    (here / "mine.txt").write_text("Which team? {body}")
    assert classified(*arguments, stdin=stdin, monkeypatch=monkeypatch) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_in_python_rows_are_mappings() -> None:
    model = Asked()
    first, second = psopt.classify(ROWS, BOTH, model=model)
    assert (first.label, second.label) == ("sales", "billing")
    assert isinstance(first.text, Row)
    assert first.text.fields["id"] == "7"
    psopt.classify(["an offer", {"body": "none"}], BODY, model=model)
    assert [str(text) for text in model.texts] == ["an offer", "none"]
    psopt.classify(ROWS, Prompt("Which team?", LABELS), model=model, inputs="body")
    assert model.texts == [row["body"] for row in ROWS]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a text"], "rows, record 1: is a text alone, where the inputs are 'subject', 'body'; give a mapping"),
        ([{"subject": "a"}], "row 1 has no column 'body', which the prompt names"),
        ([ROWS[0], 7], "rows, record 2: expected a text or a mapping, not 7"),
    ],
)
def test_in_python_too_what_is_lacking_is_told(rows: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        psopt.classify(rows, BOTH, model=Asked())
    assert message in str(caught.value)


def test_no_texts_get_no_answers_and_a_single_text_is_no_list() -> None:
    model = Asked()
    assert psopt.classify([], BODY, model=model) == []
    with pytest.raises(InputError, match=r"give a list, \[text\]"):
        psopt.classify("an offer", BODY, model=model)
    assert not hasattr(model, "texts")


def test_rows_of_pairs_are_put_together_as_the_data_set_does() -> None:
    columns = InputColumns.of_builtin("cb")
    (text,) = texts_of_records([{"id": 1, "hypothesis": "He {premise} left.", "premise": "She\nknows."}], columns)
    assert text == "Premise: She knows. Hypothesis: He {premise} left."
    assert fields_of(text)["premise"] == "She knows."
    assert InputColumns.of_builtin("trec") == InputColumns()


def test_the_own_form_takes_texts_alone_too(here: Path) -> None:
    model = Asked()
    own = Prompt("Which team?", LABELS)
    psopt.classify(["a text", ROWS[1]], own, model=model, inputs=("subject", "body"))
    assert model.texts == ["a text", "body: a bill – 20 €"]
    columns = InputColumns(("subject", "body"), texts_alone=True)
    assert texts_of_lines("a\n\nb {\n", columns) == ["a", "b {"]
    assert texts_of_lines('{"subject": "a", "body": "b"}\n', columns) == ["subject: a\nbody: b"]


def test_a_prompt_that_knows_no_labels_is_told_them_and_says_how_it_is_read(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine.txt").write_text("Say which team answers this mail: billing or sales.\n\n{subject}\n{body}\n")
    labels = [argument for label in LABELS for argument in ("--label", label)]
    assert classified("rows.csv", "--prompt", "mine.txt", *labels, monkeypatch=monkeypatch) == 0
    out, err = capsys.readouterr()
    assert set(out.split()) <= set(LABELS)
    assert "fields: subject, body" in err


def test_a_prompt_that_knows_no_labels_is_given_them(here: Path) -> None:
    (here / "mine.txt").write_text("Which team answers?")
    with pytest.raises(InputError, match="each label with --label"):
        psopt.classify(["we sell it"], here / "mine.txt", model=Asked())
    (answer,) = psopt.classify(["we sell it"], here / "mine.txt", model=Asked(), labels=LABELS)
    assert answer.label == "sales"
