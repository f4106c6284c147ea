"""The main job on real TREC, smaller than a user would run it: enough to see that what it is for comes about."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import psopt
import pytest

pytest.importorskip("torch", reason="the extra `local` is not installed")

N_TEST = 40


@pytest.fixture(scope="module")
def trec(data_dir: Path) -> Any:
    """TREC with some of its 500 test questions: much of the time goes to embedding these."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_DATA_DIR", str(data_dir))
        task = psopt.load_task("trec", seed=0)
    assert len(task.test) == 500
    return dataclasses.replace(task, test=task.test[:N_TEST])


@pytest.fixture(scope="module")
def run(trec: Any, cache_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("trec") / "run"
    return psopt.optimize(
        trec, trials=5, rounds=1, rephrasings=3, heldout=3, samples=48, seed=0, out=out, cache_dir=cache_dir
    )


def test_the_baseline_shakes(run: Any) -> None:
    assert run.baseline.test.sensitivity >= 0.05


def test_dates_and_colours_are_found_among_the_weak_spots_unasked(trec: Any, cache_dir: Path) -> None:
    report = psopt.diagnose(trec, rephrasings=3, samples=320, seed=0, cache_dir=cache_dir)
    topics = {
        label: " ".join(group.topic for group in report.diagnosis.slices if group.label == label)
        for label in trec.labels
    }
    assert "when" in topics["Number"]
    assert "what year" in topics["Number"]
    assert "color" in topics["Entity"]


def test_the_knee_is_better_on_test_questions_under_rephrasings_it_has_not_met(run: Any) -> None:
    knee = run.pick("knee")
    assert sum(one.n for one in knee.test.per_class.values()) == N_TEST
    assert knee.test.f1 >= run.baseline.test.f1 + 0.05
    assert knee.test.sensitivity <= run.baseline.test.sensitivity


def test_every_edit_was_drawn_from_train_questions(run: Any, trec: Any) -> None:
    train = {sample.id for sample in trec.train}
    used = {one for candidate in run.front for edit in candidate.edits for one in edit.provenance.samples}
    assert used
    assert used <= train
