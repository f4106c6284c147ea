"""A limit ends the search while what was found can still be scored on test, and is never passed."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

import pytest

from tests.cli.limited_runs import optimize, read
from tests.fake_server import FakeServer

N_VAL = N_TRAIN = 30 * 3
N_TEST = 30 * 4
LEAST = N_VAL + N_TEST


def test_a_limit_on_cost_ends_with_the_front_scored_on_test_and_a_report(data: Any, server: FakeServer) -> None:
    stopped = optimize(data, server, "--max-cost", "0.1", "--trials", "12", "--race", "off", code=3)
    run = read(data)
    assert run["finish_reason"] == "budget"
    assert run["calls"]["cost_usd"] <= 0.1
    assert run["baseline"]["test"]
    assert next(one for one in run["front"] if one["knee"])["test"]
    assert (data / "run" / "report.html").is_file()
    assert "chosen on val, reported on test" in stopped.stdout
    assert "is scored on test" in stopped.stderr.splitlines()[-1]
    assert "psopt resume run" in stopped.stderr.splitlines()[-1]


def test_whatever_a_limit_allows_the_baseline_and_the_knee_are_tested(data: Any, server: FakeServer) -> None:
    stopped = optimize(data, server, "--max-calls", "700", "--trials", "12", code=3)
    run = read(data)
    assert run["calls"]["made"] + run["calls"]["failed"] <= 700
    assert run["baseline"]["test"]
    assert next(one for one in run["front"] if one["knee"])["test"]
    assert (data / "run" / "report.html").is_file()
    assert "Nothing was compared" not in stopped.stdout
    untested = [one["id"] for one in run["front"] if not one["test"]]
    assert all(name in stopped.stderr for name in untested)


def test_faults_take_from_what_is_searched_and_not_from_the_end(data: Any) -> None:
    with FakeServer(faults="500,empty", fault_rate=0.2) as faulty:
        stopped = optimize(data, faulty, "--max-calls", "700", "--trials", "12")
        assert faulty.counts()["requests"] <= 700
    assert stopped.returncode == 3, stopped.stderr
    run = read(data)
    assert run["calls"]["failed"] > 50
    assert next(one for one in run["front"] if one["knee"])["test"]


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
    told = re.search(
        rf"{option} {too_little} can't pay the original prompt on val and the final test: at least ([\d.]+)",
        refused.stderr,
    )
    assert told, refused.stderr
    stopped = optimize(data, server, option, told[1], code=3)
    run = read(data)
    assert run["baseline"]["test"]
    if option == "--max-calls":
        assert run["calls"]["made"] + run["calls"]["failed"] <= int(told[1]) == LEAST
        assert "Nothing was compared" in stopped.stdout  # and not: nothing was better
        assert next(one for one in run["front"] if one["knee"])["test"]
        assert (data / "run" / "report.html").is_file()


def test_what_is_cached_is_free(data: Any, server: FakeServer) -> None:
    optimize(data, server, "--trials", "2", code=0)
    optimize(data, server, "--trials", "2", "--max-calls", "0", out="again", code=0)
    assert read(data, run="again")["calls"]["made"] == 0


def test_all_models_of_a_run_share_the_limit(data: Any, server: FakeServer) -> None:
    writes = ["--rephraser", "openai/test", "--judge", "openai/test", "--proposer", "openai/test"]
    optimize(data, server, *writes, "--max-calls", "900", "--trials", "12", "--race", "off", code=3)
    run = read(data)
    assert run["calls"]["made"] <= 900
    assert next(one for one in run["front"] if one["knee"])["test"]
    with sqlite3.connect(data / "cache" / "answers.db") as connection:
        (asked,) = connection.execute("SELECT count(*) FROM answers WHERE value LIKE '{%'").fetchone()
    assert asked == run["calls"]["made"]


@pytest.mark.parametrize("option", ["--max-calls", "--max-cost", "--max-tokens-total"])
@pytest.mark.parametrize("value", ["-1", "nan"])
def test_a_limit_that_is_none_is_one_line(data: Any, server: FakeServer, option: str, value: str) -> None:
    refused = optimize(data, server, option, value, code=2)
    assert refused.stderr.count("\n") == 1
    assert "Traceback" not in refused.stderr


def test_cost_without_a_price_is_one_line(data: Any, server: FakeServer) -> None:
    refused = optimize(data, server, "--max-cost", "5", model="openai/unpriced", code=2)
    assert "--max-cost needs the price of openai/unpriced" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_reasoning_tokens_are_counted(data: Any) -> None:
    with FakeServer(reasoning_tokens=40) as thinking:
        optimize(data, thinking, "--trials", "2", code=0)
    calls = json.loads((data / "run" / "run.json").read_text())["calls"]
    assert calls["reasoning_tokens"] == 40 * calls["made"]
    assert calls["tokens"] > 40 * calls["made"]
