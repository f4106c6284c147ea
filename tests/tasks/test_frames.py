"""Tables of pandas, Polars, Arrow and Hugging Face become tasks as they are."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pyarrow as pa
import pytest
from psopt.errors import DataError
from psopt.tasks import Task

TEXTS = [f"text {i}" for i in range(20)]
LABELS = ["good", "bad"] * 10
COLUMNS: dict[str, Any] = {"id": [f"s{i}" for i in range(20)], "text": TEXTS, "label": LABELS}


def by_id(task: Task) -> dict[str, tuple[str, str | None]]:
    return {sample.id: (str(sample.text), sample.label) for sample in (*task.train, *task.val, *task.test)}


EXPECTED = {f"s{i}": (f"text {i}", LABELS[i]) for i in range(20)}


def frame_of(library: str) -> Any:
    if library == "pyarrow":
        return pa.table(COLUMNS)
    module = pytest.importorskip(library)
    if library == "datasets":
        return module.Dataset.from_dict(COLUMNS)
    return module.DataFrame(COLUMNS)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "datasets"])
def test_a_table_is_records(library: str) -> None:
    task = Task.from_records(frame_of(library))
    assert by_id(task) == EXPECTED
    assert task == Task.from_records(
        [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    )


def test_a_lazy_frame_is_collected() -> None:
    polars = pytest.importorskip("polars")
    assert by_id(Task.from_records(polars.LazyFrame(COLUMNS))) == EXPECTED


def test_pandas_has_a_door_of_its_own() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"body": [*TEXTS, None], "stars": pandas.Categorical([*LABELS, "bad"])})
    task = Task.from_pandas(frame, text_column="body", label_column="stars", skip_empty=True)
    assert len(by_id(task)) == 20
    assert task.info.note == "1 row without a text is left out"
    with pytest.raises(DataError, match="task, row 21: the text"):
        Task.from_pandas(frame, text_column="body", label_column="stars")
    with pytest.raises(DataError, match="a DataFrame is expected, not list"):
        Task.from_pandas([("a", "b")])


def test_whole_numbers_beside_missing_ones_stay_whole() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": [*TEXTS, ""], "label": [1, 2] * 10 + [None]})
    assert Task.from_records(frame, skip_empty=True).labels == ("1", "2")


def test_two_columns_of_one_name_are_told() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["a", "b", "c"]], columns=["text", "label", "label"])
    with pytest.raises(DataError, match="two columns are called 'label'"):
        Task.from_records(frame)


class ClassLabel:
    """A stand-in of the shape that Hugging Face's feature has."""

    def __init__(self, names: list[str]) -> None:
        self.names = names


def dataset_of(texts: list[str], numbers: list[Any], names: list[str]) -> Any:
    """A dataset with numbered classes: the library's own where it is installed, else of the same shape."""
    try:
        datasets = importlib.import_module("datasets")
    except ImportError:
        rows = [{"text": text, "label": number} for text, number in zip(texts, numbers, strict=True)]
        kind = type("Dataset", (list,), {"__module__": "datasets.arrow_dataset"})
        dataset = kind(rows)
        dataset.features = {"text": object(), "label": ClassLabel(names)}
        return dataset
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)})
    return datasets.Dataset.from_dict({"text": texts, "label": numbers}, features=features)


@pytest.fixture(params=["installed", "stand-in"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "datasets", None)
    else:
        pytest.importorskip("datasets")
    return str(request.param)


@pytest.mark.usefixtures("library")
def test_numbered_classes_get_their_names() -> None:
    task = Task.from_records(dataset_of(TEXTS, [0, 1] * 10, ["good", "bad"]))
    assert task.labels == ("bad", "good")
    assert dict(by_id(task).values()) == dict(zip(TEXTS, LABELS, strict=True))


@pytest.mark.usefixtures("library")
def test_splits_are_taken_as_they_are() -> None:
    names = ["good", "bad"]
    parts = {
        "train": dataset_of(TEXTS[:10], [0, 1] * 5, names),
        "validation": dataset_of(TEXTS[10:14], [0, 1] * 2, names),
        "test": dataset_of(TEXTS[14:], [0, 1] * 3, names),
    }
    datasets = sys.modules.get("datasets")
    task = Task.from_records(datasets.DatasetDict(parts) if datasets else parts)
    assert [[str(sample.text) for sample in split] for split in (task.train, task.val, task.test)] == [
        TEXTS[:10],
        TEXTS[10:14],
        TEXTS[14:],
    ]
    assert not task.info.test_is_drawn


@pytest.mark.usefixtures("library")
def test_a_class_that_is_not_told_is_empty() -> None:
    """-1 stands in data sets whose test labels are kept back."""
    with pytest.raises(DataError, match=r"task, row 20: the label .* is empty"):
        Task.from_records(dataset_of(TEXTS, [*([0, 1] * 9), 0, -1], ["good", "bad"]))


def test_ids_that_splits_share_begin_with_the_split() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": range(10), "text": TEXTS[:10], "label": LABELS[:10]})
    other = pandas.DataFrame({"id": range(8, 14), "text": TEXTS[10:16], "label": LABELS[10:16]})
    task = Task.from_records({"train": frame, "test": other})
    assert [sample.id for sample in task.test] == ["test-8", "test-9", "10", "11", "12", "13"]
    assert not task.info.test_is_drawn


def test_another_split_is_told() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "label": LABELS})
    with pytest.raises(DataError, match="the split is 'unsupervised'"):
        Task.from_records({"train": frame, "unsupervised": frame.head(1)})
