"""Tasks built in Python: from pairs, mappings, and the tables of pandas, Polars, Arrow and Hugging Face as they are."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import Sample, Task

from tests.sweeps import each
from tests.tasks.loading import samples_of

PAIRS = [(f"{label} {i}", label) for i in range(5) for label in ("good", "bad")]
TEXTS = [f"text {i}" for i in range(20)]
LABELS = ["good", "bad"] * 10


@each(
    "change, part",
    [
        ({"labels": ()}, "at least two labels, and this has none"),
        ({"labels": ("Number",)}, "only 'Number'"),
        ({"labels": ("Number", "Place")}, "'Person' is none of the labels"),
        ({"definitions": {"Persons": "x"}}, "did you mean 'Person'?"),
        ({"test": (Sample("train-0", "x", "Number"),)}, "id 'train-0' stands twice"),
    ],
)
def test_a_task_that_cannot_be_worked_with_is_refused(task: Task, change: dict[str, Any], part: str) -> None:
    with pytest.raises(DataError) as caught:
        replace(task, **change)
    assert part in str(caught.value)


def test_pairs_and_mappings_give_the_same_task_and_words_and_options_reach_it() -> None:
    mappings = [{"text": text, "label": label} for text, label in PAIRS]
    task = Task.from_records(PAIRS)
    assert Task.from_records(iter(mappings)) == task == Task.from_records([list(pair) for pair in PAIRS])
    assert len(Task.from_records({"train": mappings, "test": [mappings[0], mappings[-1]]}).test) == 2
    words: dict[str, Any] = {"name": "mood", "description": "Say how it is.", "noun": "word"}
    words |= {"labels": ("good", "bad"), "definitions": {"bad": "awful"}}
    unset: dict[str, Any] = dict.fromkeys(("inputs", "order", "text_column", "label_column", "answers"))
    task = Task.from_records(PAIRS, **words, **unset)
    assert {name: getattr(task, name) for name in words} == words
    assert task.info.name == "mood"


@each(
    "records, options, part",
    [
        ([], {}, "task: no records"),
        ([*PAIRS, ("a",)], {}, "record 11: expected a mapping or a (text, label) pair"),
        ([*PAIRS, ("a", None)], {}, "record 11: the label"),
        ([("a", "x"), ("b", "x")], {}, "all samples to learn from have the label 'x'"),
        (PAIRS, {"labels": ["good", "ugly"]}, "'bad' is none of the labels"),
        (PAIRS, {"labels": [0, 1]}, "labels: 0 is no text; write '0'"),
        (PAIRS, {"answers": "ordinal", "order": [1, 0]}, "order: 1 is no text; write '1'"),
        (
            PAIRS,
            {"answers": "ordinal", "order": "bad,better"},
            "label 'good' is not in the order of labels: bad, better",
        ),
        (PAIRS, {"pined_column": "sure"}, "there is no option 'pined_column'; did you mean 'pinned_column'"),
    ],
)
def test_records_and_options_that_cannot_be_used_are_told(records: Any, options: Any, part: str) -> None:
    with pytest.raises(InputError) as caught:
        Task.from_records(records, **options)
    assert part in str(caught.value)


@pytest.fixture
def pandas() -> Any:
    return pytest.importorskip("pandas")


def test_pandas_has_a_door_of_its_own(pandas: Any) -> None:
    frame = pandas.DataFrame({"body": [*TEXTS, None], "stars": pandas.Categorical([*LABELS, "bad"])})
    task = Task.from_pandas(frame, text_column="body", label_column="stars", skip_empty=True)
    assert len(samples_of(task)) == 20
    assert task.info.note == "1 row without a text is left out"
    with pytest.raises(DataError, match="task, row 21: the text"):
        Task.from_pandas(frame, text_column="body", label_column="stars")
    with pytest.raises(DataError, match="a DataFrame is expected, not list"):
        Task.from_pandas([("a", "b")])
    with pytest.raises(DataError, match="two columns are called 'label'"):
        Task.from_records(pandas.DataFrame([["a", "b", "c"]], columns=["text", "label", "label"]))
    numbered = pandas.DataFrame(PAIRS)
    with pytest.raises(InputError, match="columns are named by texts, not by 0; rename the column"):
        Task.from_pandas(numbered, text_column=0, label_column=1)
    with pytest.raises(InputError, match="no column has a text for its name; name two, such as 'text' and 'label'"):
        Task.from_pandas(numbered)
    whole = pandas.DataFrame({"text": [*TEXTS, ""], "label": [1, 2] * 10 + [None]})
    assert Task.from_records(whole, skip_empty=True).labels == ("1", "2")  # beside a missing one, pandas has floats


@each(
    "values, options, labels",
    [
        ([" a", "b "], {}, ("a", "b")),
        ([True, False], {}, ("False", "True")),
        ([np.bool_(False), np.bool_(True)], {}, ("False", "True")),
        ([np.float32(1), np.int64(2)], {}, ("1", "2")),
        ([Decimal(1), Decimal("2.00")], {}, ("1", "2")),
        ([0.5, np.float64(2), Decimal("3.5")], {"answers": "ordinal"}, ("0.5", "2", "3.5")),
        ([np.array(["a", "b"]), np.array(["a"])], {"answers": "labels"}, ("a", "b")),
        ([[np.int64(1), 2], [2]], {"answers": "labels"}, ("1", "2")),
    ],
)
def test_values_of_numpy_and_decimals_are_those_of_python(
    values: list[Any], options: Any, labels: tuple[str, ...], pandas: Any
) -> None:
    records = [{"text": text, "label": values[i % len(values)]} for i, text in enumerate(TEXTS)]
    assert Task.from_records(records, **options).labels == labels
    assert Task.from_pandas(pandas.DataFrame(records), **options).labels == labels


def test_classes_of_a_dataset_get_their_names_and_splits_are_taken_as_they_are() -> None:
    """-1 stands in data sets whose test labels are kept back."""
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["good", "bad"])
    features = datasets.Features({"text": datasets.Value("string"), "label": names})

    def dataset_of(texts: list[str], numbers: list[int]) -> Any:
        return datasets.Dataset.from_dict({"text": texts, "label": numbers}, features=features)

    whole = dataset_of(TEXTS, [0, 1] * 10)
    task = Task.from_records(whole)
    assert task.labels == Task.from_records(whole.with_format("numpy")).labels == ("bad", "good")
    assert {sample.text: sample.label for sample in samples_of(task)} == dict(zip(TEXTS, LABELS, strict=True))
    with pytest.raises(DataError, match=r"task, row 20: the label .* is empty"):
        Task.from_records(dataset_of(TEXTS, [*([0, 1] * 9), 0, -1]))
    with pytest.raises(DataError, match="label"):
        Task.from_records(whole.with_format(columns=["text"]))
    parts = {"train": dataset_of(TEXTS[:10], [0, 1] * 5), "validation": dataset_of(TEXTS[10:14], [0, 1] * 2)}
    parts["test"] = dataset_of(TEXTS[14:], [0, 1] * 3)
    task = Task.from_records(parts)
    assert task.test == Task.from_records(datasets.DatasetDict(parts)).test
    drawn = [[sample.text for sample in split] for split in (task.train, task.val, task.test)]
    assert drawn == [TEXTS[:10], TEXTS[10:14], TEXTS[14:]]
    assert not task.info.test_is_drawn
