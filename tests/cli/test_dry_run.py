"""What a command would take is said before it is sent, as a range, by every verb that asks a model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cli.limited_runs import optimize, psopt, read
from tests.fake_server import FakeServer


def planned(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_run_takes_is_within_the_range(data: Any) -> None:
    """Of a model whose candidates differ, so that some of them stop; and then it is known how fast the server is."""
    with FakeServer(answer="sim/accuracy=0.6,wobble=0.4", task=str(data / "data.csv")) as server:
        sizes = ("--trials", "8", "--proposer", "rules")
        plan = planned(optimize(data, server, "--dry-run", "--json", *sizes))
        run = json.loads(optimize(data, server, "--json", *sizes).stdout)
        again = planned(optimize(data, server, "--dry-run", "--json", *sizes, "--seed", "1"))
        slow = optimize(data, server, "--dry-run", "--seed", "1", "--requests-per-minute", "1")
    for name, took in (("calls", "made"), ("tokens", "tokens"), ("cost_usd", "cost_usd")):
        low, high = plan[f"{name}_range"]
        assert low <= run["calls"][took] <= high
        assert high < 12 * low  # what decides is how many prompts the front has: seven at most, of which each is tested
    n_cells = 90
    asked = run["race"]["calls"] - n_cells  # of candidates, the original prompt not among them
    least, about, most = plan["racing"]["calls"]
    assert least <= asked <= most <= plan["racing"]["calls_without"] == 7 * n_cells
    assert least < about < 7 * n_cells
    assert plan["minutes_range"] is None
    few, many = again["minutes_range"]
    assert 0 < few < many < 5
    assert re.search(r"hours at 1 calls per minute, as measured on \d{4}-\d\d-\d\d", slow.stdout)


def test_a_limit_is_compared_with_what_is_expected(data: Any, server: FakeServer) -> None:
    before = server.counts()["requests"]
    said = optimize(data, server, "--dry-run", "--trials", "40", "--max-cost", "0.2", code=0)
    assert re.search(r"--max-cost 0.2 is reached after about \d+( to \d+)? of 40 trials", said.stdout)
    assert "USD: " in said.stdout
    first = r"About [\d,]+ calls, (.+, )?[\d.]+ USD; (at most .+; )?never more than .*0\.2 USD\."
    assert re.fullmatch(first, said.stdout.splitlines()[0])
    enough = optimize(data, server, "--dry-run", "--max-cost", "200")
    assert "is reached" not in enough.stdout
    assert server.counts()["requests"] == before


@pytest.mark.parametrize("verb", ["diagnose", "check", "compare"])
def test_measuring_is_counted_exactly_and_what_is_cached_is_free(data: Any, server: FakeServer, verb: str) -> None:
    more = {"check": ["--min-f1", "0"], "compare": ["--model2", "openai/other"], "diagnose": ["--split", "test"]}[verb]
    (data / "prices.toml").write_text('"openai/test" = { in = 1, out = 4 }\n"openai/other" = { in = 1, out = 4 }\n')
    given = [verb, "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, *more]
    before = server.counts()["requests"]
    plan = planned(psopt(data, *given, "--dry-run", "--json"))
    assert server.counts()["requests"] == before
    psopt(data, *given, code=0)
    took = server.counts()["requests"] - before
    assert plan["calls_range"] == [took, took]
    assert planned(psopt(data, *given, "--dry-run", "--json"))["calls_range"] == [0, 0]


def test_rephrasing_and_resuming_are_counted_too(data: Any, server: FakeServer) -> None:
    writes = ["--rephraser", "openai/test", "--api-base", server.url]
    plan = planned(psopt(data, "rephrase", "--dataset", "data.csv", *writes, "--dry-run", "--json"))
    assert plan["phases"][0]["calls"] == 19
    optimize(data, server, code=0)
    before = server.counts()["requests"]
    rest = planned(psopt(data, "resume", "run", "--trials", "6", "--dry-run", "--json"))
    assert server.counts()["requests"] == before
    assert 90 < next(one for one in rest["phases"] if one["what"] == "candidates on val")["calls"] <= 2 * 90
    assert read(data)["settings"]["trials"] == 4


def test_a_limit_without_effect_is_said(data: Any) -> None:
    said = psopt(data, "optimize", "--dataset", "data.csv", "--max-cost", "1", "--dry-run", code=0)
    assert "This model costs nothing." in said.stdout
    assert "--max-cost: nothing to limit, minilm asks no server" in said.stdout
