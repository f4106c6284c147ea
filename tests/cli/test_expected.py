"""A run says before its first call what it will take, and corrects that as it goes on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from psopt import Task
from psopt.cli._expected import Expected
from psopt.cli._plan_lines import UNKNOWN_MINUTES
from psopt.cli._remaining import RemainingColumn
from psopt.cli._screen import Screen, spent_line
from psopt.models.chat import Budget, Need, Price, Usage
from psopt.runs import CostEstimate, Phase
from rich.progress import Progress


def expected(price: Any = None) -> Any:
    """100 calls: 80 of them certain, 1,000 to 3,000 tokens, which cost nothing or .001 to .003 USD."""
    cost = (lambda tokens: price.of(tokens, 0)) if price else (lambda tokens: 0.0)
    sure = Phase("baseline", 80, 0, 1000, "", Need(80, 1000, cost(1000)), Need(80, 1000, cost(1000)), cost(1000))
    more = Phase("front", 20, 0, 1000, "", Need(20, 0, 0.0), Need(20, 2000, cost(2000)), cost(1000))
    return Expected(CostEstimate((sure, more), price))


def test_what_was_said_is_corrected_once_as_tokens_come_in() -> None:
    run = expected()
    assert run.surprise(Usage(made=10, tokens_in=5000)) is None  # too early to tell
    assert run.surprise(Usage(made=20, tokens_in=400)) is None
    said = run.surprise(Usage(made=20, tokens_in=900))
    assert said == "this run will take about 4,500 tokens, more than the 1,000 to 3,000 said before"
    assert run.surprise(Usage(made=30, tokens_in=2000)) is None


def test_money_is_corrected_where_there_is_a_price() -> None:
    run = expected(Price(1.0, 4.0))
    usage = Usage(made=20, tokens_in=900, cost=0.0009)
    assert run.cost_at_end(usage) == pytest.approx(0.0045)
    said = run.surprise(usage)
    assert said == "this run will cost about 0.0045 USD, more than the 0.001 to 0.003 USD said before"


def racing_run() -> Any:
    """8 candidates of 100 calls each, less what racing saves; 60 calls of diagnoses, 500 for the end."""
    needs = Need(480, 0, 0.0), Need(800, 0, 0.0)
    candidates = Phase("candidates on val", 640, 0, 0, "", *needs)
    diagnoses = Phase("diagnoses on train", 60, 0, 0, "", Need(), Need(60))
    test = Phase("original prompt on test", 500, 0, 0, "", Need(500), Need(500))
    return Expected(CostEstimate((candidates, diagnoses, test), None, trials=9, candidates=8))


def test_candidates_that_stopped_make_those_to_come_cheap() -> None:
    run = racing_run()
    usage = Usage()
    assert run.calls_left(usage) == pytest.approx((980 + 1360) / 2, abs=140)
    for n_done in (1, 2, 3):  # in whole: they say nothing of those that race
        usage.made += 100
        run.count_candidate(usage, n_done, 9)
    assert run.calls_left(usage) == pytest.approx(6 * 80 + 60 * 6 / 9 + 500)
    for n_done in (4, 5, 6):
        usage.made += 20
        run.count_candidate(usage, n_done, 9)
    assert run.calls_left(usage) == pytest.approx(3 * 50 + 60 * 3 / 9 + 500)  # as many at 80 as at 20
    usage.made += 15
    assert run.calls_left(usage) == pytest.approx(3 * 50 + 60 * 3 / 9 + 500 - 15)


def test_a_diagnosis_is_no_candidate_s_and_the_end_is_counted_down() -> None:
    run = racing_run()
    usage = Usage()
    for n_done in range(1, 9):
        usage.made += 30  # a diagnosis
        run.begin_phase(usage)
        usage.made += 80
        run.count_candidate(usage, n_done, 9)
    usage.made += 80
    run.count_candidate(usage, 9, 9)
    assert run.calls_left(usage) == 500
    run.begin_phase(usage)
    usage.made += 480
    assert run.calls_left(usage) == 20
    usage.made += 480
    assert run.calls_left(usage) == 0


def test_what_was_planned_stands_beside_what_was_spent() -> None:
    price = Price(1.0, 4.0)
    need = Need(100, 1000, 0.001)
    estimate = CostEstimate((Phase("original prompt on val", 100, 0, 1000, "", need, need, 0.001),), price)
    usage = Usage(made=90, cost=0.0012, failed=3)
    assert spent_line(estimate, usage) == (
        "Planned: about 100 calls for 0.001 USD. Asked: 90 calls, 3 more that failed, 0.0012 USD."
    )
    assert spent_line(estimate, Usage(cached=100)) == ""


def test_the_time_left_goes_by_calls_where_a_bar_has_them() -> None:
    now, work = [0.0], [0.0, 1000.0]
    bar = Progress(get_time=lambda: now[0])
    task = bar.add_task("trials", total=10, work=lambda: tuple(work))
    column = RemainingColumn()
    assert str(column.render(bar.tasks[0])) == "-:--:--"
    now[0], work[:] = 5.0, [100.0, 500.0]
    bar.update(task, completed=1)
    assert str(column.render(bar.tasks[0])) == "0:00:25"  # not nine times five seconds


@pytest.mark.parametrize("lines", [[UNKNOWN_MINUTES], ["About 6 minutes at 200 calls per minute."]])
def test_minutes_that_nobody_knew_are_said_once_after_the_first_answers(
    lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("psopt.cli._screen.monotonic", lambda: now[0])
    screen = Screen()
    screen.budget = Budget()
    screen.expect(racing_run().estimate, lines)
    screen.started(
        Task.from_records([{"text": f"what is {i} ?", "label": "ab"[i % 2]} for i in range(30)]), Path("run")
    )
    val = SimpleNamespace(f1=0.5, sensitivity=0.1, consistency=None)
    candidate: Any = SimpleNamespace(edits=("note",), val=val)
    for n_done, made, seconds in ((1, 49, 10.0), (2, 100, 30.0), (3, 200, 60.0)):
        now[0] = seconds
        screen.budget.usage.made = made
        screen.trial(candidate, n_done, 9)
    said = [line for line in capsys.readouterr().err.splitlines() if "The rest" in line]
    # 100 calls in half a minute; 7 candidates of 80, 7 of 9 parts of 60, and 500 are left: 1,107 of them.
    assert said == (["The rest takes about 6 minutes at 3.3 answers per second"] if lines == [UNKNOWN_MINUTES] else [])
