"""The rungs of a race, and where a candidate stops; that racing finds the same front is in test_racing_search.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from psopt.search.racing import Race, RaceResult, Rung, Schedule, is_audited

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_SAMPLES, N_WORDINGS, N_CLASSES = 300, 10, 7  # six labels and N/A
TRUTH = np.arange(N_SAMPLES) % 6
WRONG = (TRUTH[:, None] + 1) % 6 + np.zeros((1, N_WORDINGS), dtype=int)
BASELINE = np.where(np.random.default_rng(0).random(WRONG.shape) < 0.6, TRUTH[:, None], WRONG)


def raced(grid: NDArray[np.int64]) -> tuple[RaceResult, int]:
    """Let a candidate of this grid race against the baseline; the result, and how many cells were asked about."""
    asked = np.zeros(grid.shape, dtype=np.bool_)

    def ask(cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        asked[cells] = True
        return np.where(asked, grid, -1)

    race = Race(Schedule(TRUTH, N_WORDINGS, 0), TRUTH, N_CLASSES, 0.01)
    return race.run("a", ask, {"b": BASELINE}, "b"), int(asked.sum())


@pytest.mark.parametrize(("n_samples", "n_wordings"), [(300, 10), (100, 10), (50, 3), (12, 2), (500, 30)])
def test_each_rung_holds_the_cells_of_those_before_it_and_the_last_is_the_grid(n_samples: int, n_wordings: int) -> None:
    schedule = Schedule(np.arange(n_samples) % 6, n_wordings, 1)
    before = np.zeros((n_samples, n_wordings), dtype=np.bool_)
    for rung in schedule.rungs:
        cells = schedule.cells(rung)
        assert cells.sum() == rung.samples * rung.wordings
        assert (cells.sum(axis=1)[schedule.samples(rung)] == rung.wordings).all()
        assert (cells | ~before).all()
        before = cells
    assert before.all()


def test_rungs_are_wide_first() -> None:
    of_300 = [(40, 2), (80, 2), (160, 2), (300, 2), (300, 4), (300, 10)]
    assert list(Schedule(np.zeros(300, dtype=int), 10, 0).rungs) == [Rung(*sizes) for sizes in of_300]
    of_60 = [(20, 2), (40, 2), (60, 2), (60, 3)]
    assert list(Schedule(np.zeros(60, dtype=int), 3, 0).rungs) == [Rung(*sizes) for sizes in of_60]


def test_classes_are_in_every_beginning_in_their_shares_and_meet_every_wording() -> None:
    truth = np.arange(600) % 2  # two classes in step with ten wordings: counting up would give each class five
    cells = Schedule(truth, 10, 0).cells(Rung(600, 2))
    assert (cells.sum(axis=0) == 120).all()
    for label in (0, 1):
        assert cells[truth == label].sum(axis=0).min() > 30
    truth = np.repeat([0, 1, 2], [200, 80, 20])
    chosen = truth[Schedule(truth, 10, 3).samples(Rung(150, 2))]
    assert np.bincount(chosen).tolist() == pytest.approx([100, 40, 10], abs=2)


def test_a_candidate_far_below_the_baseline_stops_at_the_first_rung_and_an_equal_one_is_held() -> None:
    far_below, n_asked = raced(WRONG)
    assert (far_below.rung, far_below.reason, n_asked) == (Rung(40, 2), "F1 below the baseline's", 80)
    assert raced(BASELINE) == (RaceResult(Rung(160, 2)), 320)


def test_a_tenth_is_audited_whoever_asks() -> None:
    ids = [f"{number:012x}" for number in np.random.default_rng(0).integers(0, 2**40, 2000)]
    assert 150 < sum(is_audited(prompt_id, 7) for prompt_id in ids) < 250
