"""What holds of every tracker: it is told everything in order, and whatever it does, the run is what it was without."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import optuna
import psopt
import pytest
from psopt.errors import InputError
from psopt.search import Observer

from tests.sweeps import each
from tests.tracking.small_runs import SIM, Listening, optimize

EVENTS = ("start", "begin 1", "trial 2", "end", "close")
TRIALS = [event for number in range(4) for event in (f"begin {number}", f"trial {number}")]


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    """A run that no tracker is told of."""
    return optimize(tmp_path_factory.mktemp("without") / "run")


def test_trackers_are_told_of_a_run_in_order_and_what_fails_is_left_out_and_changes_nothing(
    without: psopt.Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def failing_function(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        raise KeyError("x")

    failing, tracker = [Listening(event, name=f"failing at {event}") for event in EVENTS], Listening()
    with caplog.at_level(logging.WARNING, "psopt.tracking"):
        run = optimize(tmp_path / "run", callbacks=[*failing, failing_function, tracker])
    said = [record.getMessage() for record in caplog.records if record.name == "psopt.tracking"]
    left_out = "failed and is left out from now on, the run goes on"
    assert [line for line in said if "failing_function" in line and left_out in line]
    reasons = [f"failing at {event} {left_out}: ValueError: no space left" for event in EVENTS[:-1]]
    assert sorted(line for line in said if "failing_function" not in line) == sorted(reasons)
    for event, one in zip(EVENTS, failing, strict=True):
        assert one.told[-1] == "close"
        assert sum(told.startswith(event) for told in one.told) == 1
    assert (run.path / "front.json").read_bytes() == (without.path / "front.json").read_bytes()
    assert tracker.told == ["check", "start 1", *TRIALS, "end finished", "close"]
    assert tracker.trials[0].prompt_id == run.baseline.id
    assert tracker.trials[0].metrics["f1"] == run.baseline.val.f1
    assert tracker.metrics["baseline/test/f1"] == run.baseline.test.f1
    assert tracker.metrics["recommended/test/sensitivity"] == run.recommended.test.sensitivity
    low, high = run.baseline.test.ci["f1"]
    assert (tracker.metrics["baseline/test/f1_low"], tracker.metrics["baseline/test/f1_high"]) == (low, high)


def test_a_callback_stops_a_run_as_in_optuna(tmp_path: Path) -> None:
    run = optimize(tmp_path / "run", callbacks=[lambda study, trial: study.stop()])
    assert (run.finish_reason, len(run.evaluated_trials())) == ("stopped", 1)


def test_an_interrupted_run_is_ended_as_killed_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    tracker = Listening("trial 1", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        optimize(tmp_path / "run", callbacks=[tracker])
    assert tracker.told[-2:] == ["end killed", "close"]
    again, new = Listening(), Listening(name="new")
    psopt.resume(tmp_path / "run", callbacks=[again, new])
    # It was not through with trial 1, so that it is told again.
    assert again.told[:3] == ["check", "start 2", "trial 1"]
    assert set(again.trials) == {1, 2, 3}
    assert new.told[:4] == ["check", "start 1", "trial 0", "trial 1"]  # one that is new is told of all earlier trials
    assert new.told[-2:] == ["end finished", "close"]


def test_a_run_that_fails_is_ended_as_failed_and_a_function_is_called_as_optunas_callbacks_are(
    without: psopt.Run, tmp_path: Path
) -> None:
    class Breaking(Observer):
        def phase(self, what: str) -> None:
            if what.startswith("scoring the front"):
                raise RuntimeError("broken")

    def callback(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        assert study.trials[trial.number].state == optuna.trial.TrialState.COMPLETE
        seen.append((trial.number, trial.values))

    tracker = Listening()
    seen: list[Any] = []
    with pytest.raises(RuntimeError):
        optimize(tmp_path / "run", callbacks=[tracker, callback], observer=Breaking())
    assert tracker.told[-2:] == ["end failed", "close"]
    assert [number for number, _ in seen] == [0, 1, 2, 3]
    baseline = without.baseline.val
    assert seen[0][1] == [baseline.f1, baseline.sensitivity, baseline.consistency]


@each(
    "callback, said",
    [
        (Listening("check"), r"^tracker listening can't be used: ValueError: no space left$"),
        (3, "callbacks: 3 is no tracker"),
        (Listening, r"callbacks: Listening is a class: give a tracker, Listening\(\.\.\)"),
        ("tests.tracking.small_runs:NeedsAKey", "tracker tests.tracking.small_runs:NeedsAKey can't be used: TypeError"),
        ("mlfow", r"unknown tracker 'mlfow'; did you mean 'mlflow'\?"),
        ("wandb:x", "wandb:x: copy psopt's examples/trackers/wandb_tracker.py, and name wandb_tracker:Wandb"),
        ("mlflow,mlflow:x", "trackers mlflow,mlflow:x: each is named once"),
    ],
)
def test_what_can_not_be_used_as_a_tracker_ends_the_run_before_it_has_begun(
    callback: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        optimize(tmp_path / "run", callbacks=[callback])
    assert not (tmp_path / "run").exists()


def test_a_run_loads_no_packages_of_trackers_and_of_models_that_it_is_not_told_of(tmp_path: Path) -> None:
    others = ("mlflow", "wandb", "opentelemetry", "torch", "transformers")
    code = (
        "import sys, psopt; from psopt.tasks import load_task; from pathlib import Path;"
        f"psopt.optimize(load_task('trec'), model={SIM!r}, trials=1, samples=12, rephrasings=2, test_samples=12,"
        f" heldout=2, out=Path({str(tmp_path / 'run')!r}), callbacks=[lambda study, trial: None]);"
        f"print([name for name in {others} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
