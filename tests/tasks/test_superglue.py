"""CB and RTE from SuperGLUE's files, written small by the tests."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import list_datasets, load_task

if TYPE_CHECKING:
    from pathlib import Path

LABELS = {"cb": ("entailment", "contradiction", "neutral"), "rte": ("entailment", "not_entailment")}


def line(i: Any, label: Any, **changes: Any) -> Any:
    pair = {"premise": f"It is known that\nthing {i} fell.", "hypothesis": f"thing {i} fell", "label": label, "idx": i}
    return json.dumps(pair | changes) + "\n"


def put(folder: Path, name: str, *, n_train: int = 20, n_val: int = 10) -> Path:
    """SuperGLUE's train.jsonl and val.jsonl."""
    folder.mkdir(parents=True)
    labels = LABELS[name]
    first = 0
    for file, n in (("train.jsonl", n_train), ("val.jsonl", n_val)):
        lines = [line(first + i, labels[i % len(labels)]) for i in range(n * len(labels))]
        (folder / file).write_text("".join(lines))
        first += n * len(labels)
    return folder


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("inner", ["", "/{}"])
def test_the_labelled_files_become_test_and_train(published: Path, name: Any, inner: str) -> None:
    """The larger published train.jsonl is the test set; val is drawn from val.jsonl. An unpacked archive is found."""
    put(published / (name + inner.format(name.upper())), name)
    task = load_task(name, strict_data=True)
    n = len(LABELS[name])
    assert (len(task.train), len(task.val), len(task.test)) == (8 * n, 2 * n, 20 * n)
    assert (task.info.source, task.info.note) == ("local", "")
    assert task.test[0].text == "Premise: It is known that thing 0 fell. Hypothesis: thing 0 fell"
    assert (task.test[0].id, task.test[0].label) == ("test-1", "entailment")
    assert set(Counter(sample.label for sample in task.test).values()) == {20}
    status = next(status for status in list_datasets() if status.name == name)
    assert (status.source, status.files) == ("local", ("train.jsonl", "val.jsonl"))


def test_not_entailment_has_its_name_from_the_paper(published: Path) -> None:
    put(published / "rte", "rte")
    task = load_task("rte")
    assert task.labels == ("entailment", "contradiction/neutral")
    assert task.test[1].label == "contradiction/neutral"


def test_what_test_holds_is_not_learnt_from(published: Path) -> None:
    folder = put(published / "cb", "cb")
    with (folder / "val.jsonl").open("a") as file:
        file.write(line(0, "entailment"))
    task = load_task("cb")
    assert task.test[0].text not in {sample.text for sample in (*task.train, *task.val)}


BAD = {
    "broken": ('{"premise": "a", ', "no valid JSON"),
    "a list": ('["a", "b"]', "expected an object"),
    "no premise": (json.dumps({"hypothesis": "a", "label": "neutral"}), "the premise is missing"),
    "an empty hypothesis": (line(1, "neutral", hypothesis=" ").strip(), "the hypothesis is missing, empty or no text"),
    "a number": (line(1, "neutral", premise=7).strip(), "the premise is missing, empty or no text"),
    "another label": (line(1, "maybe").strip(), "'maybe'; it must be one of entailment, contradiction, neutral"),
    "RTE's label": (line(1, "not_entailment").strip(), "'not_entailment'"),
    "no label": (json.dumps({"premise": "a", "hypothesis": "b"}), "the label is None"),
    "a list as label": (line(1, ["neutral"]).strip(), "['neutral']"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_told_with_its_file_and_number(published: Path, case: Any) -> None:
    bad, part = BAD[case]
    path = put(published / "cb", "cb") / "train.jsonl"
    path.write_text(line(0, "neutral") + bad + "\n")
    with pytest.raises(DataError) as caught:
        load_task("cb")
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_file_is_told(published: Path) -> None:
    (put(published / "cb", "cb") / "val.jsonl").write_text("\n")
    with pytest.raises(DataError, match=r"val\.jsonl: is empty"):
        load_task("cb")


def test_a_missing_file_is_told(published: Path) -> None:
    (put(published / "rte", "rte") / "val.jsonl").unlink()
    with pytest.raises(DataError, match=r"val\.jsonl is missing; put it there"):
        load_task("rte")
