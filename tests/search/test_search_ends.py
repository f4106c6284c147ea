"""A search ends: an error of its own surfaces at once, and only a trial that others have finished is let go."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy.exc
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState
from psopt.errors import DamagedStudyError
from psopt.search import _trial
from psopt.search.distributed import open_storage
from psopt.search.distributed._coordinator import beating
from psopt.tasks import Task

from tests.search.searches import make_evaluator, make_search
from tests.sweeps import each

record, score = vars(_trial)["record"], vars(_trial)["score"]
LOCKED = sqlalchemy.exc.OperationalError("INSERT", None, Exception("database is locked"))


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any) -> None:
        raise error

    return fail


def without_sensitivity(predictions: Any) -> Any:
    scores = score(predictions)
    object.__setattr__(scores, "sensitivity", float("nan"))
    return scores


def make(storage: str | Path, task: Task, model: Any, **options: Any) -> Any:
    return make_search(storage, task, make_evaluator(task, model), trials=4, rounds=1, **options)


@pytest.mark.parametrize(
    ("step", "fault", "kind", "said"),
    [
        ("record", raising(ValueError("a bug")), ValueError, "a bug"),
        ("score", raising(ConnectionError("no route")), ConnectionError, "no route"),
        ("score", without_sensitivity, ValueError, "nan"),
    ],
)
def test_an_error_surfaces_at_once_and_its_trial_says_why_it_failed(
    tmp_path: Path, task: Task, keyword_model: Any, monkeypatch: pytest.MonkeyPatch, step: str, fault: Any, kind: Any,
    said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(_trial, step, fault)
    search = make(tmp_path, task, keyword_model)
    with pytest.raises(kind, match=said):
        search.run()
    (trial,) = search.study.trials
    assert trial.state == TrialState.FAIL
    assert trial.user_attrs["failed"].startswith(f"{kind.__name__}: ")
    assert said in trial.user_attrs["failed"]


def test_a_trial_that_is_wrongly_said_to_be_finished_is_an_error(
    tmp_path: Path, task: Task, keyword_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_trial, "record", raising(UpdateFinishedTrialError("a bug")))
    with pytest.raises(RuntimeError, match="trial 0 is RUNNING, but can't be written: a bug"):
        make(tmp_path, task, keyword_model).run()


def test_trials_that_others_have_finished_are_let_go_before_and_while_they_are_recorded(
    task: Task, keyword_model: Any, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make(storage, task, keyword_model, worker="slow")
    elsewhere = optuna.load_study(study_name="toy", storage=open_storage(storage))
    claim = search.coordinator.claim

    def finish_elsewhere(number: int) -> None:
        elsewhere.tell(number, state=TrialState.FAIL)

    def claim_late(number: int, prompt_id: str) -> Any:
        if number == 1:
            finish_elsewhere(number)
        return claim(number, prompt_id)

    def record_late(trial: Any, *more: Any) -> None:
        if trial.number == 2:
            finish_elsewhere(trial.number)
        record(trial, *more)

    monkeypatch.setattr(search.coordinator, "claim", claim_late)
    monkeypatch.setattr(_trial, "record", record_late)
    search.run()
    assert search.state.n_done == 4
    assert {1, 2}.isdisjoint(candidate.trial for candidate in search.history.evaluated)
    assert [search.study.trials[number].state for number in (1, 2)] == [TrialState.FAIL] * 2


def test_what_waits_is_dropped_though_another_worker_takes_some_of_it(
    tmp_path: Path, task: Task, keyword_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make(tmp_path, task, keyword_model)
    study = search.study
    for _ in range(3):
        study.enqueue_trial({})
    ask = study.ask

    def ask_late() -> optuna.Trial:
        trial = ask()
        if trial.number == 1:  # SQLite hands a waiting trial to two workers, and the other one was faster
            study.storage.set_trial_state_values(trial._trial_id, state=TrialState.COMPLETE, values=[1.0] * 3)
        return trial

    monkeypatch.setattr(study, "ask", ask_late)
    search._queue.drop_all()
    assert [trial.state.name for trial in study.trials] == ["PRUNED", "COMPLETE", "PRUNED"]


@each(
    "errors, said, ends",
    [
        (
            [LOCKED] * 12,  # for good: said once
            "no heartbeat got through for 0.006 s (database is locked): other workers may take this one for dead",
            contextlib.nullcontext(),
        ),
        ([*[LOCKED] * 5, None, *[LOCKED] * 5, None], "", contextlib.nullcontext()),
        ([None, KeyError("beat")], "the heartbeat failed: KeyError: 'beat'", pytest.raises(KeyError, match="beat")),
        ([UpdateFinishedTrialError("its trial is over")], "", contextlib.nullcontext()),
    ],
)
def test_a_heartbeat_that_fails_is_said_unless_it_is_for_a_moment_or_at_the_end(
    errors: list[Any], said: str, ends: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSOPT_HEARTBEAT", "0.001")
    left, over, told = list(errors), threading.Event(), list[str]()

    def beat(_: int) -> None:
        error = left.pop(0) if left else None
        if not left:
            over.set()
        if error is not None:
            raise error

    with ends, beating(beat, told.append):
        assert over.wait(30)
    assert len(told) == (1 if said else 0)
    assert "".join(told).startswith(said)


def test_half_a_line_at_a_journal_s_end_is_cut_and_one_in_its_middle_is_named(
    tmp_path: Path, task: Task, keyword_model: Any
) -> None:
    journal = tmp_path / "study.log"
    first = make(f"journal:{journal}", task, keyword_model)
    first.run()
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole.splitlines()[-1][:20])
    again = make(f"journal:{journal}", task, keyword_model)
    assert journal.read_bytes().startswith(whole + b"{")  # what opening it adds
    assert [one.id for one in again.candidates] == [one.id for one in first.candidates]
    journal.write_bytes(whole[:200] + b"\n" + whole[200:])
    with pytest.raises(DamagedStudyError, match=r"is damaged .* put it back, or start anew in another folder"):
        make(f"journal:{journal}", task, keyword_model)
