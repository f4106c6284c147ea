"""Racing asks less, and what it stops would not have been on the front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from psopt.search.racing import Race, RaceResult, Rung, Schedule, is_audited, sample_gains

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_CLASSES = 7  # six labels and N/A
N_SAMPLES, N_WORDINGS, N_CANDIDATES = 300, 10, 40


@dataclass(frozen=True)
class World:
    """Truth, and the whole grids of a baseline and of candidates as a sampler would meet them."""

    truth: NDArray[np.int64]
    baseline: NDArray[np.int64]
    candidates: list[NDArray[np.int64]]

    def race(self) -> Race:
        return Race(Schedule(self.truth, N_WORDINGS, 0), self.truth, N_CLASSES, 0.01)

    def gains(self, grid: NDArray[np.int64]) -> NDArray[np.float64]:
        return sample_gains(grid, np.ones(grid.shape, dtype=np.bool_), self.truth, N_CLASSES).mean(axis=0)

    def front(self) -> set[int]:
        """The numbers of candidates that nobody dominates."""
        gains = [self.gains(grid) for grid in self.candidates]
        return {
            number
            for number, own in enumerate(gains)
            if not any((other >= own).all() and (other > own).any() for other in gains)
        }


def make_world(seed: int) -> World:
    """Draw a world; equal seeds, equal worlds."""
    rng = np.random.default_rng(seed)
    shape = (N_SAMPLES, N_WORDINGS)
    truth = rng.integers(0, N_CLASSES - 1, N_SAMPLES)
    hardness = rng.beta(1.2, 0.8, N_SAMPLES)
    draws, shake = rng.random(shape), rng.random(shape)
    wrong = (truth[:, None] + rng.integers(1, N_CLASSES - 1, shape)) % (N_CLASSES - 1)
    habit = (truth + rng.integers(1, N_CLASSES - 1, N_SAMPLES)) % (N_CLASSES - 1)

    def grid(skill: float, steadiness: float) -> NDArray[np.int64]:
        """What shakes is drawn for each wording, the rest once for a sample: common draws for all candidates."""
        own = np.clip(skill + 0.5 * (hardness - 0.5), 0.02, 0.98)
        steady = np.where(draws[:, :1] < own[:, None], truth[:, None], habit[:, None])
        swaying = np.where(draws < own[:, None], truth[:, None], wrong)
        return np.asarray(np.where(shake < steadiness, steady, swaying))

    quality = np.clip(np.linspace(0.45, 0.8, N_CANDIDATES) + rng.normal(0, 0.08, N_CANDIDATES), 0.2, 0.9)
    steadiness = rng.uniform(0.3, 0.9, N_CANDIDATES)
    return World(truth, grid(0.55, 0.5), [grid(*pair) for pair in zip(quality, steadiness, strict=True)])


class Asking:
    """Knows a candidate's whole grid, shows what is asked for and counts it."""

    def __init__(self, grid: NDArray[np.int64]) -> None:
        self._grid = grid
        self.asked = np.zeros(grid.shape, dtype=np.bool_)

    def __call__(self, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        self.asked |= cells
        return np.where(self.asked, self._grid, -1)


def race_all(world: World) -> tuple[list[RaceResult], float]:
    """Let all candidates race; the results, and the share of cells that were asked about."""
    racing = world.race()
    rivals = {"baseline": world.baseline}
    results = []
    n_asked = 0
    for number, grid in enumerate(world.candidates):
        ask = Asking(grid)
        results.append(racing.run(str(number), ask, rivals, "baseline"))
        n_asked += int(ask.asked.sum())
        if not results[-1].reason:
            rivals[str(number)] = ask(np.zeros(grid.shape, dtype=np.bool_))
    return results, n_asked / sum(grid.size for grid in world.candidates)


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


def test_most_stop_early_and_hardly_any_of_the_front_does() -> None:
    shares: list[float] = []
    of_the_front: list[bool] = []  # whether it was stopped
    for seed in range(4):
        world = make_world(seed)
        results, share = race_all(world)
        shares.append(share)
        of_the_front += [bool(results[number].reason) for number in world.front()]
        stops = [result for result in results if result.reason]
        assert {stop.reason.partition(" by ")[0] for stop in stops} <= {"dominated", "F1 below the baseline's"}
    assert np.mean(shares) < 0.4
    assert np.mean(of_the_front) <= 0.1


def test_a_candidate_far_below_the_baseline_stops_at_the_first_rung_and_an_equal_one_is_held() -> None:
    world = make_world(2)
    wrong = Asking((world.truth[:, None] + 1) % 6 + np.zeros((1, N_WORDINGS), dtype=int))
    result = world.race().run("a", wrong, {"b": world.baseline}, "b")
    assert result.rung == Rung(40, 2)
    assert result.reason == "F1 below the baseline's"
    equal = Asking(world.baseline)
    assert world.race().run("a", equal, {"b": world.baseline}, "b") == RaceResult(Rung(160, 2))
    assert equal.asked.sum() == 320


def test_a_tenth_is_audited_whoever_asks() -> None:
    ids = [f"{number:012x}" for number in np.random.default_rng(0).integers(0, 2**40, 2000)]
    assert 150 < sum(is_audited(prompt_id, 7) for prompt_id in ids) < 250
