"""A search ends: an error of its own surfaces at once, and only a trial that others have finished is let go."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import optuna
import pytest
import sqlalchemy.exc
from psopt.errors import InputError
from psopt.evaluation import Evaluator
from psopt.rephrasings import RephrasingSet
from psopt.search import Search, SearchProblem, _trial, open_study
from psopt.search._sources import drop_queued
from psopt.search.distributed import open_storage
from psopt.search.distributed._coordinator import Heartbeat
from psopt.search_spaces import seed_prompt
from psopt.settings import SearchOptions

if TYPE_CHECKING:
    from psopt.tasks import Task

IN_A_FILE = pytest.mark.parametrize("storage", ["sqlite"], indirect=True)
WORDINGS = ("Sort the question by what it asks for.", "Sort it by what it asks.")
SET = RephrasingSet(WORDINGS[0], WORDINGS, ("Do sort.", "Sort please!!"), "rules")


@pytest.fixture
def search(task: Task, keyword_model: Any, storage: str) -> Any:
    evaluator = Evaluator(keyword_model, SET, {"train": task.train, "val": task.val, "test": task.test})
    study = open_study(storage, "toy", "tpe", 0)
    return Search(study, SearchProblem(task, seed_prompt(task), evaluator, SearchOptions(4, rounds=1)))


@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
@IN_A_FILE
def test_an_error_in_recording_a_trial_surfaces_at_once(
    search: Any, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    def record_trial(*_: Any) -> None:
        raise kind("a bug")

    monkeypatch.setattr(_trial, "record_trial", record_trial)
    with pytest.raises(kind, match="a bug"):
        search.run()
    assert [trial.state for trial in search.study.trials] == [optuna.trial.TrialState.FAIL]
    assert search.study.trials[0].user_attrs["failed"] == f"{kind.__name__}: a bug"


@IN_A_FILE
def test_a_trial_that_is_wrongly_said_to_be_finished_is_an_error(search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def record_trial(*_: Any) -> None:
        raise optuna.exceptions.UpdateFinishedTrialError("a bug")

    monkeypatch.setattr(_trial, "record_trial", record_trial)
    with pytest.raises(RuntimeError, match="trial 0 is RUNNING, but can't be written: a bug"):
        search.run()


@IN_A_FILE
def test_a_measure_that_is_no_number_is_an_error_and_no_endless_search(
    search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = vars(_trial)["score"]

    def without_sensitivity(predictions: Any) -> Any:
        scores = score(predictions)
        object.__setattr__(scores, "sensitivity", float("nan"))
        return scores

    monkeypatch.setattr(_trial, "score", without_sensitivity)
    with pytest.raises(ValueError, match="nan"):
        search.run()


def test_a_trial_that_others_have_finished_is_let_go_while_it_is_recorded(
    search: Any, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def late(record: Any, trial: Any, *more: Any) -> None:
        if trial.number == 1 and not taken:
            taken.append(trial.number)
            finish_elsewhere(storage, trial.number)
        record(trial, *more)

    for name in ("record_trial", "record_stopped"):
        monkeypatch.setattr(_trial, name, functools.partial(late, vars(_trial)[name]))
    search.run()
    assert search.state.n_done == 4
    assert 1 not in {candidate.trial for candidate in search.history.evaluated}


def finish_elsewhere(storage: str, number: int) -> None:
    """Finish a trial as another worker would."""
    study = optuna.load_study(study_name="toy", storage=open_storage(storage))
    study.tell(number, state=optuna.trial.TrialState.FAIL)


def locked() -> Any:
    return sqlalchemy.exc.OperationalError("INSERT", None, Exception("database is locked"))


class Beats:
    """A beat that raises these errors, one after the other; `over` is set with the last."""

    def __init__(self, *errors: Any) -> None:
        self.errors = list(errors)
        self.over = threading.Event()
        self.said: list[str] = []

    def __call__(self, number: int) -> None:
        error = self.errors.pop(0) if self.errors else None
        if not self.errors:
            self.over.set()
        if error is not None:
            raise error


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSOPT_HEARTBEAT", "0.001")


def beating(beats: Any) -> None:
    with Heartbeat(beats, beats.said.append):
        assert beats.over.wait(30)


@pytest.mark.usefixtures("fast")
def test_a_heartbeat_that_fails_for_good_is_said_once() -> None:
    beats = Beats(*(locked() for _ in range(12)))
    beating(beats)
    assert len(beats.said) == 1
    assert "no heartbeat got through for 0.006 s (database is locked)" in beats.said[0]
    assert "other workers may take this one for dead" in beats.said[0]


@pytest.mark.usefixtures("fast")
def test_a_heartbeat_that_fails_for_a_moment_is_left_out() -> None:
    beats = Beats(*(locked() for _ in range(5)), None, *(locked() for _ in range(5)), None)
    beating(beats)
    assert not beats.said


@pytest.mark.usefixtures("fast")
def test_a_bug_in_a_heartbeat_is_said_and_raised() -> None:
    beats = Beats(None, KeyError("beat"))
    with pytest.raises(KeyError, match="beat"):
        beating(beats)
    assert beats.said == ["the heartbeat failed: KeyError: 'beat'"]


@pytest.mark.usefixtures("fast")
def test_a_heartbeat_ends_with_its_trial() -> None:
    beats = Beats(optuna.exceptions.UpdateFinishedTrialError("over"))
    beating(beats)
    assert not beats.said


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf"])
def test_an_interval_that_is_no_number_of_seconds_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PSOPT_HEARTBEAT", text)
    with pytest.raises(InputError, match="PSOPT_HEARTBEAT is"):
        Heartbeat(print, print)


def test_what_waits_is_dropped_though_another_worker_takes_some_of_it(
    search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = search.study
    for _ in range(3):
        study.enqueue_trial({})
    ask = study.ask

    def ask_late() -> optuna.Trial:
        trial = ask()
        if trial.number == 1:  # SQLite hands a waiting trial to two workers, and the other one was faster
            study.storage.set_trial_state_values(
                trial._trial_id, state=optuna.trial.TrialState.COMPLETE, values=[1.0] * 3
            )
        return trial

    monkeypatch.setattr(study, "ask", ask_late)
    drop_queued(study)
    assert [trial.state.name for trial in study.trials] == ["PRUNED", "COMPLETE", "PRUNED"]
