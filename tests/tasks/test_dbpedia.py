"""DBPedia from its csv files, written small by the tests; and balanced drawing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import load_task

if TYPE_CHECKING:
    from pathlib import Path

LABELS: tuple[str, ...] = ("Company", "Educational Institution", "Artist", "Athlete", "Office Holder")
LABELS += ("Mean Of Transportation", "Building", "Natural Place", "Village", "Animal", "Plant", "Album", "Film")
LABELS += ("Written Work",)


def rows(prefix: str, n: int) -> str:
    """The published form: class number, then quoted title and text, quotes doubled."""
    return "".join(f'{i % 14 + 1},"{prefix} {i}"," {prefix} {i} is ""one"", of many."\n' for i in range(n))


def put(folder: Path, *, n_train: int = 140, n_test: int = 70) -> Path:
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text(rows("Alpha", n_train))
    (folder / "test.csv").write_text(rows("Beta", n_test))
    return folder


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path / "dbpedia"


@pytest.mark.parametrize("inner", [".", "dbpedia_csv"])
def test_the_published_files_become_a_task(published: Path, inner: str) -> None:
    put(published / inner)
    task = load_task("dbpedia", strict_data=True)
    assert task.labels == LABELS
    assert (len(task.train), len(task.val), len(task.test)) == (112, 28, 70)
    assert (task.test[2].id, task.test[2].label) == ("test-3", "Artist")
    assert task.test[2].text == 'Beta 2: Beta 2 is "one", of many.'


def test_2000_are_drawn_from_each_file_balanced_and_always_the_same(published: Path) -> None:
    put(published, n_train=14 * 160, n_test=14 * 400)
    task, again = load_task("dbpedia", seed=0), load_task("dbpedia", seed=1)
    assert len(task.test) == len(task.train) + len(task.val) == 2000
    assert sorted(Counter(sample.label for sample in task.test).values()) == [142, 142] + [143] * 12
    assert task.test == again.test
    assert {sample.text for sample in task.val} != {sample.text for sample in again.val}
    places = [int(sample.id[5:]) for sample in task.test]
    assert places == sorted(places)
    # the middle of 2,000 of 5,600 places lies near the middle: six standard errors, without replacement
    assert abs(sum(places) / 2000 - 2800) < 6 * 5600 / 12**0.5 * ((1 - 2000 / 5600) / 2000) ** 0.5


def test_of_a_class_with_few_all_are_drawn(published: Path) -> None:
    lines = rows("Beta", 14 * 200).splitlines(keepends=True)
    (put(published) / "test.csv").write_text("".join(line for n, line in enumerate(lines) if n % 14 != 3 or n < 70))
    drawn = Counter(sample.label for sample in load_task("dbpedia").test)
    assert drawn.pop("Athlete") == 5
    assert set(drawn.values()) == {143} or set(drawn.values()) == {142, 143}


BAD = {
    "two fields": ("3,title\n", "line 3: 2 fields; expected 3"),
    "four fields": ("3,title,text,more\n", "line 3: 4 fields; expected 3"),
    "class 15": ("15,title,text\n", "line 3: the class is '15'; it must be a number from 1 to 14"),
    "class 0": ("0,title,text\n", "line 3: the class is '0'"),
    "a header": ("label,title,text\n", "line 3: the class is 'label'"),
    "an empty text": ('3,"title"," "\n', "line 3: the text is empty"),
    "cut off": ('3,"title","and then', "line 3: a quote is opened and never closed"),
    "text after a quote": ('3,"ti"tle,"text"\n', "line 3: "),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_told_with_its_file_and_number(published: Path, case: Any) -> None:
    bad, part = BAD[case]
    path = put(published) / "test.csv"
    path.write_text(rows("Beta", 2) + bad)
    with pytest.raises(DataError) as caught:
        load_task("dbpedia")
    assert str(caught.value).startswith(f"{path}, {part}")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_told(published: Path) -> None:
    path = put(published) / "test.csv"
    path.write_bytes(rows("Beta", 2).encode() + b'3,"Caf\xe9","a caf\xe9"\n')
    with pytest.raises(DataError, match=r"test\.csv, after line \d: is not UTF-8"):
        load_task("dbpedia")


def test_an_empty_or_missing_file_is_told(published: Path) -> None:
    folder = put(published)
    (folder / "test.csv").write_text("")
    with pytest.raises(DataError, match=r"test\.csv: is empty"):
        load_task("dbpedia")
    (folder / "test.csv").unlink()
    with pytest.raises(DataError, match=r"test\.csv is missing"):
        load_task("dbpedia")
