"""Every experiment runs, small, on the bundled samples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"


def run(script, tmp_path, *words):
    environment = {name: value for name, value in os.environ.items() if name != "PSOPT_DATA_DIR"}
    environment["PSOPT_CACHE_DIR"] = str(tmp_path / "cache")
    command = [sys.executable, str(EXPERIMENTS / script), *words, "--out", str(tmp_path / "results")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "results" / script).with_suffix(".json").read_text())


def test_dspy_s_optimizers_are_compared(tmp_path):
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    found = run("dspy_peers.py", tmp_path, "--small", "--seeds", "0")
    (rows,) = found["runs"]
    assert len(rows) == 5
    assert rows["unoptimised"]["calls"] == 0
    assert all(0 <= row[name] <= 1 for row in rows.values() for name in ("f1", "sensitivity", "consistency"))
