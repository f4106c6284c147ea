"""Bad input: one clear line that says what is wrong, where, and how to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import load_task

from tests.sweeps import each
from tests.tasks.loading import samples_of

HEAD = "text,label\n"
GOOD = "".join(f"good {i},yes\nbad {i},no\n" for i in range(5))


def error_of(path: str | Path, error: Any = DataError, **options: Any) -> str:
    with pytest.raises(error) as caught:
        load_task(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


# What a file holds, and parts of what is told of it.
BAD_CSV: list[tuple[str, list[str]]] = [
    ("", ["is empty"]),
    (HEAD, ["header", "no rows"]),
    ("text,note\na,b\n", ["--label-column", "'text', 'note'"]),
    ("text,text,label\na,b,c\n", ["line 1", "two columns", "'text'"]),
    (HEAD + GOOD + "a,b,c\n", ["line 12", "3 fields", "header has 2", "quotes"]),
    (HEAD + GOOD + "a,N/A\nb,N/A\nc,N/A\n", ["label 'N/A'", "an answer that names no label", "rename it"]),
    (HEAD + GOOD + '"a,b\nc,d\n', ["line 12", "never closed"]),
    (HEAD + '"a" b,c\n', ["line 2", "quote"]),
    (HEAD + GOOD + " ,yes\n", ["line 12", "'text'", "is empty", "fill it in or remove"]),
    (HEAD + "a,x\nb,x\nc,x\n", ["all samples to learn from have the label 'x'", "two or more"]),
    ("id,text,label\n7,a,x\n8,b,y\n7,c,x\n", ["line 4", "id '7'", "line 2"]),
    (HEAD + GOOD + "a,\x1b[31myes\n", ["'\\x1b[31myes'", "control character"]),
    (HEAD + GOOD + "x" * 1_000_000 + ",yes\n", ["line 12", "1,000,000", "100,000"]),
    (HEAD + GOOD + 'a,"x\ny"\n', ["line 12", "line break"]),
    ("text,label,split\na,x,trial\n", ["line 2", "'trial'", "train, val or test"]),
    ("text,label,split\na,x,train\nb,y,test\n", ["all samples to learn from", "'x'"]),
    ("text,label,split\na,x,train\nb,y,train\nc,z,test\n", ["test sample '3'", "'z'"]),
    (  # values that differ are one kind of fault
        HEAD + GOOD + "x" * 200_000 + ",yes\n" + "x" * 300_000 + ",yes\n",
        ["has too many characters in 2 rows: line 12, line 13 (the first: ", "200,000"],
    ),
]
BAD_JSONL: list[tuple[str, list[str]]] = [
    ('{"text": "a", "label": "x"}\n{"text": \n', ["line 2", "no valid JSON"]),
    ('["a", "x"]\n', ["line 1", "expected an object"]),
    ('{"text": "a", "label": "x"}\n{"label": "x"}\n', ["line 2", "'text'", "is empty"]),
    ('{"text": "a", "label": ["x"]}\n', ["line 1", "'label'", "not the name of a class"]),
    ('{"text": "a\\ud800", "label": "x"}\n', ["line 1", "surrogate", "character 2"]),
    ('{"text": "a", "label": "x"}\n{"text": "b", "label": ' + "1" * 5000 + "}\n", ["line 2"]),
]
FILES = [("d.csv", content.encode(), parts) for content, parts in BAD_CSV]
FILES += [("d.jsonl", content.encode(), parts) for content, parts in BAD_JSONL]
FILES += [
    ("d.csv", (HEAD + GOOD).encode("utf-8-sig") + b"caf\xe9,yes\n", ["line 12", "0xe9", "iconv"]),
    ("d.csv", (HEAD + GOOD).encode("utf-16"), ["UTF-16"]),
    ("d.parquet", HEAD.encode(), ["can't be read as Parquet"]),
    ("d.xlsx", b"x", [".csv .tsv .jsonl .parquet"]),
    ("plain", b"x", ["without an ending"]),
]


# Options that don't go with a file.
OPTIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    (HEAD + GOOD, {"text_column": "txt"}, ["has no column 'txt'; did you mean 'text'?", "'text', 'label'"]),
    (HEAD + GOOD, {"text_column": "text", "label_column": "text"}, ["can't hold both"]),
    ("text\na\n", {"label_column": "kind", "require_labels": False}, ["no column 'kind'"]),
]


@each(
    "name, content, options, parts",
    [
        *((name, content, {}, parts) for name, content, parts in FILES),
        *(("d.csv", content.encode(), options, parts) for content, options, parts in OPTIONS),
    ],
)
def test_a_bad_file_is_told_in_one_line(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], parts: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = error_of(path, **options)
    assert message.startswith(str(path))
    for part in parts:
        assert part in message


def test_a_file_that_can_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(HEAD + GOOD)
    (tmp_path / "unlabelled.csv").write_text("text\na\nb\n")
    assert "--task-file" in error_of(tmp_path / "unlabelled.csv", require_labels=False)
    message = error_of(tmp_path / "tickers.csv")
    assert "no such file" in message
    assert "did you mean 'tickets.csv'?" in message
    assert "no such file" in error_of(tmp_path / "nowhere" / "tickets.csv")
    assert "is a folder" in error_of(tmp_path)
    assert "can't be opened" in error_of(tmp_path / ("x" * 300 + ".csv"))

    def refuse(self: Any) -> None:  # root may read everything, so the refusal is made
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    assert "can't be read: Permission denied" in error_of(path)


@each(
    "name, options, parts",
    [
        ("terc", {}, ["did you mean 'trec'?", ".csv"]),
        ("imdb-reviews", {}, ["known: cb, dbpedia, rte, trec, wos"]),
        *((name, {}, ["no such file"]) for name in ("terc.csv", "data/trec", "./trec")),
        # options without effect
        ("trec", {"text_column": "q"}, ["--text-column"]),
        ("trec", {"task_file": "t.toml"}, ["--task-file"]),
        ("trec", {"seed": -1}, ["seed"]),
        ("trec", {"skip_empty": True}, ["skip-empty is for data files"]),
        ("trec", {"answers": "ordinal"}, ["--answers is for data files"]),
        ("trec", {"pinned_column": "keep"}, ["--pinned-column is for data files"]),
    ],
)
def test_an_unknown_name_and_what_does_not_go_with_a_name_are_told(name: str, options: Any, parts: list[str]) -> None:
    message = error_of(name, InputError, **options)
    for part in parts:
        assert part in message


@each(
    "pool, test, told",
    [
        (HEAD + GOOD, "a,yes\nb,maybe\n", r"test-2.*'maybe'|'maybe'.*test-2"),
        ("text,label,split\na,x,train\nb,y,train\nc,x,test\n", "a,x\n", "one or the other"),
        # only after deduplication
        (HEAD + GOOD + "odd one,odd\n", "Odd  one,odd\n", "class 'odd' has too few samples to split: 0"),
    ],
)
def test_a_test_file_that_does_not_go_with_the_data_is_told(tmp_path: Path, pool: str, test: str, told: str) -> None:
    (tmp_path / "d.csv").write_text(pool)
    (tmp_path / "t.csv").write_text(HEAD + test)
    with pytest.raises(DataError, match=told):
        load_task(tmp_path / "d.csv", test_file=tmp_path / "t.csv")


def test_all_bad_rows_are_told_in_one_message_by_kind(tmp_path: Path) -> None:
    """The first ten rows of each kind, and how many there are."""
    path = tmp_path / "d.csv"
    path.write_text(HEAD + GOOD + ",yes\n" * 21 + "a,\nb,\n" + '"c",' + "x" * 300 + "\n")
    empty, unlabelled, broken = error_of(path).split(" | ")
    assert "the text (column 'text') is empty in 21 rows: line 12, line 13, " in empty
    assert "line 21 and 11 more; fill it in" in empty
    assert "line 22" not in empty
    assert "--skip-empty" in empty
    assert unlabelled.startswith("the label (column 'label') is empty in 2 rows: line 33, line 34;")
    assert "--skip-empty" in unlabelled
    assert broken.startswith("line 35: the label (column 'label') has 300 characters; at most 200 are taken;")


@each(
    "rows, note, first",
    [
        (",yes\n ,\n", "2 rows without a text are left out", 3),
        (",yes\nunlabelled,\n,\n", "2 rows without a text are left out; 1 row without a label is left out", 4),
    ],
)
def test_rows_without_a_text_or_a_label_are_left_out_if_said(tmp_path: Path, rows: str, note: str, first: int) -> None:
    """Ids stay the numbers of the rows in the file."""
    path = tmp_path / "d.csv"
    path.write_text(HEAD + rows + GOOD)
    task = load_task(path, skip_empty=True)
    assert task.info.note == note
    assert {sample.id for sample in samples_of(task)} == {str(number) for number in range(first, first + 10)}
    (tmp_path / "d.toml").write_text('data = "d.csv"\nskip_empty = true\n')
    assert load_task(tmp_path / "d.toml").info.sha256 == task.info.sha256


def test_of_several_labels_an_empty_cell_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + "".join(f"text {row},{'' if row % 3 else 'a;b'}\n" for row in range(12)))
    assert len(samples_of(load_task(path, answers="labels:;", skip_empty=True))) == 12
