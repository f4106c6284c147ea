"""Files that load: every format gives the same samples."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.errors import MissingExtraError
from psopt.tasks import Task, load_task

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = [
    {"text": f"{'who' if i % 2 else 'when'} is number {i} ?", "label": "Person" if i % 2 else "Date"} for i in range(20)
]


def write(path: Path, records: Any = RECORDS) -> Path:
    """Write records in the format that the ending says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        lines = [delimiter.join(records[0]), *(delimiter.join(map(str, record.values())) for record in records)]
        path.write_text("\n".join(lines) + "\n")
    return path


def everything(task: Task) -> tuple[Any, ...]:
    return (*task.train, *task.val, *task.test)


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.jsonl", "d.parquet", "D.CSV"])
def test_every_format_gives_the_same_task(tmp_path: Path, name: str) -> None:
    task = load_task(write(tmp_path / name), seed=0)
    expected = Task.from_records(RECORDS, name=task.name, seed=0)
    assert (task.train, task.val, task.test) == (expected.train, expected.val, expected.test)
    assert (task.info.source, expected.info.source) == ("file", "memory")
    assert task.info.sha256 == expected.info.sha256
    assert task.labels == ("Date", "Person")
    assert task.description == "Classify the text into one of the given classes."


def test_quoted_line_breaks_and_a_byte_order_mark_load(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv")
    path.write_text("\ufeff" + path.read_text() + '"two\nlines, ""quoted""",Person\n', encoding="utf-8")
    assert 'two\nlines, "quoted"' in {sample.text for sample in everything(load_task(path))}


@pytest.mark.parametrize("text", ["{text}", "{", "}} {0} {label!r} %s $text", "{{ jinja }}", "<b>&amp;"])
def test_braces_in_data_are_plain_text(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "d.jsonl", [*RECORDS, {"text": text, "label": "Date"}])
    assert text in {sample.text for sample in everything(load_task(path))}


@pytest.mark.parametrize(
    ("values", "labels"),
    [((0, 1), ("0", "1")), ((True, False), ("False", "True")), ((1.0, 2.0), ("1", "2")), ((" a", "b "), ("a", "b"))],
)
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_labels_become_text(tmp_path: Path, values: Any, labels: tuple[str, str], ending: str) -> None:
    records = [{"text": record["text"], "label": values[i % 2]} for i, record in enumerate(RECORDS)]
    assert load_task(write(tmp_path / f"d{ending}", records)).labels == labels


@pytest.mark.parametrize("names", [("question", "class"), ("Review", "Category"), ("sentence", "target")])
def test_customary_columns_are_found(tmp_path: Path, names: tuple[str, str]) -> None:
    records = [{"n": i, names[1]: record["label"], names[0]: record["text"]} for i, record in enumerate(RECORDS)]
    task = load_task(write(tmp_path / "d.csv", records))
    assert {sample.text for sample in everything(task)} == {record["text"] for record in RECORDS}


def test_columns_given_come_before_customary_ones(tmp_path: Path) -> None:
    records = [{"text": "same", "said": r["text"], "label": "same", "kind": r["label"]} for r in RECORDS]
    task = load_task(write(tmp_path / "d.csv", records), text_column="said", label_column="kind")
    assert task.labels == ("Date", "Person")
    assert {sample.text for sample in everything(task)} == {record["text"] for record in RECORDS}


def test_ids_and_subclasses_are_kept(tmp_path: Path) -> None:
    records = [{"id": f"q{i}", **record, "subclass": "x" if i else ""} for i, record in enumerate(RECORDS)]
    by_id = {sample.id: sample for sample in everything(load_task(write(tmp_path / "d.csv", records)))}
    assert by_id.keys() == {f"q{i}" for i in range(20)}
    assert (by_id["q0"].subclass, by_id["q1"].subclass) == (None, "x")


def test_a_text_of_just_the_longest_length_loads(tmp_path: Path) -> None:
    records = [*RECORDS, {"text": "x" * 100_000, "label": "Date"}]
    assert max(len(sample.text) for sample in everything(load_task(write(tmp_path / "d.csv", records)))) == 100_000


@pytest.mark.parametrize("columns", [("text",), ("text", "label")])
def test_data_without_labels_are_all_val_where_labels_are_optional(tmp_path: Path, columns: Any) -> None:
    records = [dict.fromkeys(columns, "") | {"text": record["text"]} for record in RECORDS]
    words = tmp_path / "words.toml"
    words.write_text('labels = ["Person", "Date"]\n')
    task = load_task(write(tmp_path / "d.csv", records), task_file=words, require_labels=False)
    assert (len(task.train), len(task.val), len(task.test)) == (0, 20, 0)
    assert task.labels == ("Person", "Date")
    assert {sample.label for sample in task.val} == {None}


def test_what_is_left_out_is_said_in_one_line(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "d.csv", [*RECORDS, {"text": "WHO is number 1 ?", "label": "Person"}]))
    assert task.info.note.startswith("1 of 21 samples are left out")


def test_parquet_without_its_extra_is_one_line_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"text": ["a"], "label": ["x"]}), path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading data.parquet needs pyarrow.*psopt\[parquet\]"):
        load_task(str(path))
