"""Files that load, as people have them: labels and columns of all kinds, awkward but plain."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import DataError, MissingExtraError
from psopt.tasks import Task, load_task

from tests.sweeps import each
from tests.tasks.loading import samples_of, write_records

RECORDS = [
    {"text": f"{'who' if i % 2 else 'when'} is number {i} ?", "label": "Person" if i % 2 else "Date"} for i in range(20)
]
ROWS = [(f"text number {place}", ("spam", "ham")[place % 2]) for place in range(12)]
HALVES = {"spam": 6, "ham": 6}


def lines(rows: Sequence[tuple[str, ...]], delimiter: str, header: str) -> str:
    return "\n".join([header, *(delimiter.join(row) for row in rows)]) + "\n"


def loaded(path: Path, content: str, **options: Any) -> Task:
    path.write_text(content, "utf-8")
    return load_task(path, **options)


def texts_of(task: Task) -> set[str]:
    return {str(sample.text) for sample in samples_of(task)}


def labels_of(task: Task) -> Counter[str]:
    return Counter(str(sample.label) for sample in samples_of(task))


@each("names", [("question", "class"), ("Review", "Category"), ("sentence", "target")])
def test_customary_columns_are_found(tmp_path: Path, names: tuple[str, str]) -> None:
    records = [{"n": str(i), names[1]: row["label"], names[0]: row["text"]} for i, row in enumerate(RECORDS)]
    assert texts_of(load_task(write_records(tmp_path / "d.csv", records))) == {record["text"] for record in RECORDS}


def test_columns_of_all_roles_are_found_in_any_case(tmp_path: Path) -> None:
    ends = ("test", "val", "train", "train")
    columns = ("ID", "Split", "PINNED", "SubClass", "Text", "Label")
    rows = [(f"q{i}", ends[i % 4], "no", "s" * (i > 0), row["text"], i // 4 % 2) for i, row in enumerate(RECORDS)]
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    task = load_task(write_records(tmp_path / "d.csv", records))
    assert [sample.id for sample in task.test] == ["q0", "q4", "q8", "q12", "q16"]
    assert {sample.id for sample in task.samples if sample.subclass is None} == {"q0"}
    assert {sample.subclass for sample in task.samples} == {"s", None}
    assert task.fields == ("ID", "Text")
    both = [{"Split": "mine", "split": record["Split"]} | record | {"Split": "mine"} for record in records]
    assert load_task(write_records(tmp_path / "d.csv", both)).fields == ("Split", "ID", "Text")


@each("columns", [("text",), ("text", "label")])
def test_data_without_labels_are_all_val_where_labels_are_optional(tmp_path: Path, columns: Any) -> None:
    records = [dict.fromkeys(columns, "") | {"text": record["text"]} for record in RECORDS]
    (tmp_path / "words.toml").write_text('labels = ["Person", "Date"]\n')
    path = write_records(tmp_path / "d.csv", records)
    task = load_task(path, task_file=tmp_path / "words.toml", require_labels=False)
    assert (len(task.train), len(task.val), len(task.test)) == (0, 20, 0)
    assert task.labels == ("Person", "Date")
    assert {sample.label for sample in task.val} == {None}


def test_what_is_left_out_is_said_in_one_line(tmp_path: Path) -> None:
    task = load_task(write_records(tmp_path / "d.csv", [*RECORDS, {"text": "WHO is number 1 ?", "label": "Person"}]))
    assert task.info.note == "1 of 21 samples are left out: their texts stand more than once, or in another split"
    contradiction = [{"text": f"WHO is number {i} ?", "label": "Date"} for i in (3, 3, 5)]
    note = load_task(write_records(tmp_path / "e.csv", [*RECORDS, *contradiction])).info.note
    assert note == "5 of 23 samples are left out: their texts stand more than once, with different labels"


def test_the_column_of_texts_is_named_where_its_name_was_guessed_and_columns_that_tell_texts_apart(
    tmp_path: Path,
) -> None:
    records = [{"body": record["text"], "team": "a", "subject": "Hi", "label": record["label"]} for record in RECORDS]
    path = write_records(tmp_path / "d.csv", records)
    hint = "the texts are those of column 'body'; --input shows others too: 'team', 'subject'"
    assert load_task(path).info.note == hint
    assert load_task(path, text_column="body").info.note == ""
    with pytest.raises(DataError, match="it has 0, since 20 of 20 texts stand more than once"):
        load_task(path, inputs=["subject", "team"])
    with pytest.raises(DataError, match="38 of 40 texts are copies of others"):
        Task.from_records([("a", "x"), ("b", "y")] * 20)


def test_parquet_without_its_extra_is_one_line_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_records(tmp_path / "data.parquet", RECORDS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading data.parquet needs pyarrow.*psopt\[parquet\]"):
        load_task(str(path))


ITEMS = [f'{{"text": "{text}", "label": "{label}"}}' for text, label in ROWS]
STRAY = ['"so he said', '5" screen', 'what?"', '"all of ""it"""']
QUOTED = [(f'"{text}, and more"', f' "{label}"') for text, label in ROWS]
# A file's name, its content, and texts in it besides those of ROWS.
AWKWARD: list[tuple[str, str, set[str]]] = [
    ("a.csv", "\ufeff" + lines(ROWS, ",", "text,label") + '"two\nlines, ""quoted""",ham\n', {'two\nlines, "quoted"'}),
    ("b.csv", lines([*ROWS, (" b", "ham")], ",", "text,label"), {" b"}),
    ("c.csv", "\n \n" + lines(QUOTED, ",", '"text", "label"').replace("\n", "\n \n,,\n"), set()),
    *(("d.csv", lines([*ROWS, ("1, 2", "ham")], sign, f"text{sign}label"), {"1, 2"}) for sign in ";\t|"),
    ("e.csv", "sep=;\n" + lines(ROWS, ";", "text;label"), set()),
    ("f.ndjson", "\n".join(ITEMS), set()),
    ("g.jsonl", "\n".join(f'{{"item": {item}}}' for item in ITEMS), set()),  # of OpenAI's Evals
    *(
        (name, lines([*ROWS, *((field, "ham\t") for field in fields), ("\t", "")], "\t", "text\tlabel"), texts)
        for name in ("h.tsv", "h.csv")
        for fields, texts in (
            (STRAY, {*STRAY[:3], 'all of "it"'}),
            (['"first\nsecond\tthird"'], {"first\nsecond\tthird"}),
        )
    ),
]


@each("name, content, more", AWKWARD)
def test_files_are_read_as_people_have_them(name: str, content: str, more: set[str], tmp_path: Path) -> None:
    """Quotes, line breaks, delimiters, blank lines, and what other programs write before and around rows."""
    task = loaded(tmp_path / name, content)
    assert {text.removesuffix(", and more") for text in texts_of(task)} == {text for text, _ in ROWS} | more
    assert labels_of(task) == HALVES | {"ham": 6 + len(more)}


def test_an_index_without_a_name_is_a_field_and_no_fault(tmp_path: Path) -> None:
    rows = [(str(place), *row) for place, row in enumerate(ROWS)]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", ",text,label"))
    assert task.train[0].text.fields["column 1"].isdigit()  # type: ignore[attr-defined]


@each("one, other", [("1", "1.0"), ("caf\u00e9", "cafe\u0301"), ("spam", "sp\u200bam")])
def test_labels_that_are_equal_to_the_eye_are_one_and_the_plain_one_stands(
    one: str, other: str, tmp_path: Path
) -> None:
    rows = [*((text, one if label == "spam" else "zero") for text, label in ROWS), ("one more", other)]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", "text,label"))
    assert labels_of(task) == {one: 7, "zero": 6}
    assert "look the same" in task.info.note
    (tmp_path / "a.toml").write_text(f'labels = ["{other}", "zero"]\n', "utf-8")
    told = load_task(tmp_path / "a.csv", task_file=tmp_path / "a.toml")
    assert labels_of(told) == {other: 7, "zero": 6}
    (tmp_path / "a.toml").write_text(f'labels = ["{one}", "{other}", "zero"]\n', "utf-8")
    with pytest.raises(DataError, match="look the same; rename one"):
        load_task(tmp_path / "a.csv", task_file=tmp_path / "a.toml")
    if one == "1":
        return  # which is no plainer than 1.0: the more frequent one stands
    rows = [*((text, other if label == "spam" else "zero") for text, label in ROWS), ("one more", one)]
    assert labels_of(loaded(tmp_path / "a.csv", lines(rows, ",", "text,label"))) == {one: 7, "zero": 6}
    several = [(text, f"zero;{label}") for text, label in rows]
    assert loaded(tmp_path / "b.csv", lines(several, ",", "text,label"), answers="labels:;").labels == (one, "zero")


def test_of_codes_the_names_beside_them_are_the_labels(tmp_path: Path) -> None:
    rows = [(text, str(int(label == "spam")), label) for text, label in ROWS]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", "text,label,label_text"))
    assert task.labels == ("ham", "spam")
    assert "which names the codes of 'label'" in task.info.note
    assert "label" not in getattr(task.train[0].text, "fields", {})
    assert load_task(tmp_path / "a.csv", label_column="label").labels == ("0", "1")
    lost = lines(rows, ",", "text,label,label_text") + "lost,,\n"
    assert loaded(tmp_path / "a.csv", lost, skip_empty=True).labels == ("ham", "spam")
    uneven = [(text, code, "other" if place == 0 else name) for place, (text, code, name) in enumerate(rows)]
    assert loaded(tmp_path / "b.csv", lines(uneven, ",", "text,label,label_text")).labels == ("0", "1")
