"""Bad input: one clear line that says what is wrong, where, and how to fix it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.errors import DataError, InputError, UnknownNameError
from psopt.tasks import InputColumns, load_task, texts_of_file

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

HEAD = "text,label\n"
GOOD = "".join(f"good {i},yes\nbad {i},no\n" for i in range(5))


def error_of(path: str | Path, error: Any = DataError, **options: Any) -> str:
    with pytest.raises(error) as caught:
        load_task(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


BAD_CSV = {
    "empty file": ("", ["is empty"]),
    "blank file": (" \n\n", ["is empty"]),
    "byte order mark only": ("\ufeff", ["is empty"]),
    "header only": (HEAD, ["header", "no rows"]),
    "missing column": ("text,note\na,b\n", ["--label-column", "'text', 'note'"]),
    "missing text column": ("words,label\na,b\n", ["--text-column", "'words', 'label'"]),
    "doubled column": ("text,text,label\na,b,c\n", ["line 1", "two columns", "'text'"]),
    "too many fields": (HEAD + GOOD + "a,b,c\n", ["line 12", "3 fields", "header has 2", "quotes"]),
    "too few fields": (HEAD + "a\n" + GOOD, ["line 2", "1 fields"]),
    "open quote": (HEAD + GOOD + '"a,b\nc,d\n', ["line 12", "never closed"]),
    "text after a quote": (HEAD + '"a" b,c\n', ["line 2", "quote"]),
    "empty text": (HEAD + GOOD + " ,yes\n", ["line 12", "'text'", "is empty", "fill it in or remove"]),
    "empty label": (HEAD + GOOD + "a,\n", ["line 12", "'label'", "is empty"]),
    "line after a quoted break": (HEAD + '"a\nb",yes\nc,\n', ["line 4", "'label'", "is empty"]),
    "one class": (HEAD + "a,x\nb,x\nc,x\n", ["all samples have the label 'x'", "at least two"]),
    "duplicate ids": ("id,text,label\n7,a,x\n8,b,y\n7,c,x\n", ["line 4", "id '7'", "line 2"]),
    "empty id": ("id,text,label\n,a,x\n", ["line 2", "id is empty"]),
    "escape in a label": (HEAD + GOOD + "a,\x1b[31myes\n", ["'\\x1b[31myes'", "control character"]),
    "NUL byte": (HEAD + GOOD + "a\0b,yes\n", ["line 12", "NUL"]),
    "overlong text": (HEAD + GOOD + "x" * 1_000_000 + ",yes\n", ["line 12", "1,000,000", "100,000"]),
    "overlong label": (HEAD + GOOD + "a," + "x" * 300 + "\n", ["line 12", "'label'", "300"]),
    "broken label": (HEAD + GOOD + 'a,"x\ny"\n', ["line 12", "line break"]),
    "unknown split": ("text,label,split\na,x,trial\n", ["line 2", "'trial'", "train, val or test"]),
    "no train": ("text,label,split\na,x,test\nb,y,test\n", ["no sample as train"]),
    "one class in train": ("text,label,split\na,x,train\nb,y,test\n", ["all train samples", "'x'"]),
    "new label in test": ("text,label,split\na,x,train\nb,y,train\nc,z,test\n", ["test sample '3'", "'z'"]),
    "new label in val": ("text,label,split\na,x,train\nb,y,train\nc,z,val\n", ["val sample '3'", "'z'"]),
}


@each("case", BAD_CSV)
def test_a_bad_csv_file_is_told_in_one_line(tmp_path: Path, case: Any) -> None:
    content, parts = BAD_CSV[case]
    path = tmp_path / "d.csv"
    path.write_text(content, encoding="utf-8")
    message = error_of(path)
    assert message.startswith(str(path))
    for part in parts:
        assert part in message


BAD_JSONL = {
    "broken": ('{"text": "a", "label": "x"}\n{"text": \n', ["line 2", "no valid JSON"]),
    "a list": ('["a", "x"]\n', ["line 1", "expected an object"]),
    "too deep": ("[" * 100_000 + "\n", ["line 1", "no valid JSON"]),
    "a number as text": ('{"text": 3, "label": "x"}\n', ["line 1", "'text'", "3", "not text"]),
    "a missing text": ('{"text": "a", "label": "x"}\n{"label": "x"}\n', ["line 2", "'text'", "is empty"]),
    "a list as label": ('{"text": "a", "label": ["x"]}\n', ["line 1", "'label'", "not the name of a class"]),
    "a fraction as label": ('{"text": "a", "label": 0.5}\n', ["line 1", "0.5", "not the name of a class"]),
    "an escaped NUL": ('{"text": "a\\u0000", "label": "x"}\n', ["line 1", "NUL"]),
    "half a surrogate": ('{"text": "a\\ud800", "label": "x"}\n', ["line 1", "surrogate", "character 2"]),
}


@pytest.mark.parametrize("case", BAD_JSONL)
def test_a_bad_jsonl_file_is_told_in_one_line(tmp_path: Path, case: Any) -> None:
    content, parts = BAD_JSONL[case]
    path = tmp_path / "d.jsonl"
    path.write_text(content, encoding="utf-8")
    message = error_of(path)
    for part in parts:
        assert part in message


def test_wrong_encoding_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + GOOD).encode() + "café,yes\n".encode("latin-1"))
    message = error_of(path)
    assert "line 12" in message
    assert "0xe9" in message
    assert "iconv" in message


def test_utf16_is_recognized(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD, encoding="utf-16")
    assert "UTF-16" in error_of(path)


def test_parquet_faults_name_the_row(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"text": ["a", None], "label": ["x", "y"]}), path)
    assert "row 2" in error_of(path)
    pq.write_table(pa.table({"text": [1, 2], "label": ["x", "y"]}), path)
    assert "row 1" in error_of(path)
    pq.write_table(pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.string())}), path)
    assert "no rows" in error_of(path)
    path.write_text("text,label\n")
    assert "can't be read as Parquet" in error_of(path)


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text(HEAD + GOOD)
    message = error_of(tmp_path / "tickers.csv")
    assert "no such file" in message
    assert "did you mean 'tickets.csv'?" in message
    assert "no such file" in error_of(tmp_path / "nowhere" / "tickets.csv")


def test_a_folder_and_an_unknown_ending_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in error_of(tmp_path)
    (tmp_path / "d.xlsx").write_text("x")
    assert ".csv .tsv .jsonl .parquet" in error_of(tmp_path / "d.xlsx")
    (tmp_path / "plain").write_text("x")
    assert "without an ending" in error_of(tmp_path / "plain")
    assert "can't be opened" in error_of(tmp_path / ("x" * 300 + ".csv"))


def test_an_unreadable_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal is made."""
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD)

    def refuse(self: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    assert "can't be read: Permission denied" in error_of(path)


def test_a_given_column_must_exist_and_differ(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD)
    message = error_of(path, text_column="txt")
    assert "has no column 'txt'; did you mean 'text'?" in message
    assert "'text', 'label'" in message
    assert "can't hold both" in error_of(path, text_column="text", label_column="text")


def test_a_label_of_the_test_file_that_train_lacks_is_told(tmp_path: Path) -> None:
    path, test = tmp_path / "d.csv", tmp_path / "t.csv"
    path.write_text(HEAD + GOOD)
    test.write_text(HEAD + "a,yes\nb,maybe\n")
    message = error_of(path, test_file=test)
    assert "'maybe'" in message
    assert "test-2" in message


def test_a_test_file_beside_marked_test_samples_is_refused(tmp_path: Path) -> None:
    path, test = tmp_path / "d.csv", tmp_path / "t.csv"
    path.write_text("text,label,split\na,x,train\nb,y,train\nc,x,test\n")
    test.write_text(HEAD + "a,x\n")
    assert "one or the other" in error_of(path, test_file=test)


def test_a_class_that_stands_in_test_only_after_deduplication_is_told(tmp_path: Path) -> None:
    path, test = tmp_path / "d.csv", tmp_path / "t.csv"
    path.write_text(HEAD + GOOD + "odd one,odd\n")
    test.write_text(HEAD + "Odd  one,odd\n")
    assert "class 'odd' has too few samples to split: 0" in error_of(path, test_file=test)


def test_labels_are_required_unless_said(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("text\na\nb\n")
    assert "--label-column" in error_of(path)
    assert "--task-file" in error_of(path, require_labels=False)
    assert "no column 'kind'" in error_of(path, label_column="kind", require_labels=False)


def test_an_unknown_name_suggests_the_nearest() -> None:
    message = error_of("terc", UnknownNameError)
    assert "did you mean 'trec'?" in message
    assert ".csv" in message
    assert "known: cb, dbpedia, rte, trec, wos" in error_of("imdb-reviews", UnknownNameError)


@pytest.mark.parametrize("name", ["terc.csv", "data/trec", "./trec"])
def test_what_looks_like_a_path_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no such file" in error_of(name)


def test_hub_names_of_another_form_say_what_is_expected() -> None:
    message = error_of("hf:imdb", InputError)
    assert "hf:ORG/NAME is expected" in message


@pytest.mark.parametrize(
    ("options", "part"),
    [({"text_column": "q"}, "--text-column"), ({"task_file": "t.toml"}, "--task-file"), ({"seed": -1}, "seed")],
)
def test_options_without_effect_are_refused(options: dict[str, Any], part: str) -> None:
    assert part in error_of("trec", InputError, **options)


def test_json_numbers_of_absurd_length_are_told(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"text": "a", "label": "x"}) + '\n{"text": "b", "label": ' + "1" * 5000 + "}\n")
    assert "line 2" in error_of(path)


def test_all_bad_rows_are_told_in_one_message_by_kind(tmp_path: Path) -> None:
    """The first ten rows of each kind, and how many there are."""
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD + ",yes\n" * 21 + "a,\nb,\n" + '"c",' + "x" * 300 + "\n")
    message = error_of(path)
    empty, unlabelled, broken = message.split(" | ")
    assert "the text (column 'text') is empty in 21 rows: line 12, line 13, " in empty
    assert "line 21 and 11 more; fill it in" in empty
    assert "line 22" not in empty
    assert "--skip-empty" in empty
    assert unlabelled.startswith("the label (column 'label') is empty in 2 rows: line 33, line 34;")
    assert "--skip-empty" in unlabelled
    assert broken.startswith("line 35: the label (column 'label') has 300 characters; at most 200 are taken;")


def test_values_that_differ_are_one_kind_of_fault(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD + "x" * 200_000 + ",yes\n" + "x" * 300_000 + ",yes\n")
    message = error_of(path)
    assert "has too many characters in 2 rows: line 12, line 13 (the first: " in message
    assert "200,000" in message


def ids_of(task: Task) -> set[str]:
    return {sample.id for sample in (*task.train, *task.val, *task.test)}


def test_rows_without_a_text_are_left_out_if_said(tmp_path: Path) -> None:
    """Ids stay the numbers of the rows in the file."""
    path = tmp_path / "d.csv"
    path.write_text(HEAD + ",yes\n ,\n" + GOOD)
    task = load_task(path, skip_empty=True)
    assert task.info.note == "2 rows without a text are left out"
    assert ids_of(task) == {str(number) for number in range(3, 13)}
    toml = tmp_path / "d.toml"
    toml.write_text('data = "d.csv"\nskip_empty = true\n')
    assert load_task(toml).info.sha256 == task.info.sha256


def test_rows_without_a_label_are_left_out_too_if_said(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + ",yes\nunlabelled,\n,\n" + GOOD)
    task = load_task(path, skip_empty=True)
    assert task.info.note == "2 rows without a text are left out; 1 row without a label is left out"
    assert ids_of(task) == {str(number) for number in range(4, 14)}


def test_of_several_labels_an_empty_cell_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    rows = "".join(f"text {row},{'' if row % 3 else 'a;b'}\n" for row in range(12))
    path.write_text(HEAD + rows)
    task = load_task(path, answers="labels:;", skip_empty=True)
    assert len((*task.train, *task.val, *task.test)) == 12


def test_a_file_without_any_text_or_label_is_told_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + ",yes\n,no\n")
    assert "no row has a text" in error_of(path, skip_empty=True)
    path.write_text(HEAD + "one,\ntwo,\n")
    assert "no row has a label" in error_of(path, skip_empty=True)
    assert "skip-empty is for data files" in error_of("trec", InputError, skip_empty=True)


def test_rows_to_classify_are_told_no_option_that_classify_lacks(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("text,note\n,a\n,b\n")
    with pytest.raises(DataError) as caught:
        texts_of_file(path, InputColumns(("text",)))
    assert "is empty in 2 rows: line 2, line 3; fill it in or remove the row" in str(caught.value)
    assert "skip" not in str(caught.value)
