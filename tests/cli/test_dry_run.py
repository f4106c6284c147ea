"""What a command would take is said before it is sent, by every verb that asks a model, and counted down in a run."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cli.limited_runs import optimize, psopt
from tests.fake_server import FakeServer


def planned(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_run_takes_is_within_the_range(data: Any) -> None:
    """Of a model whose candidates differ, so that some of them stop; and then it is known how fast the server is."""
    with FakeServer(answer="knows", task=str(data / "data.csv")) as server:
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
    (candidates,) = (phase for phase in plan["phases"] if phase["what"] == "candidates on val")
    assert candidates["least"]["calls"] <= asked <= candidates["most"]["calls"] <= 7 * n_cells
    assert candidates["least"]["calls"] < candidates["calls"] < 7 * n_cells
    assert plan["minutes_range"] is None
    few, many = again["minutes_range"]
    assert 0 < few < many < 5
    assert re.search(r"hours at 1 calls per minute, as measured on \d{4}-\d\d-\d\d", slow.stdout)


def test_a_limit_is_compared_with_what_is_expected(data: Any, server: FakeServer) -> None:
    before = server.counts()["requests"]
    said = optimize(data, server, "--dry-run", "--trials", "40", "--max-cost", "0.2", code=0).stdout
    assert "--max-cost 0.2 may be reached before the end; what was found till then is scored on test." in said
    assert "USD: " in said
    first = r"About [\d,]+ calls, (.+, )?[\d.]+ USD; (at most .+; )?never more than .*0\.2 USD\."
    assert re.fullmatch(first, said.splitlines()[0])
    assert "may be reached" not in optimize(data, server, "--dry-run", "--max-cost", "200").stdout
    assert server.counts()["requests"] == before
    unknown = ("--model", "openai/unknown", "--trials", "4", "--dry-run")
    said = psopt(data, "optimize", "--dataset", "data.csv", *unknown, code=0).stdout
    assert f"No price is known for openai/unknown: add it to {data / 'prices.toml'}." in said
    said = psopt(data, "optimize", "--dataset", "data.csv", "--max-cost", "1", "--dry-run", code=0).stdout
    assert "This model costs nothing." in said
    said = psopt(data, "optimize", "--dataset", "data.csv", "--proposer", "openai/other", "--dry-run", code=0).stdout
    assert "minilm costs nothing. Another model writes about " in said


@pytest.mark.parametrize("words", ["diagnose --split test", "check --min-f1 0", "compare --model2 openai/other"])
def test_measuring_is_counted_exactly_and_what_is_cached_is_free(data: Any, server: FakeServer, words: str) -> None:
    (data / "prices.toml").write_text('"openai/test" = { in = 1, out = 4 }\n"openai/other" = { in = 1, out = 4 }\n')
    given = [*words.split(), "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url]
    before = server.counts()["requests"]
    plan = planned(psopt(data, *given, "--dry-run", "--json"))
    assert server.counts()["requests"] == before
    psopt(data, *given, code=0)
    took = server.counts()["requests"] - before
    assert plan["calls_range"] == [took, took]
    assert planned(psopt(data, *given, "--dry-run", "--json"))["calls_range"] == [0, 0]
