"""Whatever a user gets wrong: one clear line, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands import exit_code

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "text,label\n" + "".join(f"when did {i} end,Number\nwho built {i},Person\n" for i in range(10))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "good.csv").write_text(GOOD)
    return tmp_path


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert exit_code(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.strip().splitlines()
    assert line.startswith("psopt: ")
    return line


DATA = {  # all faults are swept in tests/tasks/test_bad_data.py
    "latin.csv": ("text,label\ncaf\u00e9,a\n".encode("latin-1"), "UTF-8"),
    "columns.csv": (b"words,kind\nx,a\n", "words"),
    "bad.jsonl": (b'{"text": "x", "label": "a"}\n{"text": \n', "line 2"),
    "few.csv": (b"text,label\nx,a\ny,b\n", "few"),
    "no.parquet": (b"PAR1", "arquet"),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("command", ["optimize", "diagnose"])
def test_data_that_can_t_be_used(here: Path, capsys: pytest.CaptureFixture[str], command: str, name: Any) -> None:
    content, message = DATA[name]
    (here / name).write_bytes(content)
    line = fails(capsys, command, "--dataset", name)
    assert name in line
    assert message in line
    assert not (here / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["optimize"], "--dataset"),
        (["optimize", "--dataset", "nowhere.csv"], "no such file"),
        (["optimize", "--dataset", "god.csv"], "good.csv"),
        (["optimize", "--dataset", "tric"], "did you mean 'trec'"),
        (["optimize", "--dataset", "hf:name"], "hf:ORG/NAME"),
        (["optimize", "--dataset", "trec", "--strict-data"], "trec"),
        (["optimize", "--dataset", "good.csv", "--model", "minlm"], "did you mean 'minilm'"),
        (["optimize", "--dataset", "good.csv", "--model", "openai/"], "lacks a name"),
        (["optimize", "--dataset", "good.csv", "--sampler", "tpee"], "did you mean tpe"),
        (["optimize", "--dataset", "good.csv", "--strategy", "detail"], "task file"),
        (["optimize", "--dataset", "good.csv", "--trials", "0"], "--trials"),
        (["optimize", "--dataset", "good.csv", "--trials", "many"], "--trials"),
        (["optimize", "--dataset", "good.csv", "--seed", "-1"], "--seed"),
        (["optimize", "--dataset", "good.csv", "--rephrasings", "5000"], "5000"),
        (["optimize", "--dataset", "good.csv", "--resume"], "--out"),
        (["optimize", "--dataset", "good.csv", "--out", "good.csv"], "is a file"),
        (["optimize", "--dataset", "good.csv", "--out", "full"], "not empty"),
        (["optimize", "--dataset", "good.csv", "--out", "run", "--storage", "nonsense://"], "nonsense"),
        (["optimize", "--datset", "good.csv"], "--dataset"),
        (["optimise"], "optimise"),
        (["diagnose", "--dataset", "good.csv", "--prompt", "none.txt"], "none.txt"),
        (["diagnose", "--dataset", "good.csv", "--prompt", "other.json", "--model", "minilm"], "labels"),
        (["diagnose", "--dataset", "good.csv", "--prompt", "broken.json"], "JSON"),
        (["resume", "full"], "no run directory"),
        (["report", "nowhere"], "no run directory"),
        (["export", "nowhere"], "no run directory"),
        (["dashboard", "nowhere"], "no run directory"),
        (["dashboard"], "which run"),
        (["data", "fetch", "trek"], "did you mean 'trec'"),
        (["data", "fetch", "trec"], "PSOPT_OFFLINE"),
        (["models", "fetch", "smolm"], "did you mean 'smollm2'"),
        (["models", "fetch", "smollm2"], "PSOPT_OFFLINE"),
    ],
)
def test_usage_that_makes_no_sense(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (here / "full").mkdir()
    (here / "full" / "notes.txt").write_text("mine")
    (here / "other.json").write_text(json.dumps({"description": "d", "labels": ["x", "y"]}))
    (here / "broken.json").write_text("{")
    assert message in fails(capsys, *arguments)
    assert (here / "full" / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_can_t_be_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "locked").mkdir(mode=0o500)
    assert "can't be written" in fails(capsys, "optimize", "--dataset", "good.csv", "--out", "locked/run")


def test_an_out_folder_on_a_file_system_that_can_t_be_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "can't be written" in fails(capsys, "optimize", "--dataset", "good.csv", "--out", "/proc/psopt-run")
