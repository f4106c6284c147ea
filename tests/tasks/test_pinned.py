"""A column ``pinned`` says which samples must stay right; where test is drawn, they are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import Task, load_task

if TYPE_CHECKING:
    from pathlib import Path

PINNED = {3, 8, 21}


def rows(column: str = "pinned", yes: Any = "yes", no: Any = "", split: str = "") -> list[dict[str, Any]]:
    of_split = {"split": split} if split else {}
    return [
        {
            "id": f"s{i}",
            "text": f"text {i}",
            "label": "ab"[i % 2],
            column: yes if i in PINNED else no,
            **(of_split if i in PINNED else {"split": "train"} if split else {}),
        }
        for i in range(40)
    ]


def pinned(task: Task, split: str) -> set[str]:
    return {sample.id for sample in getattr(task, split) if sample.pinned}


@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("TRUE", "FALSE"), (True, False), (1, 0), (1.0, None), ("x", "")]
)
def test_pinned_samples_are_in_test_where_that_is_drawn(yes: Any, no: Any) -> None:
    task = Task.from_records(rows(yes=yes, no=no))
    assert pinned(task, "test") == {f"s{i}" for i in PINNED}
    assert pinned(task, "train") == pinned(task, "val") == set()
    assert len(task.train) + len(task.val) + len(task.test) == 40
    assert task.info.note == ""
    assert task.fields == ("id", "text")  # no prompt is shown the column


def test_without_pinned_samples_the_splits_are_as_without_the_column() -> None:
    plain = [{name: value for name, value in row.items() if name != "pinned"} for row in rows()]
    assert Task.from_records(rows(yes="no")) == Task.from_records(plain)


def test_what_the_data_place_stays_there_and_that_is_told() -> None:
    task = Task.from_records(rows(split="val"))
    assert pinned(task, "val") == {f"s{i}" for i in PINNED}
    assert "3 pinned samples are in train or val" in task.info.note


def test_the_last_sample_of_a_class_stays_in_train() -> None:
    records = [{"text": f"text {i}", "label": "a", "pinned": ""} for i in range(20)]
    records.append({"text": "alone", "label": "b", "pinned": "1"})
    task = Task.from_records(records)
    assert [str(sample.text) for sample in task.train if sample.pinned] == ["alone"]


def test_the_column_may_have_another_name(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    lines = [f"{row['id']},{row['text']},{row['label']},{row['keep']}" for row in rows("keep", "1", "0")]
    path.write_text("\n".join(["id,text,label,keep", *lines]) + "\n")
    expected = {f"s{i}" for i in PINNED}
    assert pinned(load_task(path), "test") == set()
    assert pinned(load_task(path, pinned_column="keep"), "test") == expected
    assert pinned(Task.from_records(rows("keep"), pinned_column="keep"), "test") == expected
    toml = tmp_path / "t.toml"
    toml.write_text('data = "d.csv"\npinned_column = "keep"\n')
    assert pinned(load_task(toml), "test") == expected
    with pytest.raises(DataError, match="has no column 'kept'; did you mean 'keep'"):
        load_task(path, pinned_column="kept")
    with pytest.raises(DataError, match="column 'label' can't say both"):
        load_task(path, pinned_column="label")
    with pytest.raises(InputError, match="--pinned-column is for data files"):
        load_task("trec", pinned_column="keep")


def test_a_cell_that_says_neither_is_told() -> None:
    with pytest.raises(DataError, match="'pinned' says neither yes nor no in 3 rows: record 4, record 9, record 22"):
        Task.from_records(rows(yes="perhaps"))
