"""A limit, or an effort, decides how large a run is, which is said; its end is paid for, and no limit is passed."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psopt.models.chat import AnswerRate, LMConfig
from psopt.runs import Pace
from psopt.runs.planning import EFFORT_CALLS

from tests.cli.limited_runs import optimize, psopt, read, write_questions
from tests.fake_server import FakeServer

N_VAL = N_TRAIN = 30 * 3
N_TEST = 30 * 4
LEAST = N_VAL + N_TEST


def check_tested(run: Any) -> None:
    assert run["baseline"]["test"]
    assert next(one for one in run["front"] if one["knee"])["test"]


def check_end(folder: Any) -> Any:
    """See that a run was ended by a limit, its baseline and knee scored on test, and reported."""
    run = read(folder)
    assert run["finish_reason"] == "budget"
    check_tested(run)
    assert (folder / "run" / "report.html").is_file()
    return run


def n_cached(folder: Any) -> Any:
    """Every request that was answered is in the cache once; how fast the model answered is in it too."""
    answers = "value LIKE '{%' AND value NOT LIKE '%per_minute%'"
    with sqlite3.connect(folder / "cache" / "answers.db") as connection:
        return connection.execute(f"SELECT count(*) FROM answers WHERE {answers}").fetchone()[0]


def test_a_limit_on_calls_stops_a_run_that_goes_on_with_a_higher_one(data: Any) -> None:
    with FakeServer() as server:
        stopped = optimize(data, server, "--max-calls", "600", "--race", "off", code=3)
        assert "when the search stopped: --max-calls 600 is reached (" in stopped.stderr
        assert "resume with a higher limit: psopt resume run --max-calls N" in stopped.stderr
        assert "Nothing was compared" not in stopped.stdout
        assert "chosen on val, reported on test" in stopped.stdout
        assert "is scored on test" in stopped.stderr.splitlines()[-1]
        part = check_end(data)
        # on a machine that is busy a call may be given up and sent again
        assert part["calls"]["made"] + part["calls"]["failed"] == server.counts()["requests"] <= 700
        assert all(one["id"] in stopped.stderr for one in part["front"] if not one["test"])
        assert psopt(data, "export", "run").stdout.startswith("Classify")
        psopt(data, "resume", "run", "--max-calls", "100000", code=0)
        assert server.counts()["answered_twice"] == 0
    run = read(data)
    assert run["finish_reason"] == "trials"
    assert run["calls"]["made"] == n_cached(data)
    assert all(one["test"] for one in run["front"])


@pytest.mark.parametrize(
    ("option", "too_little"), [("--max-cost", "0.0002"), ("--max-calls", "100"), ("--max-tokens-total", "900")]
)
def test_a_limit_that_cant_pay_the_least_is_refused_with_the_least_that_works(
    data: Any, server: FakeServer, option: str, too_little: str
) -> None:
    before = server.counts()["requests"]
    refused = optimize(data, server, option, too_little, code=2)
    assert server.counts()["requests"] == before
    assert not (data / "run").exists()
    least = rf"{option} {too_little} can't pay the original prompt on val and the final test: at least ([\d.]+)"
    told = re.search(least, refused.stderr)
    assert told, refused.stderr
    stopped = optimize(data, server, option, told[1], code=3)
    assert read(data)["baseline"]["test"]
    if option == "--max-calls":
        calls = check_end(data)["calls"]
        assert calls["made"] + calls["failed"] <= int(told[1]) == LEAST
        assert "Nothing was compared" in stopped.stdout  # and not: nothing was better
        assert "Next: psopt report run" in stopped.stdout


def test_the_final_test_is_paid_for_where_a_server_counts_no_tokens(data: Any) -> None:
    """Limits then use the most that each call can take, so as much is held back."""
    with FakeServer(shape="uncounted") as server:
        optimize(data, server, "--max-tokens-total", "200000", code=3)
    assert check_end(data)["calls"]["tokens"] <= 200_000


def test_reasoning_tokens_are_counted_and_what_is_cached_is_free(data: Any) -> None:
    with FakeServer(reasoning_tokens=40) as thinking:
        optimize(data, thinking, "--trials", "2", code=0)
        optimize(data, thinking, "--trials", "2", "--max-calls", "0", out="again", code=0)
    calls = read(data)["calls"]
    assert calls["reasoning_tokens"] == 40 * calls["made"]
    assert calls["tokens"] > 40 * calls["made"]
    assert read(data, run="again")["calls"]["made"] == 0


def plain(
    folder: Path, *words: str, server: FakeServer | None = None, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """Optimize on 60 samples a split, with no more options than these."""
    write_questions(folder, 60)
    (folder / "prices.toml").write_text("")
    model = ["openai/test", "--api-base", server.url] if server else ["sim/accuracy=.8"]
    return psopt(folder, "optimize", "--dataset", "data.csv", "--model", *model, "--out", "run", *words, code=code)


def test_a_limit_is_planned_to_and_kept_with_the_final_test(tmp_path: Path, server: FakeServer) -> None:
    before = server.counts()["requests"]
    done = plain(tmp_path, "--max-calls", "1000", server=server, code=None)
    assert done.returncode in {0, 3}  # 3: it was reached, which is allowed
    run = read(tmp_path)
    plan, sizes = run["plan"], run["plan"]["sizes"]
    assert plan["limits"]["calls"] == 1000
    assert 800 < plan["calls"] <= 1000
    assert sum(phase["calls"] for phase in plan["phases"]) == plan["calls"]
    assert run["calls"]["made"] == server.counts()["requests"] - before <= 1000
    check_tested(run)
    evaluated = run["dataset"]["evaluated"]
    assert (evaluated["train"], evaluated["val"]) == (sizes["train"], sizes["val"])
    # What racing saves goes into the final test, up to all of its samples.
    assert sizes["test"] < evaluated["test"] == run["settings"]["test_samples"] <= plan["most_test"] == 60
    assert f"the final test takes {evaluated['test']} samples" in done.stderr
    assert len(run["rephrasings"]["heldout"]) == sizes["heldout"]
    assert (run["settings"]["effort"], run["settings"]["trials"]) == ("limits", sizes["trials"])


def test_an_effort_must_pay_the_end_and_where_it_is_used_up_a_limit_lets_the_run_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ["--samples", "20", "--test-samples", "20", "--race", "off", "--max-prompt-tokens", "9999"]
    with FakeServer() as server:
        monkeypatch.setitem(EFFORT_CALLS, "light", 100)
        refused = plain(tmp_path, "--samples", "60", "--rephrasings", "3", server=server, code=2).stderr
        least = "can't pay the original prompt on val and the final test, at least 279: give --max-calls"
        assert f"effort light, 100 calls, {least}" in refused
        assert server.counts()["requests"] == 0
        assert not (tmp_path / "run").exists()
        monkeypatch.setitem(EFFORT_CALLS, "light", 700)
        said = plain(tmp_path, "--trials", "40", *small, server=server).stderr
        assert said.startswith("Effort light: about ")
        assert "40 trials of 20 x 2 would take about" in said
        assert "--max-calls N" in said
        run = read(tmp_path)
        assert run["finish_reason"] == "budget"
        check_tested(run)
        psopt(tmp_path, "resume", "run", code=0)
        assert run["calls"]["made"] <= server.counts()["requests"] <= 700
        assert "are made" in psopt(tmp_path, "resume", "run", "--max-calls", "150", code=2).stderr  # of the whole run
        psopt(tmp_path, "resume", "run", "--max-calls", "900", code=3)
        assert 700 < server.counts()["requests"] <= 900
    assert read(tmp_path)["plan"] == run["plan"]


def planned(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_run_takes_is_about_what_was_expected(data: Any) -> None:
    """Of a model whose candidates differ, so that some of them stop; and then it is known how fast the server is."""
    with FakeServer(answer="knows", task=str(data / "data.csv")) as server:
        sizes = ("--trials", "8", "--proposer", "rules")
        plan = planned(optimize(data, server, "--dry-run", "--json", *sizes))
        run = json.loads(optimize(data, server, "--json", *sizes).stdout)
        again = planned(optimize(data, server, "--dry-run", "--json", *sizes, "--seed", "1"))
        slow = optimize(data, server, "--dry-run", "--seed", "1", "--requests-per-minute", "1")
    for name, took in (("calls", "made"), ("tokens", "tokens"), ("cost_usd", "cost_usd")):
        assert plan[name] / 3 < run["calls"][took] < 2 * plan[name]  # it decides how many prompts the front has
    assert plan["minutes"] is None
    assert 0 < again["minutes"] < 5
    assert re.search(r"hours at 1 answer per minute, as measured on \d{4}-\d\d-\d\d", slow.stdout)


def test_a_limit_is_compared_with_what_is_expected(data: Any, server: FakeServer) -> None:
    before = server.counts()["requests"]
    asked = ("--dry-run", "--trials", "40", "--max-cost")
    assert (
        "can't pay the original prompt" in optimize(data, server, *asked, "0.02", code=2).stderr
    )  # as without --dry-run
    for limit, how in (("0.05", "stopped at"), ("200", "never more than")):
        said = optimize(data, server, *asked, limit, code=0).stdout
        assert re.fullmatch(rf"About [\d,]+ calls, (.+, )?[\d.]+ USD; {how} {limit} USD\.", said.splitlines()[0])
        assert re.search(r"About [\d.]+ USD for [\d,.M]+ tokens", said)
    assert server.counts()["requests"] == before
    plan = ("optimize", "--dataset", "data.csv", "--trials", "4", "--dry-run")
    said = psopt(data, *plan, "--model", "openai/unknown", code=0).stdout
    assert f"No price is known for openai/unknown: add it to {data / 'prices.toml'}." in said
    said = psopt(data, *plan, "--model", "sim", "--proposer", "openai/other", code=0).stdout
    assert "sim costs nothing. Another model writes about " in said


@pytest.mark.parametrize("words", ["diagnose --split test", "check --min-f1 0", "compare --model2 openai/other"])
def test_measuring_is_counted_exactly_and_what_is_cached_is_free(data: Any, server: FakeServer, words: str) -> None:
    (data / "prices.toml").write_text('"openai/test" = { in = 1, out = 4 }\n"openai/other" = { in = 1, out = 4 }\n')
    given = [*words.split(), "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url]
    before = server.counts()["requests"]
    plan = planned(psopt(data, *given, "--dry-run", "--json"))
    assert server.counts()["requests"] == before
    psopt(data, *given, code=0)
    took = server.counts()["requests"] - before
    assert plan["calls"] == took
    assert sum(phase["cached"] for phase in planned(psopt(data, *given, "--dry-run", "--json"))["phases"]) == took


LM = LMConfig()


@pytest.mark.parametrize(
    ("changed", "per_minute"),
    [({}, 1200.0), ({"concurrency": 8}, 300.0), ({"requests_per_minute": 60}, 60.0), ({"concurrency": 64}, 1200.0)],
)
def test_a_measured_rate_is_no_faster_than_what_may_be_asked(changed: Any, per_minute: float) -> None:
    rate = AnswerRate(1200.0, 32, "2026-11-22")
    assert Pace.of(rate, LM.changed(**changed)) == Pace(per_minute, "2026-11-22")
    assert Pace.of(None, LM) is None
