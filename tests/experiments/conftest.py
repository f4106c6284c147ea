"""Experiments, run in this process as `python experiments/SCRIPT` would."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

EXPERIMENTS = ROOT / "experiments"
RESULTS = EXPERIMENTS / "results"


@pytest.fixture(autouse=True)
def experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let experiments be imported, as they import each other."""
    monkeypatch.syspath_prepend(EXPERIMENTS)


@pytest.fixture
def run(cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a script, and read its JSON if it has left one by its name in the folder `results`."""

    def run_script(script: str, *words: Any) -> Any:
        monkeypatch.setenv("PSOPT_CACHE_DIR", str(cache_dir))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [script, "--results", "results", *map(str, words)])
        runpy.run_path(str(EXPERIMENTS / f"{script}.py"), run_name="__main__")
        written = tmp_path / "results" / f"{script}.json"
        return json.loads(written.read_text("utf-8")) if written.exists() else None

    return run_script
