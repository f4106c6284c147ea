"""`--batch` on the command line: a run that is interrupted while its batch is open, and what it can't be used for."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main
from psopt.models.chat.batches import BatchRunner

from tests.cli.test_signals import folder
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["folder"]  # a fixture

SEARCH = ["optimize", "--trials", "1", "--samples", "24", "--rounds", "1", "--out", "run"]
ASKED = ["--dataset", "data.csv", "--model", "openai/test", "--rephrasings", "2", "--batch", "--batch-tick", "0.01"]


@pytest.fixture(scope="module")
def started() -> Iterator[FakeServer]:
    with FakeServer(batch_ms=5.0) as server:
        yield server


@pytest.fixture
def call(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(folder / "cache"))

    def called(*arguments: str) -> tuple[Any, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        return ended.value.code, capsys.readouterr().err

    return called


def interrupt_when_open(patched: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as a batch has an id."""
    state = BatchRunner._state

    async def watched(self: Any, batch: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return await state(self, batch)

    patched.setattr(BatchRunner, "_state", watched)
    patched.setattr("psopt.cli._main.leave", sys.exit)  # it ends a process that has threads left, as this one has


def test_a_run_whose_batch_is_open_is_resumed_by_its_id(
    started: FakeServer, call: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started.change(batch_ms=1e6)
    with monkeypatch.context() as patched:
        interrupt_when_open(patched)
        code, said = call(*SEARCH, *ASKED, "--api-base", started.url)
    assert code == 130, said
    assert "batch open, 0 done" in said
    assert "psopt resume run" in said
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    code, said = call("resume", "run", "--cache-dir", "cache")
    assert code == 2
    assert "it was opened with another key: set that one; or go on call by call (psopt resume RUN --no-batch)" in said
    assert "Traceback" not in said
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    started.change(batch_ms=5.0)
    code, said = call("resume", "run", "--cache-dir", "cache")
    assert code == 0, said
    assert started.batches()[0]["status"] == "completed"
    assert started.counts()["answered_twice"] == 0
    assert list((folder / "cache" / "batches").iterdir()) == []
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["lm"]["batch"] is True


def test_a_server_without_batches_is_one_line(started: FakeServer, call: Any) -> None:
    started.change(batches="no")
    before = started.counts()["requests"]
    code, said = call("diagnose", *ASKED, "--rephraser", "openai/writer", "--api-base", started.url)
    started.change(batches="yes")
    assert started.counts()["requests"] == before
    assert code == 2
    assert "leave --batch out" in said
    assert "Traceback" not in said
