"""`--batch` on the command line: a run that is interrupted while its batch is open, and what it can't be used for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from psopt.testing import FakeServer

from tests.cli.test_signals import folder, start

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["folder"]  # a fixture

SEARCH = ["optimize", "--trials", "1", "--samples", "24", "--rounds", "1", "--out", "run"]
BATCHES = ["--batch", "--batch-tick", "0.02"]


def test_a_run_whose_batch_is_open_is_resumed_by_its_id(folder: Path) -> None:
    with FakeServer(batch_ms=1e6) as server:
        process = start(folder, server, *SEARCH, *BATCHES)
        until = time.monotonic() + 60
        while not server.batches():
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        assert "batch open, 0 done" in said
        assert "psopt resume run" in said
        server.change(batch_ms=10.0)
        command = [sys.executable, "-m", "psopt", "resume", "run", "--cache-dir", "cache"]
        key = {"OPENAI_API_KEY": "sk-0123456789", "PATH": ""}
        done = subprocess.run(command, cwd=folder, env=key, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        first = server.batches()[0]
        assert first["status"] == "completed"
        assert server.counts()["answered_twice"] == 0
    assert list((folder / "cache" / "batches").iterdir()) == []
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["lm"]["batch"] is True


def test_a_server_without_batches_is_one_line(folder: Path) -> None:
    with FakeServer(batches="no") as server:
        process = start(folder, server, "diagnose", *BATCHES)
        _, said = process.communicate(timeout=60)
        assert server.counts()["requests"] == 0
    assert process.returncode == 2
    assert "leave --batch out" in said
    assert "Traceback" not in said
