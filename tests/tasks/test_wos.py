"""WoS-46985 from its text files, written small by the tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from psopt.errors import DataError
from psopt.tasks import load_task

if TYPE_CHECKING:
    from pathlib import Path

N = 140
LABELS: tuple[str, ...] = ("Computer Science", "Electrical Engineering", "Psychology", "Mechanical Engineering")
LABELS += ("Civil Engineering", "Medical Science", "Biochemistry")


def put(folder: Path, *, n: int = N, areas: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "X.txt").write_text("".join(f"We study thing {i}\u2028 in depth. \n" for i in range(n)))
    (folder / "YL1.txt").write_text("".join(f"{i % 7}\n" for i in range(n)))
    if areas:
        (folder / "YL2.txt").write_text("".join(f"{i % 5}\n" for i in range(n)))
    return folder


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path / "wos"


@pytest.mark.parametrize("inner", [".", "WOS46985"])
def test_the_published_files_become_a_task(published: Path, inner: str) -> None:
    put(published / inner, n=7 * 800)
    task = load_task("wos", strict_data=True)
    assert task.labels == LABELS
    assert len(task.test) == len(task.train) + len(task.val) == 2000
    assert sorted(Counter(sample.label for sample in task.test).values()) == [285, 285, 286, 286, 286, 286, 286]
    for sample in task.test:
        index = int(sample.id.removeprefix("test-")) - 1
        assert sample.text == f"We study thing {index}\u2028 in depth."
        assert (sample.label, sample.subclass) == (LABELS[index % 7], f"area {index % 5}")


def test_train_is_drawn_from_what_test_leaves(published: Path) -> None:
    put(published, n=7 * 310)
    task = load_task("wos")
    lines = [{int(sample.id.partition("-")[2]) for sample in samples} for samples in (task.train, task.val, task.test)]
    assert sum(map(len, lines)) == len(set.union(*lines))
    sizes = Counter(sample.label for sample in (*task.train, *task.val)).values()
    assert max(sizes) - min(sizes) <= 1


def test_the_test_samples_are_the_same_for_every_seed(published: Path) -> None:
    put(published, n=7 * 600)
    assert load_task("wos", seed=0).test == load_task("wos", seed=1).test


def test_areas_may_be_missing(published: Path) -> None:
    put(published, n=7 * 310, areas=False)
    assert {sample.subclass for sample in load_task("wos").test} == {None}


def test_windows_line_ends_and_empty_lines_at_the_end_do_no_harm(published: Path) -> None:
    folder = put(published, n=7 * 310)
    before = load_task("wos")
    for name in ("X.txt", "YL1.txt"):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"\n", b"\r\n") + b"\r\n \r\n")
    after = load_task("wos")
    assert (after.train, after.val, after.test) == (before.train, before.val, before.test)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("X.txt", " ", r"X\.txt, line 2: the abstract is empty"),
        ("YL1.txt", "7", r"YL1\.txt, line 2: is '7'; it must be a number from 0 to 6"),
        ("YL1.txt", "-1", r"YL1\.txt, line 2: is '-1'"),
        ("YL1.txt", "CS", r"YL1\.txt, line 2: is 'CS'"),
        ("YL1.txt", "", r"YL1\.txt, line 2: is ''"),
        ("YL2.txt", "x", r"YL2\.txt, line 2: is 'x'"),
    ],
)
def test_a_bad_line_is_told_with_its_file_and_number(published: Path, name: str, line: str, message: str) -> None:
    path = put(published) / name
    lines = path.read_text().split("\n")
    path.write_text("\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(DataError, match=message):
        load_task("wos")


@pytest.mark.parametrize("name", ["X.txt", "YL1.txt", "YL2.txt"])
def test_files_of_different_length_are_told(published: Path, name: str) -> None:
    path = put(published) / name
    path.write_text("\n".join(path.read_text().split("\n")[:-2]))
    with pytest.raises(DataError, match=r"X\.txt has 1\d\d lines and YL\d\.txt 1\d\d; .*fetch both again"):
        load_task("wos")


@pytest.mark.parametrize("name", ["X.txt", "YL1.txt"])
def test_a_missing_file_is_told(published: Path, name: str) -> None:
    (put(published) / name).unlink()
    with pytest.raises(DataError, match=rf"{name} is missing"):
        load_task("wos")


def test_too_few_abstracts_are_told(published: Path) -> None:
    put(published, n=21)
    with pytest.raises(DataError, match="21 abstracts are too few"):
        load_task("wos")


def test_bytes_that_are_no_text_are_told(published: Path) -> None:
    path = put(published) / "X.txt"
    path.write_bytes(b"caf\xe9\n" + path.read_bytes())
    with pytest.raises(DataError, match=r"X\.txt, line 1: byte 0xe9 is not UTF-8"):
        load_task("wos")
