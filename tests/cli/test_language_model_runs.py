"""Runs with a language model behind a real socket: faults, limits, kills and resuming, as a user meets them."""

from __future__ import annotations

import contextlib
import functools
import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from tests import commands
from tests.cli.limited_runs import read
from tests.fake_server import FakeServer
from tests.processes import Process

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

KEY = "sk-very-secret-0123456789"
SMALL = ["--effort", "full", "--trials", "4", "--samples", "30", "--rephrasings", "3", "--rounds", "2"]
SMALL += ["--heldout", "4", "--concurrency", "8"]
# Not "empty" and "null": what is empty three times is the answer, and by chance some request of hundreds meets it.
FAULTS = "429,500,503,hang,half,badjson,nochoices,slow,reset"
N_KILLS = 4


psopt = functools.partial(commands.psopt, columns=100, OPENAI_API_KEY=KEY)


def environment(folder: Path) -> dict[str, Any]:
    return commands.environment(folder, 100, OPENAI_API_KEY=KEY)


def optimize(
    folder: Path, server: FakeServer, *arguments: str, out: str = "run", code: int | None = None
) -> subprocess.CompletedProcess[str]:
    model = [] if "--model" in arguments else ["--model", "openai/test"]
    given = ["--dataset", "data.csv", *model, "--api-base", server.url, "--out", out]
    return psopt(folder, "optimize", *given, *SMALL, *arguments, code=code)


def predictions(folder: Path, run: Any) -> dict[str, Any]:
    return {path.name: dict(np.load(path)) for path in sorted((folder / run / "predictions").iterdir())}


def test_a_third_of_the_calls_failing_changes_no_prediction(data: Path) -> None:
    sizes = ["--samples", "16", "--test-samples", "16", "--concurrency", "24", "--trials", "2", "--rounds", "1"]
    with FakeServer() as server:
        optimize(data, server, *sizes, out="good", code=0)
    with FakeServer(faults=FAULTS, fault_rate=0.3, fault_seed=1) as server:
        optimize(data, server, *sizes, "--timeout", "0.5", "--cache-dir", "elsewhere", out="bad", code=0)
    good, bad = predictions(data, "good"), predictions(data, "bad")
    assert good.keys() == bad.keys()
    for name in good:
        for part in ("val", "test"):
            assert (good[name][part] == bad[name][part]).all()
    for good_one, bad_one in zip(*(read(data, "front.json", run)["prompts"] for run in ("good", "bad")), strict=True):
        assert good_one.pop("measured")["server"] != bad_one.pop("measured")["server"]
        assert good_one == bad_one
    assert read(data, run="bad")["calls"]["failed"] > 50
    assert read(data, run="good")["calls"]["failed"] == 0


def test_kills_lose_no_answer(data: Path) -> None:
    """What the server answered is asked again only if it was on its way when the process was killed."""
    moments = random.Random(5)
    with FakeServer(delay_ms=10) as server:
        arguments = ["optimize", "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url]
        arguments += ["--out", "run", *SMALL, "--trials", "6", "--race", "off"]
        before = 0
        for _ in range(N_KILLS):
            started = Process(arguments, cwd=data, env=environment(data))
            wait_for_requests(server, before + moments.randint(1, 60), started)
            started.kill()
            started.communicate()
            before = server.counts()["requests"]
            if (data / "run" / "run.json").exists():
                arguments = ["resume", "run"]
        psopt(data, *arguments, code=0)
        log = server.requests()
        asked = server.counts()["requests"]
    again = sum(one["answered"] - 1 for one in log if one["answered"] > 1)
    assert again <= 8 * N_KILLS
    assert max(one["answered"] for one in log) <= 1 + N_KILLS
    assert read(data)["finish_reason"] == "trials"
    assert len(log) >= 6 * 90
    calls = read(data)["calls"]
    assert asked <= calls["made"] + calls["failed"] <= asked + 8 * N_KILLS  # some had not left when it was killed


def test_a_limit_holds_over_kills_and_parts(data: Path) -> None:
    """What earlier parts of a run have asked counts, also what was on its way when one was killed."""
    with FakeServer(delay_ms=5) as server:
        arguments = ["optimize", "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url]
        arguments += ["--out", "run", *SMALL, "--trials", "12", "--race", "off", "--max-calls", "600"]
        for n_seen in (250, 350):
            started = Process(arguments, cwd=data, env=environment(data))
            wait_for_requests(server, n_seen, started)
            started.kill()
            started.communicate()
            arguments = ["resume", "run"]
        psopt(data, "resume", "run", code=3)
        psopt(data, "resume", "run", code=3)
        n_asked = server.counts()["requests"]
        assert 400 < n_asked <= 600
        again = psopt(data, "resume", "run", "--max-calls", "300")
        assert (again.returncode, server.counts()["requests"]) == (2, n_asked)
        assert "calls are made" in again.stderr
    calls = read(data)["calls"]
    assert n_asked <= calls["made"] + calls["failed"] <= 600


def wait_for_requests(server: FakeServer, number: int, process: Process) -> None:
    """Wait until the server has seen so many requests, or the process has ended."""
    while process.poll() is None:
        with contextlib.suppress(TimeoutError):
            server.wait_for(requests=number, seconds=0.2)
            return


def test_the_key_is_in_no_file_and_on_no_screen(data: Path) -> None:
    with FakeServer(key="sk-another", faults="500", fault_rate=0.1) as server:
        refused = optimize(data, server, "--concurrency", "24", "--trials", "2", code=2)
        server.change(key=KEY)
        done = psopt(data, "resume", "run", code=0)
    said = refused.stdout + refused.stderr + done.stdout + done.stderr
    assert "HTTP 401" in refused.stderr
    assert KEY not in said
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_a_limit_stops_the_run_with_what_was_found_and_it_goes_on(data: Path) -> None:
    with FakeServer() as server:
        stopped = optimize(data, server, "--max-calls", "600", "--race", "off", code=3)
        assert "--max-calls 600 is reached" in stopped.stderr
        assert "psopt resume run" in stopped.stderr
        assert server.counts()["requests"] <= 600
        part = read(data)
        assert part["finish_reason"] == "budget"
        # on a machine that is busy a call may be given up and sent again
        assert part["calls"]["made"] + part["calls"]["failed"] == server.counts()["requests"]
        assert part["front"]
        assert psopt(data, "export", "run").stdout.startswith("Classify")
        psopt(data, "resume", "run", "--max-calls", "100000", code=0)
        assert server.counts()["answered_twice"] == 0
    assert read(data)["finish_reason"] == "trials"
    assert read(data)["calls"]["made"] == server_total(data)
    assert all(one["test"] for one in read(data)["front"])


def server_total(folder: Path) -> Any:
    """Every request that was answered is in the cache once."""
    import sqlite3

    with sqlite3.connect(folder / "cache" / "answers.db") as connection:
        answers = connection.execute("SELECT count(*) FROM answers WHERE value LIKE '{%'").fetchone()
    return answers[0]


def test_a_server_that_dies_fails_the_run_in_one_line_and_it_can_be_gone_on_with(data: Path) -> None:
    with FakeServer() as server:
        server.change(faults="500", fault_rate=1.0)
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
        given = ["--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--out", "run"]
        words = ["optimize", *given, *SMALL, "--trials", "8", "--retries", "0"]
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


def test_probabilities_are_measured_with(data: Path) -> None:
    with FakeServer() as server:
        done = optimize(data, server, "--logprobs", "--verbose", "--trials", "2", code=0)
    baseline = read(data)["baseline"]
    assert baseline["val"]["sensitivity"] > 0.5  # each answer has .7 / .3 by itself
    assert baseline["test"]["posix"] > 0
    assert f"POSIX {baseline['test']['posix']:.2f}" in done.stdout


def test_minilm_gives_no_probabilities_and_says_so(data: Path) -> None:
    done = psopt(data, "optimize", "--dataset", "data.csv", "--logprobs", "--out", "run", code=2)
    assert "gives no probabilities" in done.stderr


def test_a_model_writes_rephrasings_and_drafts_edits_for_another_model(data: Path) -> None:
    """Drafts that are wrong are refused, each with its reason in the run; resuming pays for nothing again."""
    with FakeServer(drafts="bad") as server:
        writes = ["--rephraser", "openai/test", "--proposer", "openai/test", "--judge", "openai/test"]
        optimize(data, server, *writes, "--model", "sim/wobble=0.5", code=0)
        n_requests = server.counts()["requests"]
        psopt(data, "resume", "run", "--trials", "5", code=0)
        n_more = server.counts()["requests"] - n_requests
    assert n_more <= 32  # a new total of trials moves the rounds, so that another prompt may be diagnosed
    rephrasings, proposals = read(data, "rephrasings.json"), read(data, "proposals.json")
    assert rephrasings["source"] == "openai/test"
    assert {one["reason"] for one in rephrasings["rejected"]} >= {"empty", "more than one paragraph"}
    assert all(one["checks"]["judged_equivalent"] for one in (*rephrasings["search"][1:], *rephrasings["heldout"]))
    assert read(data)["rephrasings"]["sha256"] == rephrasings["sha256"]
    assert proposals["refused"]
    assert all(one["reason"] for one in proposals["refused"])
    assert any(one["provenance"]["author"] == "openai/test" for one in proposals["edits"])


def test_a_dry_run_with_models_that_write_sends_nothing_either(data: Path) -> None:
    with FakeServer() as server:
        writes = ["--rephraser", "openai/test", "--proposer", "openai/test", "--judge", "openai/test"]
        planned = optimize(data, server, *writes, "--dry-run", "--json", code=0)
        assert server.counts()["requests"] == 0
    calls = {phase["what"]: phase["calls"] for phase in json.loads(planned.stdout)["phases"]}
    assert calls["rephrasings, written"] == calls["rephrasings, judged"] == 2 + 4
    assert calls["drafts of edits"] > 0


def test_rephrasings_are_a_file_that_other_runs_use(data: Path) -> None:
    with FakeServer() as server:
        given = ["--dataset", "data.csv", "--rephraser", "openai/test", "--api-base", server.url]
        written = psopt(data, "rephrase", *given, "--out", "words.json", "--rephrasings", "4", code=0)
        assert "words.json: 4 search and 10 held-out rephrasings" in written.stdout
        assert "exists" in psopt(data, "rephrase", *given, "--out", "words.json").stderr
        optimize(data, server, "--rephrasings-file", "words.json", code=0)
        too_many = optimize(data, server, "--rephrasings-file", "words.json", "--rephrasings", "5", out="other", code=2)
        assert "holds 4 search rephrasings; 5 were asked for" in too_many.stderr
    words = json.loads((data / "words.json").read_text())
    assert read(data)["rephrasings"]["search"] == [one["text"] for one in words["search"]][:3]


def test_a_rephraser_that_is_none_is_said(data: Path) -> None:
    done = psopt(data, "rephrase", "--dataset", "data.csv", "--rephraser", "minilm", code=2)
    assert "unknown rephraser 'minilm'" in done.stderr


def test_edits_are_left_out_of_the_chosen_prompt_where_that_is_asked_for(data: Path) -> None:
    with FakeServer() as server:
        optimize(data, server, code=0)
        assert read(data, "contributions.json")["left_out"] == []
        before = server.counts()["requests"]
        psopt(data, "resume", "run", "--leave-one-out", "2", "--api-base", server.url, code=0)
        left_out = read(data, "contributions.json")["left_out"]
        knee = next(one for one in read(data, "front.json")["prompts"] if one["knee"])
        assert bool(left_out) == bool(knee["edits"])
        assert sum(not one["what"].startswith("all ") for one in left_out) <= 2
        assert server.counts()["requests"] - before <= 5 * 30 * 3
        psopt(data, "resume", "run", "--leave-one-out", "2", "--api-base", server.url, code=0)
        assert read(data, "contributions.json")["left_out"] == left_out
