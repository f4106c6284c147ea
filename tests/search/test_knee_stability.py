"""How often the knee stays the knee, by linear sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from psopt.evaluation import Predictions, score
from psopt.search import Candidate, knee_shares, stability_line
from psopt.search._influences import Influences, is_surely_better
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.tasks import Task

N_WORDINGS = 4


def predictions(task: Task, share_right: float, seed: int) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = np.array([task.labels.index(sample.label) for sample in task.val])
    is_right = rng.random((len(truth), N_WORDINGS)) < share_right
    return Predictions(np.where(is_right, truth[:, None], 1 - truth[:, None]), task.val, task.labels)


def candidate(task: Task, trial: int, on_val: Predictions) -> Candidate:
    return Candidate(trial, Prompt(f"number {trial}", task.labels), (), score(on_val))


def test_a_resample_by_linear_sums_is_near_the_scores_of_the_resampled_answers(task: Task) -> None:
    grid = predictions(task, 0.8, 0)
    influences = Influences.of(grid)
    assert influences.of_samples.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    drawn = np.random.default_rng(3).integers(len(grid.samples), size=len(grid.samples))
    weights = np.bincount(drawn, minlength=len(grid.samples)).astype(np.float64) - 1
    (linear,) = influences.resampled(weights[None], np.zeros((1, N_WORDINGS)))
    anew = score(Predictions(grid.array[drawn], tuple(grid.samples[i] for i in drawn), grid.labels))
    assert linear == pytest.approx([anew.f1, -anew.sensitivity, anew.consistency], abs=0.02)
    assert linear[0] == pytest.approx(anew.f1)


def test_leaving_a_wording_out_gives_the_scores_without_it(task: Task) -> None:
    grid = predictions(task, 0.8, 0)
    influences = Influences.of(grid)
    without = score(grid.under([1, 2, 3])).f1
    weights = np.array([[-1.0, 1 / 3, 1 / 3, 1 / 3]])
    (linear,) = influences.resampled(np.zeros((1, len(grid.samples))), weights)
    assert linear[0] == pytest.approx(without)


def test_shares_say_how_sure_the_choice_is(task: Task) -> None:
    grids = [predictions(task, share, seed) for seed, share in enumerate((0.5, 0.95, 0.6))]
    base, best, other = (candidate(task, trial, grid) for trial, grid in enumerate(grids))
    on_val = dict(zip((base.id, best.id, other.id), grids, strict=True))
    assert knee_shares([best, other], base, lambda prompt: on_val[prompt.id], 0) == {best.id: 1.0}
    twin = candidate(task, 3, predictions(task, 0.95, 9))
    on_val[twin.id] = predictions(task, 0.95, 9)
    shares = knee_shares([best, twin], base, lambda prompt: on_val[prompt.id], 0)
    assert set(shares) == {best.id, twin.id}
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert "(second " in stability_line(shares, best.id)


def test_only_a_gain_beyond_chance_is_sure(task: Task) -> None:
    grids = {trial: predictions(task, share, trial) for trial, share in enumerate((0.6, 0.95))}
    worse, better = (candidate(task, trial, grid) for trial, grid in grids.items())

    def on_val(prompt: Candidate) -> Predictions:
        return grids[prompt.trial]

    assert is_surely_better(better, worse, on_val)
    assert not is_surely_better(worse, better, on_val)
    assert not is_surely_better(worse, worse, on_val)
