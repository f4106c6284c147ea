"""Splits: stratified, seeded, disjoint, and no text in two of them; and samples that are pinned to test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.errors import DataError
from psopt.tasks import Sample, Task, load_task, subset

from tests.sweeps import each
from tests.tasks.loading import samples_of, write_records
from tests.texts import words


def records_of(**sizes: int) -> list[tuple[str, Any]]:
    return [(f"text {i} of {label}", label) for label, n in sizes.items() for i in range(n)]


def sizes_of(samples: Sequence[Sample]) -> Any:
    return dict(sorted(Counter(sample.label for sample in samples).items()))


def counts_of(task: Task) -> tuple[int, int, int]:
    return (len(task.train), len(task.val), len(task.test))


def test_one_pool_is_split_60_20_20_in_every_class() -> None:
    task = Task.from_records(records_of(a=100, b=50, c=10))
    assert sizes_of(task.train) == {"a": 60, "b": 30, "c": 6}
    assert sizes_of(task.val) == sizes_of(task.test) == {"a": 20, "b": 10, "c": 2}
    assert task.info.test_is_drawn


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(3, 40), min_size=2), st.integers(0, 2**32))
def test_every_class_is_in_every_split_and_nothing_is_lost(sizes: Any, seed: Any) -> None:
    task = Task.from_records(records_of(**sizes), seed=seed)
    for split in (task.train, task.val, task.test):
        assert sizes_of(split).keys() == sizes.keys()
    assert sizes_of(samples_of(task)) == dict(sorted(sizes.items()))
    assert len({sample.id for sample in samples_of(task)}) == sum(sizes.values())


def test_seeds_differ_and_repeat() -> None:
    """Seed 0 is a seed like any other."""
    records = records_of(a=30, b=30)
    tasks = {seed: Task.from_records(records, seed=seed) for seed in (0, 1, 42)}
    assert len({task.info.sha256 for task in tasks.values()}) == 3
    assert Task.from_records(records, seed=0) == tasks[0]
    assert Task.from_records(records) == tasks[42]


def test_the_digest_sees_texts_labels_ids_and_splits() -> None:
    base = [{"id": i, "text": t, "label": y, "split": "train"} for i, (t, y) in enumerate(records_of(a=9, b=9))]
    changes: list[dict[str, str]] = [{}, {"id": "x"}, {"text": "x"}, {"label": "b"}, {"split": "test", "label": "a"}]
    assert len({Task.from_records([base[0] | change, *base[1:]]).info.sha256 for change in changes}) == len(changes)


def test_equal_texts_are_kept_once_and_conflicting_ones_dropped() -> None:
    twice = [("Who  won ?", "a"), ("who won ?", "a"), ("Ｗho won ?", "a"), ("which ?", "a"), ("Which ?", "b")]
    task = Task.from_records([*twice, *records_of(a=9, b=9)])
    texts = [sample.text for sample in samples_of(task)]
    assert texts.count("Who  won ?") == 1
    assert len(texts) == len({words(text) for text in texts}) == 19
    gone = Task.from_records([*records_of(a=9, b=9), ("x", "odd"), ("x", "a")])
    assert gone.labels == ("a", "b")  # a class that conflicting labels leave empty


def test_a_given_test_set_stays_as_it_is_and_leaves_train_and_val(tmp_path: Path) -> None:
    pool = write_records(tmp_path / "d.csv", [{"text": text, "label": label} for text, label in records_of(a=20, b=20)])
    test = tmp_path / "t.csv"
    test.write_text("text,label\nTEXT 0 of a,a\ntext 0 of a,a\ntext 0 of a,b\nnew,b\n")
    task = load_task(pool, test_file=test)
    assert [sample.text for sample in task.test] == ["TEXT 0 of a", "text 0 of a", "text 0 of a", "new"]
    assert [sample.id for sample in task.test] == ["test-1", "test-2", "test-3", "test-4"]
    assert counts_of(task) == (31, 8, 4)
    assert "text 0 of a" not in {sample.text for sample in (*task.train, *task.val)}


@each(
    "marked, expected",
    [
        ({"train": 10}, (12, 4, 4)),
        ({"train": 10, "val": 2, "test": 3}, (20, 4, 6)),
        # val beside a given test set has at most 1,000 samples
        ({"train": 4000, "test": 1}, (7000, 1000, 2)),
    ],
)
def test_marked_splits_are_kept_and_the_others_drawn(marked: dict[str, int], expected: tuple[int, int, int]) -> None:
    rows = [
        {"id": f"{split}{i}{label}", "text": f"{split} {i} {label}", "label": label, "split": split}
        for split, n in marked.items()
        for i in range(n)
        for label in "ab"
    ]
    task = Task.from_records(rows)
    assert counts_of(task) == expected
    for name in {"val", "test"} & marked.keys():
        assert all(sample.id.startswith(name) for sample in getattr(task, name))
    assert task.info.test_is_drawn == ("test" not in marked)
    assert not {sample.text for sample in task.test} & {sample.text for sample in (*task.train, *task.val)}


@given(st.dictionaries(st.sampled_from("abcdefghi"), st.integers(1, 50), min_size=1), st.integers(0, 100))
def test_a_subset_has_n_samples_and_one_of_each_class_where_there_is_room(sizes: Any, n: Any) -> None:
    samples = [
        Sample(f"{label} {i}", f"text {i} of {label}", label) for label, size in sizes.items() for i in range(size)
    ]
    n = min(n, len(samples))
    chosen = subset(samples, n, seed=0)
    assert len(set(chosen)) == len(chosen) == n
    assert set(chosen) <= set(samples)
    assert n < len(sizes) or sizes_of(chosen).keys() == sizes.keys()


def test_a_class_too_rare_to_split_stays_in_train() -> None:
    whole = Task.from_records(records_of(a=50, b=50))
    task = Task.from_records(records_of(a=50, b=50, odd=2))
    assert sizes_of(task.train) == {"a": 30, "b": 30, "odd": 2}
    assert (task.val, task.test) == (whole.val, whole.test)  # drawn as if there were no rare one
    assert task.labels == ("a", "b", "odd")
    assert task.info.note == (
        "classes with too few samples to split stay in train: no score on val and test is of 'odd' (2)"
    )
    equal = Task.from_records([*records_of(a=9, b=9), ("x", "odd"), ("X", "odd"), (" x", "odd")])
    assert "stay in train: no score on val and test is of 'odd' (1)" in equal.info.note
    assert counts_of(Task.from_records(records_of(a=2, b=2, c=1))) == (3, 1, 1)  # where all are rare


@each(
    "sizes, said",
    [
        (
            {"technical": 120, "billing": 80, "Billing": 30, "tecnical": 1},
            "label 'Billing' (30) looks like 'billing' (80), 'tecnical' (1) looks like 'technical' (120)",
        ),
        *(({"technical": 40, "billing": 40, slip: 3}, f"{slip!r} (3)") for slip in ("tehcnical", "technicals")),
        *(({"technical": 40, "billing": 40, slip: 3}, f"{slip!r} (3)") for slip in ("technicel", "technica")),
        ({"cat": 50, "car": 3, "level 1": 50, "level 2": 3}, ""),
        ({"-1": 5, "1": 5, "1-1": 5, "C": 5, "C++": 5}, ""),
    ],
)
def test_labels_one_edit_apart_from_a_frequent_one_are_pointed_out(sizes: dict[str, int], said: str) -> None:
    # texts that differ by more than the label's case
    note = Task.from_records([(f"{n} {i}", y) for n, y in enumerate(sizes) for i in range(sizes[y])]).info.note
    assert said in note
    assert ("looks like" in note) == bool(said)


PINNED = {3, 8, 21}
PINNED_IDS = {f"s{i}" for i in PINNED}


def rows(column: str = "pinned", yes: Any = "yes", no: Any = "", **of_pinned: Any) -> list[dict[str, Any]]:
    of_others = dict.fromkeys(of_pinned, "train")
    return [
        {"id": f"s{i}", "text": f"text {i}", "label": "ab"[i % 2], column: yes if i in PINNED else no}
        | (of_pinned if i in PINNED else of_others)
        for i in range(40)
    ]


def pinned(task: Task, split: str) -> set[str]:
    return {sample.id for sample in getattr(task, split) if sample.pinned}


@each("yes, no", [("yes", "no"), ("TRUE", "FALSE"), (True, False), (1, 0), (1.0, None), ("x", "")])
def test_pinned_samples_are_in_test_where_that_is_drawn(yes: Any, no: Any) -> None:
    task = Task.from_records(rows(yes=yes, no=no))
    assert pinned(task, "test") == PINNED_IDS
    assert pinned(task, "train") == pinned(task, "val") == set()
    assert sum(counts_of(task)) == 40
    assert task.info.note == ""
    assert task.fields == ("id", "text")  # no prompt is shown the column


def test_without_pinned_samples_the_splits_are_as_without_the_column() -> None:
    plain = [{name: value for name, value in row.items() if name != "pinned"} for row in rows()]
    assert Task.from_records(rows(yes="no")) == Task.from_records(plain)


def test_pinned_samples_that_the_data_place_stay_there_and_the_last_of_a_class_in_train() -> None:
    task = Task.from_records(rows(split="val"))
    assert pinned(task, "val") == PINNED_IDS
    assert "3 pinned samples are in train or val" in task.info.note
    records = [{"text": f"text {i}", "label": "a", "pinned": ""} for i in range(20)]
    task = Task.from_records([*records, {"text": "alone", "label": "b", "pinned": "1"}])
    assert [str(sample.text) for sample in task.train if sample.pinned] == ["alone"]


def test_of_equal_texts_the_pinned_one_stays() -> None:
    task = Task.from_records([*rows(), {**rows()[5], "id": "copy", "pinned": "yes"}])
    assert pinned(task, "test") == {*PINNED_IDS, "copy"}


def test_the_column_of_pinned_samples_may_have_another_name(tmp_path: Path) -> None:
    path = write_records(tmp_path / "d.csv", rows("keep", "1", "0"))
    toml = tmp_path / "t.toml"
    toml.write_text('data = "d.csv"\npinned_column = "keep"\n')
    assert pinned(load_task(path), "test") == set()
    by_option = (load_task(path, pinned_column="keep"), Task.from_records(rows("keep"), pinned_column="keep"))
    for task in (*by_option, load_task(toml)):
        assert pinned(task, "test") == PINNED_IDS
    with pytest.raises(DataError, match="has no column 'kept'; did you mean 'keep'"):
        load_task(path, pinned_column="kept")
    with pytest.raises(DataError, match="column 'label' can't say both"):
        load_task(path, pinned_column="label")
    with pytest.raises(DataError, match="'pinned' says neither yes nor no in 3 rows: record 4, record 9, record 22"):
        Task.from_records(rows(yes="perhaps"))
