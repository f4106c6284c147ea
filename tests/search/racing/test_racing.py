"""The rungs of a race, and where a candidate stops; that racing finds the same front is in test_racing_search.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.evaluation import Evaluator
from psopt.models import Capabilities
from psopt.rephrasings import RephrasingSet
from psopt.search.racing import Schedule
from psopt.search.racing._candidate_races import CandidateRaces, RaceResult
from psopt.search.racing._race import Rung, is_audited
from psopt.search_spaces import Prompt
from psopt.settings import SearchOptions
from psopt.tasks import Sample

from tests.sweeps import each

N_SAMPLES, N_WORDINGS = 300, 10
LABELS = tuple("abcdef")
TRUTH = np.arange(N_SAMPLES) % len(LABELS)
SAMPLES = tuple(Sample(str(place), str(place), LABELS[label]) for place, label in enumerate(TRUTH))
WORDINGS = tuple(f"Wording {letter}" for letter in "abcdefghij")
WRONG = (TRUTH[:, None] + 1) % len(LABELS) + np.zeros((1, N_WORDINGS), dtype=int)
BASELINE = np.where(np.random.default_rng(0).random(WRONG.shape) < 0.6, TRUTH[:, None], WRONG)


class ByGrid:
    """Answers by one grid under the original prompt, and by another under one with a note."""

    name = "grids"
    capabilities = Capabilities()

    def __init__(self, noted: Any) -> None:
        self.grids = {False: BASELINE, True: noted}

    def predict(self, prompts: Any, texts: Any, on_progress: Any = None) -> Any:
        columns = [self.grids[bool(prompt.notes)][:, WORDINGS.index(prompt.description)] for prompt in prompts]
        return np.stack(columns, axis=1)[list(map(int, texts))]


def raced(grid: Any) -> tuple[RaceResult, int]:
    """Let a candidate of this grid race against the baseline; the result, and how many cells were asked about."""
    rephrasings = RephrasingSet(WORDINGS[0], WORDINGS, (), "rules")
    evaluator = Evaluator(ByGrid(grid), rephrasings, {"val": SAMPLES})
    baseline, candidate = (Prompt(WORDINGS[0], LABELS, notes=notes) for notes in ((), ("Be exact.",)))
    evaluator.predictions(baseline, "val")
    races = CandidateRaces(evaluator, baseline, SearchOptions(), are_run=True)
    result = races.run(candidate, [], is_shortening=False)
    return result, int(evaluator.partial_answers(candidate, "val").is_answered.sum())


@each("n_samples, n_wordings", [(300, 10), (100, 10), (50, 3), (12, 2), (500, 30)])
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
