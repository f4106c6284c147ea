"""What a plan says: each amount between what and what, in 80 columns, in signs that every code page has."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from psopt.cli._dry_run import show_estimate
from psopt.cli._plan_lines import UNKNOWN_MINUTES, estimate_lines, minutes_line
from psopt.models.chat import AnswerRate, LMConfig, Need, Price
from psopt.runs import CostEstimate, Phase
from psopt.runs._cost_estimate import Pace, RacingEstimate
from psopt.runs.planning import shorter_line

LM = LMConfig()
VAL = Phase("original prompt on val", 5000, 1000, 400_000, "", Need(4000, 0, 0.1), Need(4000, 0, 0.1), 0.1)
MANY = Phase(
    "candidates on val", 96_633, 0, 45_701_316, "39 of them", Need(31_164, 0, 2.0), Need(167_250, 0, 20.0), 7.0
)
RACING = RacingEstimate(195_000, (31_164, 96_633, 167_250))
PLAN = CostEstimate((VAL, MANY), Price(1.0, 4.0), (0.1, 0.1), 40, RACING, Pace(1200.0, "2026-11-22"), 39)


def test_a_plan_fits_80_columns_and_code_page_1252_but_for_its_rule(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_estimate(PLAN, "openai/gpt-4o-mini", LM, as_json=False)
    shown = capsys.readouterr().out
    table, lines = shown.split("\n1,000 answers are in the cache already.\n")
    assert max(map(len, table.splitlines())) <= 80
    (shown.replace("─", "-")).encode("cp1252")
    (total,) = (line for line in table.splitlines() if line.startswith("in all"))
    assert total.split() == ["in", "all", "100,633", "35,164", "171,250", "46M", "7.1"]
    assert "Racing saves about 50 % (14 to 84 %)" in lines
    assert "97,000 calls (31,000 to 170,000), without it 200,000." in lines


def test_the_json_has_it_all(capsys: Any) -> None:
    show_estimate(PLAN, "openai/gpt-4o-mini", LM, as_json=True)
    plan = json.loads(capsys.readouterr().out)
    low, high = plan["calls_range"]
    assert plan["minutes_range"] == [low / 1200, high / 1200]
    assert plan["racing"] == {"calls_without": 195_000, "calls": [31_164, 96_633, 167_250]}
    assert plan["trials_within_limits"] is None


def test_minutes_are_said_as_far_as_they_are_known() -> None:
    assert minutes_line(PLAN, LM).startswith("About ")
    assert minutes_line(PLAN, LM).endswith("at 1,200 calls per minute, as measured on 2026-11-22.")
    assert minutes_line(replace(PLAN, pace=None), LM) == "How long it takes is unknown until the first answers."
    slow = LM.changed(requests_per_minute=600)
    assert minutes_line(replace(PLAN, pace=Pace.of(None, slow)), slow) == (
        "At least 1 to 5 hours: --requests-per-minute 600 allows no more."
    )
    assert "within a day each" in minutes_line(PLAN, LM.changed(batch=True))


@pytest.mark.parametrize(
    ("changed", "per_minute"),
    [({}, 1200.0), ({"concurrency": 8}, 300.0), ({"requests_per_minute": 60}, 60.0), ({"concurrency": 64}, 1200.0)],
)
def test_a_measured_rate_is_no_faster_than_what_may_be_asked(changed: Any, per_minute: float) -> None:
    rate = AnswerRate(1200.0, 32, "2026-11-22")
    assert Pace.of(rate, LM.changed(**changed)) == Pace(per_minute, "2026-11-22")
    assert Pace.of(None, LM) is None


def test_without_racing_and_without_a_price_neither_is_said() -> None:
    lines = estimate_lines(replace(PLAN, racing=None, price=None, pace=None), "openai/mine", LM)
    assert not any("Racing" in line or "USD:" in line for line in lines)
    assert "No price is known for openai/mine" in lines[0]
    free = replace(PLAN, phases=(replace(VAL, cost=0.0),), price=None, racing=None)
    assert estimate_lines(free, "minilm", LM)[0] == "This model costs nothing."


def test_a_local_model_costs_time_and_not_money() -> None:
    free = replace(PLAN, phases=(replace(VAL, cost=0.0), replace(MANY, calls=3560, cost=0.0)), price=None)
    known = estimate_lines(replace(free, pace=Pace(840.0, "2026-11-22")), "hf/model", LM.changed(max_calls=10**6))
    assert known[0].startswith("It costs time, not money: ")
    # 4,000 and 3,560 answers are to be computed.
    assert known[-1] == "About 9 minutes at 14 answers per second, as measured on 2026-11-22."
    assert UNKNOWN_MINUTES in estimate_lines(replace(free, pace=None), "hf/model", LM)
    assert not any("minutes" in line for line in estimate_lines(free, "hf/model", LM, caveat=False))


def test_what_fits_in_five_minutes_is_what_a_plan_of_that_size_pays_for() -> None:
    least = replace(PLAN, phases=(replace(VAL, calls=700, cached=0, cost=0.0),), price=None)
    assert shorter_line(least, 840.0) == "within five minutes: --max-calls 4200"
    assert shorter_line(least, 840.0, "full") == "within five minutes: --max-calls 4200 and no --effort"
    # 300 answers are no run; with room for more than is expected the smallest takes 700 / .92.
    assert shorter_line(least, 60.0) == (
        "the smallest run takes about 13 minutes at 60 answers per minute: --max-calls 761"
    )


def test_a_dry_run_begins_with_one_sentence(capsys: Any) -> None:
    show_estimate(PLAN, "openai/gpt-4o-mini", LM, as_json=False)
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "About 100,000 calls, 1 to 2 hours, 7.1 USD; at most 170,000 calls."
    show_estimate(PLAN, "openai/gpt-4o-mini", replace(LM, max_calls=5000, max_cost=2.0), as_json=False)
    assert "; never more than 5,000 calls, 2 USD." in capsys.readouterr().out.splitlines()[0]
