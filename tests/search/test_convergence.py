"""A search whose front no longer moves goes on to the next round, and after the last one to shorter prompts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, score
from psopt.search import Candidate, SearchOptions, _convergence
from psopt.search._convergence import Convergence
from psopt.search.distributed import _shared_coordinator

from tests.search.racing.test_racing_search import make_evaluator, make_search, make_task

if TYPE_CHECKING:
    from pathlib import Path

TASK = make_task(60)
N_WORDINGS = 4


class Grids:
    """Answers on val by prompt id, in place of an evaluator."""

    def __init__(self) -> None:
        self.by_id: dict[str, Predictions] = {}

    def predictions(self, prompt: Any, split: str) -> Predictions:
        assert split == "val"
        return self.by_id[prompt.id]

    def candidate(self, trial: int, n_wrong: int) -> Candidate:
        """A candidate that is wrong about so many samples under one wording, the same ones first for all."""
        prompt = SimpleNamespace(id=f"{trial}: {n_wrong} wrong")
        truth = np.array([TASK.labels.index(str(sample.label)) for sample in TASK.val])
        array = np.repeat(truth[:, None], N_WORDINGS, axis=1)
        array[:n_wrong, 0] = 1 - truth[:n_wrong]
        self.by_id[prompt.id] = Predictions(array, TASK.val, TASK.labels)
        return Candidate(trial, prompt, (), score(self.by_id[prompt.id]))  # type: ignore[arg-type]


def make_convergence(grids: Grids, trials: int = 40, *, is_active: bool = True, **attributes: int) -> Convergence:
    attrs = {f"psopt:total:{name.removeprefix('of_')}": total for name, total in attributes.items()}
    study = SimpleNamespace(user_attrs=attrs, set_user_attr=attrs.__setitem__)
    problem = SimpleNamespace(evaluator=grids, options=SearchOptions(trials=trials))
    return Convergence(study, problem, is_active=is_active)  # type: ignore[arg-type]


def test_it_is_reached_after_enough_candidates_that_are_not_clearly_better() -> None:
    grids = Grids()
    worse = [grids.candidate(0, 20), *(grids.candidate(trial, 20 + trial) for trial in range(1, 9))]
    convergence = make_convergence(grids)
    assert convergence.window == 8
    assert not convergence.is_reached(worse[:8], 0.0)
    assert convergence.is_reached(worse, 0.0)
    hardly_better = [*worse[:8], grids.candidate(8, 19)]
    assert convergence.is_reached(hardly_better, 0.0)
    clearly_better = [*worse[:8], grids.candidate(8, 10)]
    assert not convergence.is_reached(clearly_better, 0.0)
    assert convergence.is_reached(clearly_better, 0.99)  # infeasible, it is on no front


def test_many_small_steps_are_a_move() -> None:
    grids = Grids()
    steps = [grids.candidate(trial, 20 - trial) for trial in range(9)]
    assert not make_convergence(grids).is_reached(steps, 0.0)


def test_longer_searches_wait_for_longer() -> None:
    assert [make_convergence(Grids(), trials).window for trials in (10, 40, 100)] == [8, 8, 20]


def test_what_the_limits_pay_for_beyond_the_total_comes_before_the_shorter_prompts() -> None:
    convergence = make_convergence(Grids(), 20)
    convergence.begin()
    assert (convergence.begins_shortening, convergence.total) == (16, 20)
    convergence.go_on_for(10)
    assert (convergence.begins_shortening, convergence.total, convergence.is_early) == (24, 30, False)
    convergence.end_search(20)
    assert (convergence.begins_shortening, convergence.total, convergence.is_early) == (20, 26, True)


def test_what_is_left_is_the_shorter_prompts_and_a_larger_total_counts_anew() -> None:
    grids = Grids()
    convergence = make_convergence(grids)
    convergence.begin()
    assert (convergence.begins_shortening, convergence.total, convergence.is_early) == (32, 40, False)
    convergence.end_search(20)
    assert (convergence.begins_shortening, convergence.total, convergence.is_early) == (20, 28, True)
    convergence.begin()  # resumed: what was decided holds
    assert convergence.total == 28
    still = [grids.candidate(trial, 20) for trial in range(30)]
    assert convergence.is_reached(still, 0.0)
    longer = make_convergence(grids, 60, of_40=28)
    assert longer.total == 60
    assert not longer.is_reached(still, 0.0)
    further = [*still, *(grids.candidate(30 + trial, 20) for trial in range(10))]
    assert longer.is_reached(further, 0.0)


def test_without_races_nothing_is_reached_and_nothing_is_written_down() -> None:
    grids = Grids()
    convergence = make_convergence(grids, is_active=False)
    convergence.begin()
    assert not convergence.is_reached([grids.candidate(trial, 20) for trial in range(30)], 0.0)
    assert (convergence.total, convergence.begins_shortening, convergence._totals()) == (40, 32, {})
    assert not convergence._study.user_attrs


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_convergence, "_FEWEST", 3)
    monkeypatch.setattr(_convergence, "_CLEARLY", 9.0)  # nothing is a move
    monkeypatch.setattr(_shared_coordinator, "_PAUSE", 0.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("worker", ["", "a"])
def test_a_search_ends_early_says_so_and_goes_on_with_more_trials(tmp_path: Path, worker: str) -> None:
    task = make_task()
    search = make_search(tmp_path, make_evaluator(task), worker=worker)
    lines: list[str] = []
    search.problem.observer.phase = lines.append
    search.run()
    assert search.finish_reason == "converged"
    assert search.n_done < 12
    assert search.n_done <= search._convergence.total
    left = 12 - search._convergence.total
    assert (
        f"converged: the last 3 prompts moved the front by no more than noise; {left} of 12 trials are left out"
        in lines
    )
    tried = [candidate for candidate in search.history.evaluated if candidate.trial]
    assert len(tried) > 3

    evaluator = make_evaluator(task)
    again = make_search(tmp_path, evaluator, worker=worker and "b")
    again.run()
    assert again.finish_reason == "converged"
    assert evaluator.budget.usage.made == 0
    more = make_search(tmp_path, make_evaluator(task), worker=worker and "c", trials=16)
    more.run()
    assert more.n_done > search.n_done
