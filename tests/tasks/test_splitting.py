"""Splits: stratified, seeded, disjoint, and no text in two of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psopt.tasks import Sample, Task, load_task, subset

from tests.texts import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def records_of(sizes: Any) -> list[tuple[str, Any]]:
    return [(f"text {i} of {label}", label) for label, n in sizes.items() for i in range(n)]


def sizes_of(samples: Sequence[Sample]) -> Any:
    return dict(sorted(Counter(sample.label for sample in samples).items()))


def test_one_pool_is_split_60_20_20_in_every_class() -> None:
    task = Task.from_records(records_of({"a": 100, "b": 50, "c": 10}))
    assert sizes_of(task.train) == {"a": 60, "b": 30, "c": 6}
    assert sizes_of(task.val) == sizes_of(task.test) == {"a": 20, "b": 10, "c": 2}


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(3, 40), min_size=2), st.integers(0, 2**32))
def test_every_class_is_in_every_split_and_nothing_is_lost(sizes: Any, seed: Any) -> None:
    task = Task.from_records(records_of(sizes), seed=seed)
    for split in (task.train, task.val, task.test):
        assert sizes_of(split).keys() == sizes.keys()
    total = sum((Counter(sizes_of(split)) for split in (task.train, task.val, task.test)), Counter())
    assert total == sizes
    assert len({sample.id for sample in (*task.train, *task.val, *task.test)}) == sum(sizes.values())


def test_seeds_differ_and_repeat() -> None:
    """Seed 0 is a seed like any other."""
    records = records_of({"a": 30, "b": 30})
    tasks = {seed: Task.from_records(records, seed=seed) for seed in (0, 1, 42)}
    assert len({task.info.sha256 for task in tasks.values()}) == 3
    assert Task.from_records(records, seed=0) == tasks[0]
    assert Task.from_records(records) == tasks[42]


def test_the_digest_sees_texts_labels_ids_and_splits() -> None:
    base = [{"id": i, "text": t, "label": y, "split": "train"} for i, (t, y) in enumerate(records_of({"a": 9, "b": 9}))]

    def digest(**changes: Any) -> Any:
        return Task.from_records([base[0] | changes, *base[1:]]).info.sha256

    changed = [{}, {"id": "x"}, {"text": "x"}, {"label": "b"}, {"split": "test", "label": "a"}]
    assert len({digest(**change) for change in changed}) == len(changed)


def test_equal_texts_are_kept_once_and_conflicting_ones_dropped() -> None:
    twice = [("Who  won ?", "a"), ("who won ?", "a"), ("Ｗho won ?", "a"), ("which ?", "a"), ("Which ?", "b")]
    task = Task.from_records([*twice, *records_of({"a": 9, "b": 9})])
    texts = [sample.text for sample in (*task.train, *task.val, *task.test)]
    assert texts.count("Who  won ?") == 1
    assert len(texts) == len({words(text) for text in texts}) == 19


def test_a_given_test_set_stays_as_it_is_and_leaves_train_and_val(tmp_path: Path) -> None:
    pool, test = tmp_path / "d.csv", tmp_path / "t.csv"
    rows = records_of({"a": 20, "b": 20})
    pool.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    test.write_text("text,label\nTEXT 0 of a,a\ntext 0 of a,a\ntext 0 of a,b\nnew,b\n")
    task = load_task(pool, test_file=test)
    assert [sample.text for sample in task.test] == ["TEXT 0 of a", "text 0 of a", "text 0 of a", "new"]
    assert [sample.id for sample in task.test] == ["test-1", "test-2", "test-3", "test-4"]
    assert (len(task.train), len(task.val)) == (31, 8)
    assert "text 0 of a" not in {sample.text for sample in (*task.train, *task.val)}


def marked(**splits: Any) -> list[Any]:
    return [
        {"id": f"{split}{i}{label}", "text": f"{split} {i} {label}", "label": label, "split": split}
        for split, n in splits.items()
        for i in range(n)
        for label in "ab"
    ]


@pytest.mark.parametrize(
    ("given_sizes", "expected"),
    [
        ({"train": 10}, (12, 4, 4)),
        ({"train": 10, "test": 3}, (16, 4, 6)),
        ({"train": 10, "val": 3}, (16, 6, 4)),
        ({"train": 10, "val": 2, "test": 3}, (20, 4, 6)),
    ],
)
def test_marked_splits_are_kept_and_the_others_drawn(
    given_sizes: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    task = Task.from_records(marked(**given_sizes))
    assert tuple(len(split) for split in (task.train, task.val, task.test)) == expected
    for name in ("val", "test"):
        if name in given_sizes:
            assert all(sample.id.startswith(name) for sample in getattr(task, name))


def test_val_beside_a_given_test_set_has_at_most_1000_samples() -> None:
    task = Task.from_records(marked(train=4000, test=1))
    assert (len(task.train), len(task.val)) == (7000, 1000)


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 50), min_size=1, max_size=9), st.integers(0, 100))
def test_a_subset_has_n_samples_and_one_of_each_class_where_there_is_room(sizes: Any, n: Any) -> None:
    samples = [
        Sample(f"{label} {i}", f"text {i} of {label}", label) for label, size in sizes.items() for i in range(size)
    ]
    n = min(n, len(samples))
    chosen = subset(samples, n, seed=0)
    assert len(set(chosen)) == len(chosen) == n
    assert set(chosen) <= set(samples)
    assert n < len(sizes) or sizes_of(chosen).keys() == sizes.keys()


def test_a_subset_keeps_the_order_and_the_shares() -> None:
    samples = [Sample(str(i), f"text {i}", "a" if i < 75 else "b") for i in range(100)]
    chosen = subset(samples, 20, seed=0)
    assert sizes_of(chosen) == {"a": 15, "b": 5}
    assert list(chosen) == sorted(chosen, key=lambda sample: int(sample.id))
    assert subset(samples, 100, seed=0) == tuple(samples)
    assert subset(samples, 20, seed=0) == chosen != subset(samples, 20, seed=1)


def test_a_class_too_rare_to_split_stays_in_train() -> None:
    task = Task.from_records(records_of({"a": 50, "b": 50, "odd": 2}))
    assert sizes_of(task.train) == {"a": 30, "b": 30, "odd": 2}
    assert sizes_of(task.val) == sizes_of(task.test) == {"a": 10, "b": 10}
    assert task.labels == ("a", "b", "odd")
    assert task.info.note == (
        "too few samples to split: class 'odd' (2) stays in train, and no score on val and test is of it"
    )


def test_equal_texts_of_a_rare_class_count_once() -> None:
    task = Task.from_records([*records_of({"a": 9, "b": 9}), ("x", "odd"), ("X", "odd"), (" x", "odd")])
    assert "class 'odd' (1) stays in train" in task.info.note


def test_a_class_that_conflicting_labels_leave_empty_is_gone() -> None:
    task = Task.from_records([*records_of({"a": 9, "b": 9}), ("x", "odd"), ("x", "a")])
    assert task.labels == ("a", "b")


def test_where_all_classes_are_rare_every_split_has_samples() -> None:
    task = Task.from_records(records_of({"a": 2, "b": 2, "c": 1}))
    assert [len(split) for split in (task.train, task.val, task.test)] == [3, 1, 1]


def test_the_other_classes_are_drawn_as_if_there_were_no_rare_one() -> None:
    whole = records_of({"a": 20, "b": 20})
    with_rare = Task.from_records([*whole, ("odd one", "odd")], seed=3)
    without = Task.from_records(whole, seed=3)
    assert (with_rare.val, with_rare.test) == (without.val, without.test)


def test_labels_one_edit_apart_from_a_frequent_one_are_pointed_out() -> None:
    other_case = [(f"bill {i}", "Billing") for i in range(30)]
    task = Task.from_records([*records_of({"technical": 120, "billing": 80, "tecnical": 1}), *other_case])
    assert "label 'Billing' (30) looks like 'billing' (80), 'tecnical' (1) looks like 'technical' (120)" in (
        task.info.note
    )
    assert (
        "looks like" not in Task.from_records(records_of({"cat": 50, "car": 3, "level 1": 50, "level 2": 3})).info.note
    )


@pytest.mark.parametrize("slip", ["tehcnical", "technicals", "technicel", "technica"])
def test_each_slip_of_the_pen_is_found(slip: str) -> None:
    assert f"{slip!r} (3)" in Task.from_records(records_of({"technical": 40, "billing": 40, slip: 3})).info.note
