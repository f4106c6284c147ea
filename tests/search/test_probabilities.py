"""Where probabilities are scored, they are also what is tested, shortened, drawn, kept and gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psopt
import pytest
from psopt.evaluation import compare_paired
from psopt.metrics import compare_scores, prediction_distribution, sensitivity
from psopt.models.chat import LMConfig
from psopt.models.sim import SimulatedModel
from psopt.report import compare_runs
from psopt.runs import RunDirectory
from psopt.search_spaces import Prompt
from psopt.tasks import Task

MODEL = "sim/wobble=0.6,accuracy=0.6,na=0"


@pytest.fixture(scope="module")
def run(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run without a report, which tests look at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("psopt.api._finishing.write_report", lambda _: None)
        return optimize(task, tmp_path_factory.mktemp("soft") / "run")


def optimize(task: Task, out: Path, **more: Any) -> Any:
    return psopt.optimize(task, model=MODEL, trials=6, rephrasings=3, lm=LMConfig(logprobs=True), out=out, **more)


def test_the_files_keep_probabilities_and_the_report_tests_what_was_scored(run: Any) -> None:
    for candidate in run.front:
        arrays = np.load(run.path / "predictions" / f"{candidate.id}.npz")
        for split, scores in (("val", candidate.val), ("test", candidate.test)):
            soft = arrays[f"{split}_probabilities"]
            assert soft.shape == (*arrays[split].shape, 3)
            assert sensitivity(prediction_distribution(soft)) == scores.sensitivity
            assert (soft.argmax(axis=2) == arrays[split]).all()
    directory = RunDirectory.open(run.path)
    before, after = compare_runs([directory]).runs[0].predictions.values()
    tested = compare_paired(before, after)
    measured = run.pick("knee").test.sensitivity - run.baseline.test.sensitivity
    assert tested["sensitivity"].difference == pytest.approx(measured)
    hard = compare_scores(before.array, after.array, before.truth, before.n_classes)
    assert hard["sensitivity"].difference != pytest.approx(measured)


def test_a_run_that_goes_on_asks_for_no_probability_again(
    task: Task, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study keeps them: neither the model nor a cache is needed for what is known."""
    asked: list[str] = []
    answer = SimulatedModel.predict_proba

    def watched(self: Any, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        asked.extend(texts)
        return answer(self, prompts, texts, on_progress)

    monkeypatch.setattr(SimulatedModel, "predict_proba", watched)
    again = optimize(task, run.path, resume=True)
    assert [one.val for one in again.front] == [one.val for one in run.front]
    assert not {sample.text for sample in task.val} & set(asked)
