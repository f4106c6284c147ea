"""A search whose candidates race diagnoses under two wordings; and asks for nothing twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.models import Capabilities
from psopt.models.sim import SimulatedModel
from psopt.search_spaces import apply_edits

from tests.conftest import make_samples
from tests.search.searches import make_evaluator, make_search

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from psopt.tasks import Task

WORDINGS = tuple(
    f"{verb} the question by what it asks for." for verb in ("Sort", "Label", "Class", "File", "Group", "Put")
)
N_TRAIN = 160


class CountingModel:
    """A simulated model that costs something, and remembers how much it was asked about train."""

    name = "counting"
    capabilities = Capabilities(reads_order=False)

    def __init__(self, task: Task) -> None:
        self._simulated = SimulatedModel("wobble=0.3,accuracy=0.85", task)
        self._train = {sample.text for sample in task.train}
        self.n_train = 0

    def predict(self, prompts: Any, texts: Any, on_progress: Any = None) -> NDArray[np.int64]:
        self.n_train += len(prompts) * sum(text in self._train for text in texts)
        return self._simulated.predict(prompts, texts)


@pytest.fixture(scope="module")
def task(task: Task) -> Task:
    """The small task, with more to diagnose and less to test on."""
    return replace(task, train=make_samples("train", N_TRAIN, 1000), test=task.test[:20])


def diagnosing(folder: Path, task: Task, **options: Any) -> Any:
    """A search in a folder, new or resumed."""
    evaluator = make_evaluator(task, CountingModel(task), *WORDINGS)
    usual = {"trials": 5, "rounds": 2, "sampler": "random", "seed": 1}
    return make_search(folder, task, evaluator, **{**usual, **options})


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory, task: Task) -> Any:
    search = diagnosing(tmp_path_factory.mktemp("growing"), task)
    search.run()
    return search


def test_train_is_asked_about_under_two_wordings_and_the_same_prompt_once(grown: Any) -> None:
    diagnoses, model = grown.diagnoses, grown.problem.evaluator.model
    assert grown.state.pool
    before = model.n_train
    assert before % (2 * N_TRAIN) == 0
    known = diagnoses.predictions(grown.state.baseline.prompt)
    assert model.n_train == before
    assert not known.is_whole
    fares = diagnoses.predictions(apply_edits(grown.state.baseline.prompt, tuple(grown.state.pool)))
    assert fares.asked.sum() == diagnoses.cells.sum() == model.n_train - before == 2 * N_TRAIN


def test_a_run_keeps_how_each_sample_of_train_does(tmp_path: Path, task: Task) -> None:
    sizes: Any = {"trials": 2, "rounds": 1, "rephrasings": 4, "sampler": "random"}
    run = psopt.optimize(task, model=CountingModel(task), out=tmp_path / "run", **sizes)
    weak = json.loads((run.path / "weak_spots.json").read_text())
    assert [fare["of"] for fare in weak["after"].values()] == [2] * N_TRAIN
    assert json.loads((run.path / "front.json").read_text())["prompts"]
