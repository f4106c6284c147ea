"""What 0.1 has left behind keeps loading: its run directories and its caches (see of_0_1/make.py)."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run_command
from tests.runs.of_0_1.make import DIAGNOSE

PACKED = Path(__file__).parent / "of_0_1" / "run.tar.xz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which 0.1 was used."""
    with tarfile.open(PACKED) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def psopt(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PSOPT_CACHE_DIR": "cache", "OPENAI_API_KEY": "none"}
    done = run_command(*arguments, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def figures(of: Any, *, like: Any = None) -> Any:
    """What was measured, without its intervals, which are computed otherwise now; of what stands in `like` too."""
    if not isinstance(of, dict):
        return of
    names = [name for name in (of if like is None else like) if name != "ci"]
    return {name: figures(of[name], like=None if like is None else like[name]) for name in names}


def test_a_cache_answers_without_its_server_and_the_diagnosis_is_the_same(folder: Path) -> None:
    # rules made these two in 0.1, in the run as in the diagnosis; today's make others
    as_then = ("--rephrasings-file", "run/rephrasings.json")
    before = read(folder, "diagnosis.json")
    after = json.loads(psopt(folder, *DIAGNOSE, *as_then, "--json"))
    assert figures(after, like=before) == figures(before)


def test_a_run_is_gone_on_with_and_keeps_what_it_has(folder: Path) -> None:
    before = read(folder, "run/run.json")
    trials = read(folder, "run/trials.json")["trials"]
    psopt(folder, "resume", "run", "--trials", "6")
    after = read(folder, "run/run.json")
    assert before.keys() <= after.keys()
    assert before["settings"].keys() <= after["settings"].keys()
    assert figures(before["baseline"]["val"]) == figures(after["baseline"]["val"], like=before["baseline"]["val"])
    assert after["finish_reason"] == "trials"
    assert read(folder, "run/trials.json")["trials"][: len(trials)] == trials
    assert len(read(folder, "run/trials.json")["trials"]) == 6


def test_a_report_and_prompts_are_made_of_a_run(folder: Path) -> None:
    psopt(folder, "report", "run")
    assert (folder / "run" / "report.html").stat().st_size > 1000
    assert "aaa, bbb" in psopt(folder, "export", "run", "--format", "text")
    chosen = json.loads(psopt(folder, "select", "run", "--json"))
    assert chosen["id"] in {path.stem for path in (folder / "run" / "prompts").iterdir()}
