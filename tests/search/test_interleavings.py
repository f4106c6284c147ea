"""Every order in which two or three workers can act on a study: nothing is lost, nothing is done twice unseen.

Each worker runs the real `SharedCoordinator` on a model of the storage, one call after the other. A worker is what it
has read so far: to take one step further it is run anew from its beginning, with the answers that it was given, until
it makes a call that has no answer yet. So all orders can be walked through without threads, and one that leads to what
was seen before is not followed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import optuna
import pytest
from optuna.trial import TrialState
from psopt.search.distributed._coordinator import SharedCoordinator

from tests.sweeps import each

WAITING, RUNNING, FAIL = TrialState.WAITING, TrialState.RUNNING, TrialState.FAIL
COMPLETE, PRUNED = TrialState.COMPLETE, TrialState.PRUNED
REFUSED = "refused: the trial is finished"
READS = {"trials_in", "read_trial", "is_dead"}
WAITED = (-1, "waited")


class Attributes(dict[str, Any]):
    """Attributes of a trial, which are never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


class Trial(NamedTuple):
    """A trial as the model's storage keeps it; `prompt` stands for its parameters."""

    number: int
    prompt: str
    state: TrialState = WAITING
    user_attrs: Attributes = Attributes()
    system_attrs: Attributes = Attributes()
    started_by: str = ""


class Storage(NamedTuple):
    """The model's storage, and which workers are dead."""

    trials: tuple[Trial, ...]
    dead: frozenset[str] = frozenset()

    def changed(self, number: int, **changes: Any) -> Storage:
        trial = self.trials[number]._replace(**changes)
        return self._replace(trials=(*self.trials[:number], trial, *self.trials[number + 1 :]))

    def call(self, worker: str, name: str, *given: Any) -> tuple[Storage, Any]:
        """Do one call, which is atomic; return the storage after it, and its answer."""
        if name == "trials_in":
            return self, tuple(trial for trial in self.trials if trial.state in given)
        if name == "sleep":
            return self, None
        trial = self.trials[given[0]]
        if name == "read_trial":
            return self, trial
        if name == "is_dead":
            owner = trial.system_attrs.get("psopt:beat", (trial.started_by,))[0]
            return self, owner in self.dead
        if name == "queue_again":
            return self._replace(trials=(*self.trials, Trial(len(self.trials), trial.prompt))), None
        if trial.state.is_finished():
            return self, REFUSED
        if name == "start":  # as SQLite may: handed out a second time while it runs
            return self.changed(trial.number, state=RUNNING, started_by=trial.started_by or worker), None
        if name == "finish":
            return self.changed(trial.number, state=given[1]), None
        field = {"set_trial_attr": "user_attrs", "set_hidden_trial_attr": "system_attrs"}[name]
        attributes = Attributes({**getattr(trial, field), given[1]: given[2]})
        return self.changed(trial.number, **{field: attributes}), None


class NoAnswerYetError(BaseException):
    """A worker makes a call that it has not been answered."""


class Study:
    """What a worker sees of the storage: answers to its calls so far, and then `NoAnswerYetError`."""

    def __init__(self, answers: tuple[Any, ...]) -> None:
        self._answers = iter(answers)
        self.next_call: tuple[Any, ...] = ()

    def call(self, *words: Any) -> Any:
        try:
            answer = next(self._answers)
        except StopIteration:
            self.next_call = tuple(tuple(word) if isinstance(word, list) else word for word in words)
            raise NoAnswerYetError from None
        if answer is REFUSED:
            raise optuna.exceptions.UpdateFinishedTrialError(REFUSED)
        return answer

    def fail_trial(self, number: int) -> None:
        self.call("finish", number, FAIL)

    def is_stale(self, name: tuple[str, int], _: Any) -> bool:
        return bool(self.call("is_dead", name[1]))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given: self.call(name, *given)


def take_one(study: Study, coordinator: SharedCoordinator, own: Trial | None) -> tuple[int, str] | None:
    """Do what a search does with a trial of its own, or of the queue; return what became of it, None without any."""
    if own is not None:
        return evaluate(study, coordinator, own)
    waiting = study.trials_in(WAITING)
    if not waiting:
        if not coordinator.is_busy():
            return None
        coordinator.wait()
        return WAITED
    try:
        study.start(waiting[0].number)
    except optuna.exceptions.UpdateFinishedTrialError:
        return WAITED
    return evaluate(study, coordinator, waiting[0]) if coordinator.owns(waiting[0].number) else WAITED


def evaluate(study: Study, coordinator: SharedCoordinator, trial: Trial) -> tuple[int, str]:
    try:
        reason = coordinator.claim(trial.number, trial.prompt)
        study.finish(trial.number, PRUNED if reason else COMPLETE)
    except optuna.exceptions.UpdateFinishedTrialError:
        return trial.number, "refused"
    return trial.number, reason or "evaluated"


@functools.cache
def run(name: str, answers: tuple[Any, ...], own: Trial | None) -> tuple[Any, tuple[int, str] | None]:
    """Run a worker until it makes a call that has no answer yet: this call, or else what became of its trial."""
    study: Any = Study(answers)
    coordinator = SharedCoordinator(study, name, total=99, tell=print)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", lambda _: study.call("sleep"))
        patch.setattr(coordinator, "_is_stale", study.is_stale)
        try:
            return None, take_one(study, coordinator, own)
        except NoAnswerYetError:
            return study.next_call, None


class Worker(NamedTuple):
    """A worker: its answers since it looked for a trial, the call that it makes next, what became of its trials."""

    name: str
    answers: tuple[Any, ...] = ()
    next_call: tuple[Any, ...] | None = ()
    seen: tuple[tuple[int, str], ...] = ()
    own: Trial | None = None  # what it was handed before the first step
    goes_on: bool = True  # when that is done
    looked_at: Storage | None = None  # when it began to look, since it last wrote or slept

    def stepped(self) -> Worker:
        next_call, end = run(self.name, self.answers, self.own)
        if next_call is not None:
            return self._replace(next_call=next_call)
        seen = self.seen if end is None or end == WAITED else (*self.seen, end)
        if end is None or not self.goes_on:
            return self._replace(next_call=None, answers=(), seen=seen)
        return self._replace(answers=(), seen=seen, own=None).stepped()  # it remembers nothing else

    def may_act(self, storage: Storage) -> bool:
        """Whether it is at work; one that waits would see the same again until somebody has written something."""
        if self.next_call is None or self.name in storage.dead:
            return False
        return self.next_call != ("sleep",) or self.looked_at != storage


Situation = tuple[Storage, tuple[Worker, ...]]


def outcomes(prompts: str, n_workers: int, deaths: int, *, are_handed_out: bool) -> Iterator[Situation]:
    """Walk through all orders; yield each situation in which nobody can go on."""
    names = "ABC"[:n_workers]
    trials = [Trial(number, prompt) for number, prompt in enumerate(prompts)]
    own: dict[str, Trial] = {}
    if are_handed_out:
        trials = [
            trial._replace(state=RUNNING, started_by=name, system_attrs=Attributes({"psopt:beat": (name, -1)}))
            for name, trial in zip(names, trials, strict=True)
        ]
        own = dict(zip(names, trials, strict=True))
    goes_on = deaths > 0 or not are_handed_out
    workers = tuple(Worker(name, own=own.get(name), goes_on=goes_on).stepped() for name in names)
    ahead = [(Storage(tuple(trials)), workers)]
    reached = set(ahead)
    while ahead:
        situation = ahead.pop()
        following = set(steps(*situation, deaths))
        if not following:
            yield situation
        ahead += following - reached
        reached |= following


def steps(storage: Storage, workers: tuple[Worker, ...], deaths: int) -> Iterator[Situation]:
    """What may come next: a call of one of the workers, or the death of one."""
    for index, worker in enumerate(workers):
        if not worker.may_act(storage):
            continue
        assert worker.next_call is not None
        after, answer = storage.call(worker.name, *worker.next_call)
        is_read = worker.next_call[0] in READS
        looked_at = (worker.looked_at or storage) if is_read else None
        acted = worker._replace(answers=(*worker.answers, answer), looked_at=looked_at).stepped()
        yield after, (*workers[:index], acted, *workers[index + 1 :])
        if len(storage.dead) < deaths:
            yield storage._replace(dead=storage.dead | {worker.name}), workers


def check(storage: Storage, workers: tuple[Worker, ...]) -> None:
    """Each prompt was evaluated for one trial, and nobody believes of a result that was refused that it counts."""
    alive = [worker for worker in workers if worker.name not in storage.dead]
    assert all(worker.next_call is None for worker in alive), "somebody waits for ever"
    complete = [trial for trial in storage.trials if trial.state == COMPLETE]
    prompts = [trial.prompt for trial in complete]
    assert sorted(prompts) == sorted({trial.prompt for trial in storage.trials}), "lost, or evaluated for two trials"
    assert all(trial.state.is_finished() for trial in storage.trials)
    evaluated = [number for worker in alive for number, end in worker.seen if end == "evaluated"]
    assert len(evaluated) == len(set(evaluated)), "two workers believe that their result counts"
    assert set(evaluated) <= {trial.number for trial in complete}


@each(
    "prompts, n_workers, deaths, are_handed_out",
    [
        ("a", 2, 0, False),  # one trial is handed out to two
        ("aa", 2, 0, False),
        ("a", 2, 1, False),  # one of two dies
        ("aa", 2, 1, True),  # with the other's prompt
        ("aaa", 3, 0, True),
    ],
)
def test_whatever_the_order_nothing_is_lost_and_nothing_is_done_twice_unseen(
    prompts: str, n_workers: int, deaths: int, are_handed_out: bool
) -> None:
    ends = list(outcomes(prompts, n_workers, deaths, are_handed_out=are_handed_out))
    assert len(ends) > 1
    for storage, workers in ends:
        check(storage, workers)
