"""Faults: what stands at a run's edges raises once, be it Optuna, the model or the disk; servers fail; runs are killed.

The run ends in one line, what was found until then is saved, and it can be gone on with. Limits are in
test_limits_keep_the_end.py.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import optuna
import pytest
from psopt.tasks import Task

from tests.cli.limited_runs import SMALL, environment, optimize, read
from tests.cli.limited_runs import psopt as priced
from tests.commands import psopt
from tests.fake_server import FakeServer
from tests.processes import Process

# What stands at the loop's edges, and which call of it fails: later ones, once a trial is done.
CALLS = [
    ("optuna:Study.ask", 2, RuntimeError),
    ("optuna:Trial.set_user_attr", 8, KeyError),
    ("tests.conftest:KeywordModel.predict", 4, ValueError),
    ("psopt.search:Search.__init__", 1, RuntimeError),
    ("psopt.runs:RunRecorder.save", 2, ValueError),
    ("psopt.api._finishing:write_report", 1, RuntimeError),
]
OPTIMIZE = ["optimize", "--dataset", "toy.csv", "--trials", "4", "--rephrasings", "2", "--rounds", "1", "--out", "run"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task, keyword_model: Any) -> Path:
    monkeypatch.setattr("psopt.models.ModelProvider.answering", lambda *_: keyword_model)
    monkeypatch.setattr("psopt.api._optimize.timed_pace", lambda *_: None)  # how much is timed hangs on the machine
    monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: [])  # figures take longer than all else
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{one.id},{one.text},{one.label},{split}" for one in getattr(task, split)[:8]]
    (tmp_path / "toy.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def optimize_with_fault(here: Path, place: str, number: int, error: BaseException) -> subprocess.CompletedProcess[str]:
    """Run, where call `number` of what `place` names raises an error, and the others do what they do."""
    module, _, path = place.partition(":")
    *classes, name = path.split(".")
    owner = importlib.import_module(module)
    for one in classes:
        owner = getattr(owner, one)
    kept, real, calls = vars(owner)[name], getattr(owner, name), []

    def broken(*given: Any, **named: Any) -> Any:
        calls.append(place)
        if len(calls) == number:
            raise error
        return real(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, staticmethod(broken) if isinstance(kept, classmethod) else broken)
        done = psopt(here, *OPTIMIZE)
    assert len(calls) >= number, "the call that was to fail was never made"
    assert "Traceback" not in done.stderr
    return done


def finished(run: Path) -> Any:
    if not (run / "study.db").exists():
        return 0
    storage = optuna.storages.RDBStorage(f"sqlite:///{run}/study.db")
    studies = storage.get_all_studies()
    trials = [trial for one in studies for trial in storage.get_all_trials(one._study_id)]
    return sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in trials)


@pytest.mark.parametrize(("place", "number", "kind"), CALLS)
def test_a_bug_ends_the_run_in_one_line_and_its_traceback_is_kept(
    here: Path, place: str, number: int, kind: type[Exception]
) -> None:
    done = optimize_with_fault(here, place, number, kind("a bug"))
    assert done.returncode == 70
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("psopt: ")] == lines[-1:]
    assert f"this is a bug of psopt, please report it: {kind.__name__}: " in lines[-1]
    log = lines[-1].partition("the traceback is in ")[2].partition(";")[0]
    assert "Traceback (most recent call last)" in (here / log).read_text("utf-8")
    n_finished = finished(here / "run")
    is_there = (here / "run").exists()
    assert ("resume with: psopt resume run" in lines[-1]) == is_there
    psopt(here, *(["resume", "run"] if is_there else OPTIMIZE), code=0)
    assert read(here)["finish_reason"] in {"trials", "exhausted"}
    assert finished(here / "run") >= n_finished


@pytest.mark.parametrize("place", ["psopt.api._finishing:write_report", "psopt.runs:RunRecorder.save_prompts"])
def test_a_fault_after_the_final_test_loses_no_test_score(here: Path, place: str) -> None:
    assert optimize_with_fault(here, place, 1, RuntimeError("a bug")).returncode == 70
    run, front = read(here), read(here, "front.json")
    assert run["finish_reason"] == "failed"
    assert all(prompt["test"] for prompt in [run["baseline"], run["short"], *run["front"], *front["prompts"]])


@pytest.mark.parametrize("place", ["psopt.runs:RunDirectory.write_json", "optuna:create_study", "optuna:Study.ask"])
def test_ctrl_c_in_the_first_seconds_leaves_nothing_or_what_can_be_gone_on_with(here: Path, place: str) -> None:
    assert optimize_with_fault(here, place, 1, KeyboardInterrupt()).returncode == 130
    if (here / "run" / "run.json").exists():
        shutil.copytree(here / "run", here / "resumed")
        psopt(here, "resume", "resumed", code=0)
        assert finished(here / "resumed") >= 4
    psopt(here, *OPTIMIZE, code=0)
    assert finished(here / "run") >= 4


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
            priced(data, "resume", "run", code=3)
        n_limited, calls = server.counts()["requests"], read(data)["calls"]
        assert 400 < n_limited <= calls["made"] + calls["failed"] <= 600  # some had not left when it was killed
        assert "calls are made" in priced(data, "resume", "run", "--max-calls", "300", code=2).stderr
        assert server.counts()["requests"] == n_limited
        priced(data, "resume", "run", "--max-calls", "100000", code=0)
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
        priced(data, "resume", "run", code=0)


def test_a_trial_that_fails_is_recorded_and_the_study_goes_on(data: Path) -> None:
    """After the original prompt the server fails for a while: some trials fail, later ones don't."""
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
        priced(data, "resume", "run", "--trials", "5", code=0)
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
