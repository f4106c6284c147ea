"""Racing asks less, and what it stops would not have been on the front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.metrics import consistency, micro_f1, prediction_counts
from psopt.search.racing import Race, RaceResult, Rung, Schedule, is_audited, sample_gains

from tests.search.racing.worlds import N_CLASSES, World, make_world

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Asking:
    """Knows a candidate's whole grid, shows what is asked for and counts it."""

    def __init__(self, grid: NDArray[np.int64]) -> None:
        self._grid = grid
        self.asked = np.zeros(grid.shape, dtype=np.bool_)

    def __call__(self, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        self.asked |= cells
        return np.where(self.asked, self._grid, -1)


def gains_of(world: World, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    return sample_gains(grid, np.ones(grid.shape, dtype=np.bool_), world.truth, N_CLASSES).mean(axis=0)


def race(world: World) -> tuple[dict[str, Any], float]:
    """Let all candidates race; the results by id, and the share of cells that were asked about."""
    racing = Race(Schedule(world.truth, world.baseline.shape[1], 0), world.truth, N_CLASSES, 0.01)
    rivals = {"baseline": world.baseline}
    results = {}
    n_asked = 0
    for number, grid in enumerate(world.candidates):
        ask = Asking(grid)
        results[str(number)] = racing.run(str(number), ask, rivals, "baseline")
        n_asked += int(ask.asked.sum())
        if results[str(number)].stop is None:
            rivals[str(number)] = ask(np.zeros(grid.shape, dtype=np.bool_))
    return results, n_asked / sum(grid.size for grid in world.candidates)


def front_of(world: World) -> set[str]:
    gains = {str(number): gains_of(world, grid) for number, grid in enumerate(world.candidates)}
    return {
        name
        for name, own in gains.items()
        if not any((other >= own).all() and (other > own).any() for other in gains.values())
    }


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
    assert Schedule(np.zeros(300, dtype=int), 10, 0).rungs == (
        Rung(40, 2),
        Rung(80, 2),
        Rung(160, 2),
        Rung(300, 2),
        Rung(300, 4),
        Rung(300, 10),
    )
    assert Schedule(np.zeros(60, dtype=int), 3, 0).rungs == (Rung(20, 2), Rung(40, 2), Rung(60, 2), Rung(60, 3))


def test_every_wording_is_asked_about_equally_often_within_each_class_too() -> None:
    truth = np.arange(600) % 2  # two classes in step with ten wordings: counting up would give each class five
    schedule = Schedule(truth, 10, 0)
    cells = schedule.cells(Rung(600, 2))
    assert (cells.sum(axis=0) == 120).all()
    for label in (0, 1):
        assert cells[truth == label].sum(axis=0).min() > 30


def test_any_beginning_holds_the_classes_in_their_shares() -> None:
    truth = np.repeat([0, 1, 2], [200, 80, 20])
    chosen = truth[Schedule(truth, 10, 3).samples(Rung(150, 2))]
    assert np.bincount(chosen).tolist() == pytest.approx([100, 40, 10], abs=2)


def test_contributions_have_the_objectives_as_their_means() -> None:
    world = make_world(5)
    gains = gains_of(world, world.baseline)
    counts = prediction_counts(world.baseline, N_CLASSES)
    assert gains[0] == pytest.approx(micro_f1(world.baseline, world.truth))
    assert gains[2] == pytest.approx(consistency(counts, world.truth, self_pairs=False))


def test_disagreement_at_two_wordings_is_right_on_average() -> None:
    world = make_world(6)
    whole = gains_of(world, world.baseline)[1]
    at_two = []
    for seed in range(200):
        schedule = Schedule(world.truth, 10, seed)
        cells = schedule.cells(Rung(300, 2))
        at_two.append(sample_gains(world.baseline, cells, world.truth, N_CLASSES)[:, 1].mean())
    assert np.mean(at_two) == pytest.approx(whole, abs=4 * np.std(at_two) / np.sqrt(200))


def test_most_stop_early_and_hardly_any_of_the_front_does() -> None:
    shares = []
    n_front = n_wrong = 0
    for seed in range(4):
        world = make_world(seed)
        results, share = race(world)
        shares.append(share)
        front = front_of(world)
        n_front += len(front)
        n_wrong += sum(results[name].stop is not None for name in front)
    assert np.mean(shares) < 0.4
    assert n_wrong <= 0.1 * n_front


def test_a_stop_says_by_whom_and_by_how_much() -> None:
    world = make_world(1)
    results, _ = race(world)
    stops = [result.stop for result in results.values() if result.stop]
    assert {stop.reason.partition(" by ")[0] for stop in stops} <= {"dominated", "F1 below the baseline's"}
    assert all(min(stop.lead) < 0 for stop in stops)


def test_a_candidate_whose_f1_is_far_below_the_baseline_s_stops_at_the_first_rung() -> None:
    world = make_world(2)
    racing = Race(Schedule(world.truth, 10, 0), world.truth, N_CLASSES, 0.01)
    wrong = Asking((world.truth[:, None] + 1) % 6 + np.zeros((1, 10), dtype=int))
    result = racing.run("a", wrong, {"b": world.baseline}, "b")
    assert result.rung == Rung(40, 2)
    assert result.stop is not None
    assert result.stop.reason == "F1 below the baseline's"


def test_what_equals_a_rival_is_held() -> None:
    world = make_world(3)
    racing = Race(Schedule(world.truth, 10, 0), world.truth, N_CLASSES, 0.01)
    ask = Asking(world.baseline)
    assert racing.run("a", ask, {"b": world.baseline}, "b") == RaceResult(Rung(160, 2), None)
    assert ask.asked.sum() == 320


def test_a_tenth_is_audited_whoever_asks() -> None:
    ids = [f"{number:012x}" for number in np.random.default_rng(0).integers(0, 2**40, 2000)]
    assert 150 < sum(is_audited(prompt_id, 7) for prompt_id in ids) < 250


def test_one_wording_is_refused() -> None:
    with pytest.raises(InputError, match="--rephrasings 2"):
        Schedule(np.zeros(10, dtype=int), 1, 0)
