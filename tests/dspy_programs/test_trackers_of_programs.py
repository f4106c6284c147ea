"""`SensitivityOptimizer(callbacks=..)`: whoever records a run records a compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.errors import InputError  # noqa: E402
from psopt.tracking import Ending, RunRecord, Tracker, TrialRecord  # noqa: E402

from tests.dspy_programs.keyword_lm import keyword_lm  # noqa: E402
from tests.dspy_programs.programs_to_mend import examples, predict  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VAL = examples(0, 5), examples(15, 5)


class Listening(Tracker):
    """Writes down what it is told."""

    name = "listening"

    def __init__(self) -> None:
        self.trials: list[int] = []
        self.settings: dict[str, Any] = {}
        self.endings: list[Ending] = []

    def start(self, run: RunRecord, _: Any) -> None:
        self.settings = run.manifest["settings"]

    def trial(self, trial: TrialRecord) -> None:
        self.trials.append(trial.number)

    def end(self, _: RunRecord, ending: Ending) -> None:
        self.endings.append(ending)


def compiled(*callbacks: Any, folder: Path | None = None) -> Any:
    optimizer = SensitivityOptimizer(
        num_trials=5, num_rephrasings=3, callbacks=callbacks, log_dir=folder, gate="off", num_threads=4
    )
    with dspy.context(lm=keyword_lm()):
        return optimizer.compile(predict(), trainset=TRAIN, valset=VAL)


def test_functions_and_trackers_are_told_of_every_trial() -> None:
    seen: list[Any] = []
    tracker = Listening()
    better = compiled(lambda study, trial: seen.append((study.study_name, trial.number)), tracker)
    assert {number for _, number in seen} == set(tracker.trials) == {0, 1, 2, 3, 4}  # again where more is known
    assert tracker.settings["trials"] == 5
    assert tracker.endings == ["finished"]
    assert better.run.baseline.trial == 0


def test_callbacks_of_dspy_are_told_what_dspy_tells() -> None:
    class Counting(dspy.utils.BaseCallback):
        n_compiled = 0
        n_evaluated = 0

        def on_compile_end(self, *_: Any, **__: Any) -> None:
            self.n_compiled += 1

        def on_evaluate_end(self, *_: Any, **__: Any) -> None:
            self.n_evaluated += 1

    counting = Counting()
    compiled(counting)
    assert counting.n_compiled == 1
    assert counting.n_evaluated >= 1  # of programs that were evaluated in whole, not of those that a race stopped


def test_a_compilation_is_in_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.chdir(tmp_path)
    compiled("mlflow:programs", folder=tmp_path / "run")
    client = mlflow.MlflowClient(uri)
    experiment = client.get_experiment_by_name("programs")
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 6  # the run, and its five trials


def test_what_records_nothing_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="callbacks: 7 is no tracker"):
        SensitivityOptimizer(callbacks=[7])  # type: ignore[list-item]
