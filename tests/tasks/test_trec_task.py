"""TREC, real where it is at hand, and the bundled sample in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import Task, load_task

from tests.texts import words

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("Number", "Location", "Person", "Description", "Entity", "Abbreviation")


@pytest.fixture
def real(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PSOPT_DATA_DIR", str(data_dir))
    return load_task("trec", seed=0)


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path)
    return load_task("trec", seed=0)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of TREC's files, small."""
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    (tmp_path / "trec").mkdir()
    lines = [f"{kind} {kind} of {i} ?\n" for i in range(10) for kind in ("NUM:count", "LOC:city", "HUM:ind")]
    (tmp_path / "trec" / "train_5500.label").write_text("".join(lines))
    return tmp_path / "trec"


def assert_sound(task: Task) -> None:
    assert task.labels == LABELS
    assert set(task.definitions) == set(LABELS)
    splits = (task.train, task.val, task.test)
    assert all({sample.label for sample in split} == set(LABELS) for split in splits)
    texts = [{words(sample.text) for sample in split} for split in splits]
    assert texts[0].isdisjoint(texts[1] | texts[2])
    assert texts[1].isdisjoint(texts[2])
    assert all(sample.subclass in task.subclasses[sample.label or ""] for split in splits for sample in split)


def test_real_trec_keeps_its_test_set(real: Any) -> None:
    assert_sound(real)
    assert real.info.source == "local"
    assert real.info.note == ""
    assert len(real.test) == 500
    assert (len(real.train), len(real.val)) == (5380 - 11 - 1000, 1000)
    assert real.test[0].id == "test-1"
    assert real.test[0].text == "How far is it from Denver to Aspen ?"
    assert (real.test[0].label, real.test[0].subclass) == ("Number", "dist")


def test_real_trec_splits_by_the_seed(real: Any) -> None:
    assert load_task("trec", seed=0) == real
    assert load_task("trec", seed=1).info.sha256 != real.info.sha256


def test_the_bundled_sample_is_a_whole_task(bundled: Any) -> None:
    assert_sound(bundled)
    assert bundled.info.source == "bundled"
    assert sum(len(split) for split in (bundled.train, bundled.val, bundled.test)) >= 300


def test_the_bundled_sample_says_why_it_is_there(bundled: Any) -> None:
    note = bundled.info.note
    assert "\n" not in note
    for part in ("TREC's files are not at hand", "PSOPT_OFFLINE is set", "questions", "psopt data fetch trec"):
        assert part in note


def test_no_bundled_question_is_copied_from_trec(bundled: Any, real: Any) -> None:
    own = {words(sample.text) for split in (bundled.train, bundled.val, bundled.test) for sample in split}
    assert own.isdisjoint(words(sample.text) for split in (real.train, real.val, real.test) for sample in split)


@pytest.mark.parametrize("line", ["NUM how many ?", "XXX:y how many ?", "NUM:count", "NUM: how many ?", "how many ?"])
def test_a_malformed_line_is_told_with_its_number(own: Path, line: str) -> None:
    (own / "TREC_10.label").write_text(f"NUM:date When ?\n{line}\n")
    with pytest.raises(DataError, match=r"TREC_10\.label, line 2: expected `COARSE:fine text`"):
        load_task("trec")


def test_odd_bytes_do_not_split_lines(own: Path) -> None:
    """0x85 and 0x1c end a line for str.splitlines, not in these files."""
    (own / "TREC_10.label").write_bytes(b"NUM:date When\x85was\x1cit ?\r\nHUM:ind Who\xf0 ?\r\n")
    assert [sample.text for sample in load_task("trec").test] == ["When\x85was\x1cit ?", "Whoð ?"]
