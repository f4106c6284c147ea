"""What holds of every tracker: it is told everything in order, and whatever it does, the run is what it was without."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import optuna
import psopt
import pytest
from psopt.errors import InputError
from psopt.search import Observer
from psopt.tracking import RunRecord, Tracker, TrialRecord

from tests.commands import exit_code
from tests.sweeps import each
from tests.tracking.small_runs import SIM, arguments, optimize

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search_spaces import Prompt
    from psopt.tracking import Ending


class Listening(Tracker):
    """Writes down what it is told; raises at the events that it is told to."""

    def __init__(self, failing_at: str = "", error: BaseException | None = None, name: str = "listening") -> None:
        self.name = name
        self.told: list[str] = []
        self.metrics: dict[str, float] = {}
        self.trials: dict[int, TrialRecord] = {}
        self._failing_at = failing_at
        self._error = error or ValueError("no space\nleft")

    def _hear(self, what: str) -> None:
        self.told.append(what)
        if what.startswith(self._failing_at) and self._failing_at:
            raise self._error

    def check(self) -> None:
        self._hear("check")

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        kept["begun"] = kept.get("begun", 0) + 1
        self._hear(f"start {kept['begun']}")

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        self._hear(f"begin {number}")

    def trial(self, trial: TrialRecord) -> None:
        self.trials[trial.number] = trial
        self._hear(f"trial {trial.number}")

    def end(self, run: RunRecord, ending: Ending) -> None:
        self.metrics = run.metrics
        self._hear(f"end {ending}")

    def close(self) -> None:
        self._hear("close")


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


def test_an_interrupted_run_is_ended_as_killed_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    tracker = Listening("trial 1", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        optimize(tmp_path / "run", callbacks=[tracker])
    assert tracker.told[-2:] == ["end killed", "close"]
    again = Listening()
    psopt.resume(tmp_path / "run", callbacks=[again])
    # It was not through with trial 1, so that it is told again.
    assert again.told[:3] == ["check", "start 2", "trial 1"]
    assert set(again.trials) == {1, 2, 3}


def test_a_tracker_that_is_new_to_a_run_is_told_of_all_earlier_trials(without: psopt.Run, tmp_path: Path) -> None:
    shutil.copytree(without.path, tmp_path / "run")
    tracker = Listening()
    psopt.resume(tmp_path / "run", trials=5, callbacks=[tracker])
    assert tracker.told[:6] == ["check", "start 1", "trial 0", "trial 1", "trial 2", "trial 3"]
    assert tracker.told[-3].startswith("trial ")  # the numbers of trials that tell nothing new are left out
    assert tracker.told[-2:] == ["end finished", "close"]


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
        (Listening("check"), r"^listening can't be used: ValueError: no space left$"),
        (3, "callbacks: 3 is no tracker"),
    ],
)
def test_what_can_not_be_used_as_a_tracker_ends_the_run_before_it_has_begun(
    callback: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        optimize(tmp_path / "run", callbacks=[callback])
    assert not (tmp_path / "run").exists()


@each(
    "asked, message",
    [
        ("mlfow", "unknown tracker 'mlfow'; did you mean 'mlflow'?"),
        ("wandb:x", "wandb:x: copy psopt's examples/trackers/wandb_tracker.py, and name wandb_tracker:Wandb"),
        ("mlflow,mlflow:x", "trackers mlflow,mlflow:x: each is named once"),
    ],
)
def test_a_tracker_that_there_is_not_is_one_line(
    asked: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*arguments(tmp_path, "--log", asked)) == 2
    assert message in capsys.readouterr().err


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
