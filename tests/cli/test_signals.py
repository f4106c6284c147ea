"""SIGTERM and Ctrl-C while a server hangs, or while it is waited for: every verb ends soon, in one line."""

from __future__ import annotations

import itertools
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main

from tests.cli.limited_runs import write_questions
from tests.commands import run_command
from tests.fake_server import FakeServer
from tests.processes import Process

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--rephrasings", "2", "--concurrency", "4"]
SEARCH = ["optimize", "--trials", "3", "--samples", "20", "--rounds", "1", "--out", "run"]
PROMPT = {"description": "Sort the questions.", "labels": ["aaa", "bbb"], "noun": "question"}
VERBS = {
    "optimize": SEARCH,
    "diagnose": ["diagnose"],
    "check": ["check", "--min-f1", "0.1"],
    "compare": ["compare", "--model2", "openai/other"],
    "rephrase": ["rephrase", "--rephraser", "openai/test"],
    "classify": ["classify", "texts.txt", "--prompt", "prompt.json"],
}
PROGRAM = """
from typing import Literal

import dspy

program = dspy.Predict(dspy.Signature("question -> label: Literal['aaa', 'bbb']", "Sort the questions."))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_questions(tmp_path, 20)
    (tmp_path / "texts.txt").write_text("\n".join(f"what is {i} ?" for i in range(9)) + "\n")
    (tmp_path / "prompt.json").write_text(json.dumps(PROMPT))
    (tmp_path / "mine.py").write_text(PROGRAM)
    return tmp_path


def start(folder: Path, server: FakeServer, *arguments: str) -> Process:
    verb, *rest = arguments
    data = [] if verb == "classify" else ["--dataset", "data.csv"]
    model = [] if verb == "rephrase" else ["--model", "openai/test"]
    small = [] if verb == "classify" else SMALL
    words = [verb, *data, *model, "--api-base", server.url, *small, *rest]
    environment = {**os.environ, "OPENAI_API_KEY": "sk-0123456789", "PSOPT_CACHE_DIR": str(folder / "cache")}
    return Process(words, cwd=folder, env=environment)


def end(process: Process, server: FakeServer, which: Any = signal.SIGTERM) -> Any:
    """Send a signal when the server has been asked; returns what was said.

    A process that waited for its answers or for the server would not end at all.
    """
    server.wait_for(requests=1, seconds=240)
    process.send_signal(which)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(("verb", "which"), zip(VERBS, itertools.cycle(["SIGTERM", "SIGINT"]), strict=False))
def test_a_signal_ends_each_verb_while_its_requests_hang(folder: Path, verb: str, which: str) -> None:
    with FakeServer(faults="hang", fault_rate=1.0) as server:
        process = start(folder, server, *VERBS[verb])
        said = end(process, server, getattr(signal, which))
    assert "nterrupted" in said


def test_a_signal_ends_the_wait_that_a_server_asked_for(folder: Path) -> None:
    with FakeServer(faults="429", fault_rate=1.0, retry_after=4320.0) as server:
        said = end(start(folder, server, "diagnose"), server)
        assert server.counts()["requests"] <= 8
    assert "nterrupted" in said


def test_a_signal_ends_a_program_whose_model_does_not_answer(folder: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    with FakeServer(faults="hang", fault_rate=1.0) as server:
        said = end(start(folder, server, *SEARCH, "--program", "mine:program"), server)
    assert "nterrupted" in said


def test_what_a_signal_ended_is_gone_on_with(folder: Path) -> None:
    with FakeServer() as server:
        process = start(folder, server, *SEARCH, "--trials", "8")
        server.wait_for(answered=120, seconds=240)
        server.change(faults="hang", fault_rate=1.0)
        assert "psopt resume run" in end(process, server)
        assert json.loads((folder / "run" / "run.json").read_text())["finish_reason"] == "interrupted"
        server.change(fault_rate=0.0)
        run_command("resume", "run", "--cache-dir", "cache", cwd=folder, env=os.environ, code=0)
        assert server.counts()["answered_twice"] <= 4  # what was on its way


def test_a_program_that_runs_a_command_gets_its_handlers_back() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(SystemExit):
        main(["--version"])
    assert [signal.getsignal(number) for number in numbers] == before
