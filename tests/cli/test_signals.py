"""SIGTERM, Ctrl-C and what is waited for: every verb ends soon, in one line; waiting is said, and until when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import main

from tests.cli.limited_runs import write_questions
from tests.commands import environment, psopt, run_command
from tests.fake_server import FakeServer
from tests.processes import Process

SMALL = ["--rephrasings", "2", "--concurrency", "4"]
SEARCH = ["optimize", "--trials", "3", "--samples", "20", "--rounds", "1", "--out", "run"]
DIAGNOSE = ["diagnose", "--split", "all"]
PROMPT = {"description": "Sort the questions.", "labels": ["aaa", "bbb"], "noun": "question"}
# optimize and diagnose are ended by the tests below
VERBS = {
    "check": ["check", "--min-f1", "0.1"],
    "rephrase": ["rephrase", "--rephraser", "openai/test"],
    "classify": ["classify", "texts.txt", "--prompt", "prompt.json"],
    "program": [*SEARCH, "--program", "mine:program"],
}
PROGRAM = """
from typing import Literal

import dspy

program = dspy.Predict(dspy.Signature("question -> label: Literal['aaa', 'bbb']", "Sort the questions."))
"""
HANGING: dict[str, Any] = {"faults": "hang", "fault_rate": 1.0}
BUSY: dict[str, Any] = {"faults": "429", "fault_rate": 1.0, "retry_after": 4320.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_questions(tmp_path, 20)
    (tmp_path / "texts.txt").write_text("\n".join(f"what is {i} ?" for i in range(9)) + "\n")
    (tmp_path / "prompt.json").write_text(json.dumps(PROMPT))
    (tmp_path / "mine.py").write_text(PROGRAM)
    return tmp_path


def start(folder: Path, server: FakeServer, *arguments: str) -> Process:
    verb, *rest = arguments
    given = [] if verb == "classify" else ["--dataset", "data.csv", *SMALL]
    given += [] if verb == "rephrase" else ["--model", "openai/test"]
    env = environment(folder, OPENAI_API_KEY="sk-0123456789")
    return Process([verb, *given, "--api-base", server.url, *rest], cwd=folder, env=env)


def end(process: Process, server: FakeServer, which: Any = signal.SIGTERM) -> str:
    """Send a signal when the server has been asked; returns what was said.

    A process that waited for its answers or for the server would not end at all.
    """
    server.wait_for(requests=1, seconds=240)
    process.send_signal(which)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    return said


def first_line(process: Process, containing: str) -> str:
    return next(line for line in process.stderr if containing in line)


@pytest.mark.parametrize("verb", VERBS)
def test_a_signal_ends_each_verb_while_its_requests_hang(folder: Path, verb: str) -> None:
    if verb == "program":
        pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    which = signal.SIGINT if verb == "rephrase" else signal.SIGTERM
    with FakeServer(**HANGING) as server:
        assert "nterrupted" in end(start(folder, server, *VERBS[verb]), server, which)


def test_a_long_wait_that_a_server_asks_for_is_said_with_until_when_and_ended_by_a_signal(folder: Path) -> None:
    with FakeServer(**BUSY) as server:
        process = start(folder, server, *DIAGNOSE)
        line = first_line(process, "waiting 1.2 h")
        rest = end(process, server)
        assert server.counts()["requests"] <= 8
    assert "until" in line
    assert "0 of 120 answered; Ctrl-C saves" in line
    assert rest.count("waiting") <= 1
    assert "nterrupted" in rest


def test_what_a_signal_ended_is_gone_on_with(folder: Path) -> None:
    with FakeServer() as server:
        process = start(folder, server, *SEARCH, "--trials", "4")
        server.wait_for(answered=120, seconds=240)
        server.change(**HANGING)
        server.wait_for(requests=server.counts()["requests"] + 1, seconds=240)  # so that one hangs
        assert "psopt resume run" in end(process, server)
        assert json.loads((folder / "run" / "run.json").read_text())["finish_reason"] == "interrupted"
        spent = json.loads((folder / "run" / "spent.json").read_text())
        assert spent["failed"] > 0  # those that hung
        assert spent["made"] + spent["failed"] == server.counts()["requests"]
        server.change(fault_rate=0.0)
        run_command("resume", "run", cwd=folder, env=os.environ, code=0)  # the cache folder is the run's
        assert server.counts()["answered_twice"] <= 4  # what was on its way


def test_answers_that_come_soon_after_a_signal_are_kept(folder: Path) -> None:
    with FakeServer(delay_ms=500) as server:
        process = start(folder, server, *SEARCH)
        server.wait_for(answered=8, seconds=240)
        end(process, server, signal.SIGINT)
        counts, spent = server.counts(), json.loads((folder / "run" / "spent.json").read_text())
    assert (spent["made"], spent["failed"]) == (counts["requests"], 0)


def test_a_server_that_goes_away_is_said_waited_for_and_found_again(folder: Path) -> None:
    with FakeServer(delay_ms=100) as server:
        process = start(folder, server, *DIAGNOSE)
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
    assert "60 samples" in out


def test_nobody_there_ends_in_one_line_without_waiting(folder: Path) -> None:
    given = ["--dataset", "data.csv", *SMALL, "--model", "openai/test", "--api-base", "http://127.0.0.1:9/v1"]
    done = psopt(folder, "diagnose", *given, OPENAI_API_KEY="none", code=2)
    assert "trying again" not in done.stderr
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("psopt:")]
    assert "127.0.0.1:9" in error


def test_a_program_that_runs_a_command_gets_its_handlers_back() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(SystemExit):
        main(["--version"])
    assert [signal.getsignal(number) for number in numbers] == before


IN_A_CALLBACK = """
import os, signal, time, weakref
from psopt.cli import _main
_main._catch_signals()
held = type("Held", (), {})()
reference = weakref.ref(held, lambda _: os.kill(os.getpid(), signal.SIGINT))
del held
try:
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_signal_that_comes_in_a_callback_whose_errors_python_drops_is_not_lost() -> None:
    done = subprocess.run([sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_who_stops_reading_changes_no_exit_code(folder: Path) -> None:
    given = ["--dataset", "data.csv", "--model", "sim", "--samples", "12", "--rephrasings", "3"]
    process = Process(["check", "--max-sensitivity", "0", *given], cwd=folder, env=environment(folder))
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(60) == 1, said
    assert "Error" not in said
