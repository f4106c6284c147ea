"""Who stands for the gate: chosen by val alone, the baseline never among them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, score
from psopt.search import Candidate, nominees
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.tasks import Task


def answers(task: Task, n_right: int) -> Predictions:
    """The first `n_right` samples of val are right under both wordings, the others wrong."""
    truth = np.array([task.labels.index(sample.label) for sample in task.val])
    array = np.repeat(truth[:, None], 2, axis=1)
    array[n_right:] = 1 - array[n_right:]
    return Predictions(array, task.val, task.labels)


def candidate(task: Task, trial: int, n_right: int) -> Candidate:
    return Candidate(trial, Prompt(f"number {trial}", task.labels), (), score(answers(task, n_right)))


@pytest.fixture
def tried(task: Task) -> list[Candidate]:
    return [candidate(task, trial, n_right) for trial, n_right in enumerate((20, 25, 30))]


def searched(baseline: Any, front: Any, shortest: Any) -> Any:
    return SimpleNamespace(baseline=baseline, front=tuple(front), shortest=shortest)


def test_the_knee_comes_before_a_shortest_that_is_worse_by_a_point(tried: list[Candidate]) -> None:
    baseline, short, best = tried
    assert [nominee.id for nominee in nominees(searched(baseline, [best], short))] == [best.id, short.id]


def test_the_shortest_comes_before_a_knee_that_is_hardly_better(task: Task, tried: list[Candidate]) -> None:
    baseline, _, best = tried
    short = candidate(task, 3, 30)
    assert [nominee.id for nominee in nominees(searched(baseline, [best], short))] == [short.id, best.id]


def test_nobody_is_nominated_twice_and_the_baseline_never(tried: list[Candidate]) -> None:
    baseline, _, best = tried
    assert [nominee.id for nominee in nominees(searched(baseline, [best], best))] == [best.id]
    assert nominees(searched(baseline, [baseline], baseline)) == ()
