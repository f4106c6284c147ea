"""Waiting is said: for what, until when, on screen and in pipes."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.fake_server import FakeServer
from tests.processes import Process
from tests.waiting import let_run

if TYPE_CHECKING:
    from pathlib import Path

N_ROWS = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"what is thing {i} called ?,{'ab'[i % 2] * 3}" for i in range(N_ROWS)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return tmp_path


def start(folder: Path, url: str, *arguments: str, model: str = "openai/test") -> Process:
    words = ["diagnose", "--dataset", "data.csv", "--split", "all", "--model", model]
    words += ["--api-base", url, "--rephrasings", "3", *arguments]
    environment = {**os.environ, "OPENAI_API_KEY": "sk-0123456789", "PSOPT_CACHE_DIR": str(folder / "cache")}
    return Process(words, cwd=folder, env=environment)


def first_line(process: Process, containing: Any) -> Any:
    for line in process.stderr:
        if containing in line:
            return line
    raise AssertionError(f"never said: {containing}")


def test_a_long_retry_after_is_said_with_until_when(folder: Path) -> None:
    with FakeServer(faults="429", fault_rate=1.0, retry_after=4320.0) as server:
        process = start(folder, server.url)
        line = first_line(process, "waiting 1.2 h")
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=240)
    assert "until" in line
    assert "0 of 120 answered; Ctrl-C saves" in line
    assert rest.count("waiting") <= 1


def test_a_server_that_goes_away_is_said_waited_for_and_found_again(folder: Path) -> None:
    with FakeServer(delay_ms=300) as server:
        process = start(folder, server.url, "--concurrency", "4")
        server.wait_for(answered=10, seconds=240)
        port = server.port
    line = first_line(process, "does not answer since")
    assert "trying again at" in line
    assert "of 120 answered; Ctrl-C saves" in line
    with FakeServer(port=port) as server:
        out, rest = process.communicate(timeout=240)
        assert server.counts()["answered_twice"] == 0
    assert process.returncode == 0, rest
    assert "the server answers again" in rest
    assert "40 samples" in out


@pytest.mark.parametrize("model", ["openai/test", "dspy/openai/test"])
def test_nobody_there_ends_in_one_line_without_waiting(folder: Path, model: str) -> None:
    if model.startswith("dspy"):
        pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    process = start(folder, "http://127.0.0.1:9/v1", model=model)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 2
    assert "trying again" not in said
    errors = [line for line in said.splitlines() if line.startswith("psopt:")]
    assert len(errors) == 1
    assert "127.0.0.1:9" in errors[0]


def test_quiet_says_nothing(folder: Path) -> None:
    with FakeServer(faults="429", fault_rate=1.0, retry_after=4320.0) as server:
        process = start(folder, server.url, "--quiet")
        server.wait_for(requests=1, seconds=240)
        let_run(process, 0.5)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=240)
    assert not out
    assert "waiting" not in said
