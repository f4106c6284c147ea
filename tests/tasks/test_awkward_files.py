"""Files as people have them: quotes in .tsv, semicolons, columns without a name, labels that look the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from psopt.errors import DataError
from psopt.tasks import load_task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.tasks import Task

ROWS = [(f"text number {place}", ("spam", "ham")[place % 2]) for place in range(12)]


def texts_of(task: Task) -> list[str]:
    return [str(sample.text) for sample in (*task.train, *task.val, *task.test)]


def labels_of(task: Task) -> Counter[str]:
    return Counter(str(sample.label) for sample in (*task.train, *task.val, *task.test))


def loaded(path: Path, content: str, **options: object) -> Task:
    path.write_text(content, "utf-8")
    return load_task(path, **options)  # type: ignore[arg-type]


def lines(rows: Sequence[tuple[str, ...]], delimiter: str, header: str) -> str:
    return "\n".join([header, *(delimiter.join(row) for row in rows)]) + "\n"


def test_a_stray_quote_in_a_tsv_swallows_no_row(tmp_path: Path) -> None:
    rows = [*ROWS, ('"so he said', "ham"), ('5" screen', "spam"), ('what?"', "ham"), ('"all of ""it"""', "spam")]
    task = loaded(tmp_path / "a.tsv", lines(rows, "\t", "text\tlabel"))
    assert sorted(texts_of(task)) == sorted([*(text for text, _ in rows[:-1]), 'all of "it"'])


def test_quoted_fields_of_several_lines_are_read_in_a_tsv_too(tmp_path: Path) -> None:
    rows = [*ROWS, ('"first\nsecond\tthird"', "ham")]
    assert "first\nsecond\tthird" in texts_of(loaded(tmp_path / "a.tsv", lines(rows, "\t", "text\tlabel")))


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_csv_is_parted_by_what_its_header_is(delimiter: str, tmp_path: Path) -> None:
    rows = [(f"{text}, and more", label) for text, label in ROWS]
    task = loaded(tmp_path / "a.csv", lines(rows, delimiter, f"text{delimiter}label"))
    assert sorted(texts_of(task)) == sorted(text for text, _ in rows)


@pytest.mark.parametrize("header", ["text,label,", "text,label,,", "text,label"])
def test_columns_without_a_name_are_left_out_where_they_are_empty(header: str, tmp_path: Path) -> None:
    rows = [(*row, "", "") if header.count(",") == 3 else (*row, "") for row in ROWS]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", header))
    assert labels_of(task) == {"spam": 6, "ham": 6}
    assert type(task.train[0].text) is str


def test_an_index_without_a_name_is_a_field_and_no_fault(tmp_path: Path) -> None:
    rows = [(str(place), *row) for place, row in enumerate(ROWS)]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", ",text,label"))
    assert task.train[0].text.fields["column 1"].isdigit()  # type: ignore[attr-defined]


def test_an_ndjson_is_a_jsonl(tmp_path: Path) -> None:
    content = "\n".join(f'{{"text": "{text}", "label": "{label}"}}' for text, label in ROWS)
    assert labels_of(loaded(tmp_path / "a.ndjson", content)) == {"spam": 6, "ham": 6}


def test_items_of_openais_evals_are_rows(tmp_path: Path) -> None:
    content = "\n".join(f'{{"item": {{"text": "{text}", "label": "{label}"}}}}' for text, label in ROWS)
    assert labels_of(loaded(tmp_path / "a.jsonl", content)) == {"spam": 6, "ham": 6}


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("1", "1.0", "1"),
        ("caf\u00e9", "cafe\u0301", "caf\u00e9"),
        ("spam", "sp\u200bam", "spam"),
        ("not spam", "not\u00a0spam", "not spam"),
        ("spam", "spam\ufeff", "spam"),
        ("\u2764", "\u2764\ufe0f", "\u2764"),
    ],
)
def test_labels_that_are_equal_to_the_eye_are_one(one: str, other: str, kept: str, tmp_path: Path) -> None:
    rows = [*((text, one if label == "spam" else "zero") for text, label in ROWS), ("one more", other)]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", "text,label"))
    assert labels_of(task) == {kept: 7, "zero": 6}
    assert "looks the same" in task.info.note
    (tmp_path / "a.toml").write_text(f'labels = ["{other}", "zero"]\n', "utf-8")
    told = load_task(tmp_path / "a.csv", task_file=tmp_path / "a.toml")
    assert labels_of(told) == {other: 7, "zero": 6}
    (tmp_path / "a.toml").write_text(f'labels = ["{one}", "{other}", "zero"]\n', "utf-8")
    with pytest.raises(DataError, match="look the same; rename one"):
        load_task(tmp_path / "a.csv", task_file=tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("not spam", "not_spam"),
        ("e-mail", "e\u2011mail"),
    ],
)
def test_labels_that_look_nearly_the_same_are_pointed_out(one: str, other: str, tmp_path: Path) -> None:
    rows = [*((text, one if label == "spam" else "zero") for text, label in ROWS), ("one more", other), ("two", other)]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", "text,label"))
    assert f"looks like {one!r}" in task.info.note
    assert len(task.labels) == 3


def test_numbers_that_signs_tell_apart_are_not_alike(tmp_path: Path) -> None:
    rows = [(f"text {place}", ["-1", "1", "1-1", "C", "C++"][place % 5]) for place in range(25)]
    assert "looks like" not in loaded(tmp_path / "a.csv", lines(rows, ",", "text,label")).info.note


def test_the_first_line_of_excel_says_the_delimiter(tmp_path: Path) -> None:
    task = loaded(tmp_path / "a.csv", "sep=;\n" + lines(ROWS, ";", "text;label"))
    assert labels_of(task) == {"spam": 6, "ham": 6}


def test_of_codes_the_names_beside_them_are_the_labels(tmp_path: Path) -> None:
    rows = [(text, str(int(label == "spam")), label) for text, label in ROWS]
    task = loaded(tmp_path / "a.csv", lines(rows, ",", "text,label,label_text"))
    assert task.labels == ("ham", "spam")
    assert "which names the codes of 'label'" in task.info.note
    assert "label" not in getattr(task.train[0].text, "fields", {})
    told = load_task(tmp_path / "a.csv", label_column="label")
    assert told.labels == ("0", "1")
    uneven = [(text, code, "other" if place == 0 else name) for place, (text, code, name) in enumerate(rows)]
    assert loaded(tmp_path / "b.csv", lines(uneven, ",", "text,label,label_text")).labels == ("0", "1")
