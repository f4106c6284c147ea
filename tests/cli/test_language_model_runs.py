"""Runs with a language model behind a real socket: faults, kills and resuming, as a user meets them.

Limits are in test_limits_keep_the_end.py.
"""

from __future__ import annotations

import contextlib
import json
import random
from typing import TYPE_CHECKING

from tests.cli.limited_runs import SMALL, environment, optimize, psopt, read
from tests.fake_server import FakeServer
from tests.processes import Process

if TYPE_CHECKING:
    from pathlib import Path

WRITES = ["--rephraser", "openai/test", "--proposer", "openai/test", "--judge", "openai/test"]
N_KILLS = 2


def words_of_a_run(server: FakeServer, *more: str) -> list[str]:
    given = ["--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--out", "run"]
    return ["optimize", *given, *SMALL, *more]


def wait_for_requests(server: FakeServer, number: int, process: Process) -> None:
    """Wait until the server has seen so many requests, or the process has ended."""
    while process.poll() is None:
        with contextlib.suppress(TimeoutError):
            server.wait_for(requests=number, seconds=0.2)
            return


def test_kills_lose_no_answer_and_a_limit_holds_over_them(data: Path) -> None:
    """What the server answered is asked again only if it was on its way when the process was killed."""
    moments = random.Random(5)
    with FakeServer(delay_ms=10) as server:
        words = words_of_a_run(server, "--trials", "6", "--race", "off", "--max-calls", "600")
        before = 0
        for _ in range(N_KILLS):
            started = Process(words, cwd=data, env=environment(data))
            wait_for_requests(server, before + moments.randint(1, 60), started)
            started.kill()
            started.communicate()
            before = server.counts()["requests"]
            if (data / "run" / "run.json").exists():
                words = ["resume", "run"]
        for _ in range(2):
            psopt(data, "resume", "run", code=3)
        n_limited, calls = server.counts()["requests"], read(data)["calls"]
        assert 400 < n_limited <= calls["made"] + calls["failed"] <= 600  # some had not left when it was killed
        assert "calls are made" in psopt(data, "resume", "run", "--max-calls", "300", code=2).stderr
        assert server.counts()["requests"] == n_limited
        psopt(data, "resume", "run", "--max-calls", "100000", code=0)
        log, asked = server.requests(), server.counts()["requests"]
    calls = read(data)["calls"]
    assert read(data)["finish_reason"] == "trials"
    assert len(log) >= 6 * 90
    assert sum(one["answered"] - 1 for one in log if one["answered"] > 1) <= 8 * N_KILLS
    assert max(one["answered"] for one in log) <= 1 + N_KILLS
    assert asked <= calls["made"] + calls["failed"] <= asked + 8 * N_KILLS


def test_a_server_that_dies_fails_the_run_in_one_line_and_it_can_be_gone_on_with(data: Path) -> None:
    with FakeServer(faults="500", fault_rate=1.0) as server:
        failed = optimize(data, server, "--retries", "1", "--trials", "2", code=2)
        assert failed.stderr.count("\n") <= 7
        assert "failed 2 times, at last with: HTTP 500" in failed.stderr.splitlines()[-1]
        assert read(data)["finish_reason"] == "failed"
        server.change(fault_rate=0.0)
        psopt(data, "resume", "run", code=0)


def test_a_trial_that_fails_is_recorded_and_the_study_goes_on(data: Path) -> None:
    """After the original prompt the server fails for a while: some trials fail, later ones don't."""
    import optuna

    with FakeServer(delay_ms=5) as server:
        words = words_of_a_run(server, "--trials", "8", "--retries", "0")
        started = Process(words, cwd=data, env=environment(data))
        wait_for_requests(server, 200, started)
        server.change(faults="500", fault_rate=1.0)
        line = next(line for line in started.stderr if "failed" in line)
        server.change(fault_rate=0.0)
        started.communicate(timeout=600)
    assert started.returncode == 0
    assert "HTTP 500" in line
    study = optuna.load_study(study_name="run", storage=f"sqlite:///{data}/run/study.db")
    failed = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.FAIL]
    assert failed
    assert all("HTTP 500" in trial.user_attrs["failed"] for trial in failed)
    assert len([trial for trial in study.trials if trial.values]) == 8


def test_a_model_writes_rephrasings_and_drafts_edits_for_another_model(data: Path) -> None:
    """A plan sends nothing; drafts that are wrong are refused, with reasons; resuming pays for nothing again."""
    with FakeServer(drafts="bad") as server:
        planned = optimize(data, server, *WRITES, "--dry-run", "--json", code=0)
        assert server.counts()["requests"] == 0
        optimize(data, server, *WRITES, model="sim/wobble=0.5", code=0)
        n_requests = server.counts()["requests"]
        psopt(data, "resume", "run", "--trials", "5", code=0)
        n_more = server.counts()["requests"] - n_requests
    calls = {phase["what"]: phase["calls"] for phase in json.loads(planned.stdout)["phases"]}
    assert calls["rephrasings, written"] == calls["rephrasings, judged"] == 2 + 4
    assert calls["drafts of edits"] > 0
    assert n_more <= 32  # a new total of trials moves the rounds, so that another prompt may be diagnosed
    rephrasings, proposals = read(data, "rephrasings.json"), read(data, "proposals.json")
    assert rephrasings["source"] == "openai/test"
    assert {one["reason"] for one in rephrasings["rejected"]} >= {"empty", "more than one paragraph"}
    assert all(one["checks"]["judged_equivalent"] for one in (*rephrasings["search"][1:], *rephrasings["heldout"]))
    assert read(data)["rephrasings"]["sha256"] == rephrasings["sha256"]
    assert proposals["refused"]
    assert all(one["reason"] for one in proposals["refused"])
    assert any(one["provenance"]["author"] == "openai/test" for one in proposals["edits"])
