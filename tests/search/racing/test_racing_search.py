"""A search whose candidates race asks less, finds the same front, and can be read back, resumed and joined."""

from __future__ import annotations

import contextlib
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import AnswerShares
from psopt.models import AnswerCache, Capabilities
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.models.sim import SimulatedModel
from psopt.search import Reserve, Search
from psopt.search.racing import _candidate_races, races, racing_line
from psopt.search_spaces import SearchRestriction, apply_edits, seed_prompt
from psopt.tasks import Task

from tests.conftest import make_samples
from tests.search.searches import HELD_OUT, complete, make_evaluator, make_search
from tests.sweeps import each

WORDINGS = (
    "Sort the question by what it asks for.",
    "Sort it by what it asks.",
    "Say what kind of thing is asked for.",
    "Name what the question wants.",
    "Which kind of answer is wanted?",
    "Give the kind of the question.",
)
N_VAL = 100
TRIALS = 12
SIM = "wobble=0.3,accuracy=0.7"

# No draw is too large: what is tried in place of one hangs on estimates, which differ with and without a race.
OF_ANY_SIZE = SearchRestriction(max_prompt_edits=1_000, max_prompt_tokens=100_000)


@pytest.fixture(scope="module")
def task(task: Task) -> Task:
    """The small task, with more samples."""
    train, val, test = make_samples("train", 60, 0), make_samples("val", N_VAL, 100), make_samples("test", 40, 400)
    return replace(task, train=train, val=val, test=test)


def racing(folder: Path, task: Task, evaluator: Any = None, **options: Any) -> Any:
    """A search in a folder, new or resumed; `random` draws the same whatever the study was told."""
    usual = {"trials": TRIALS, "rounds": 1, "sampler": "random", "seed": 1, "race": "on", "parts": OF_ANY_SIZE}
    evaluator = evaluator or make_evaluator(task, SimulatedModel(SIM, task), *WORDINGS)
    return make_search(folder, task, evaluator, **{**usual, **options})


def ids(candidates: Any) -> list[str]:
    return [candidate.id for candidate in candidates]


@pytest.fixture(scope="module")
def whole(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    search = racing(tmp_path_factory.mktemp("whole"), task, race="off")
    search.run()
    return search


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raced")


@pytest.fixture(scope="module")
def raced(folder: Path, task: Task) -> Any:
    search = racing(folder, task)
    search.run()
    return search


def test_it_finds_the_same_front_for_fewer_answers_and_asks_whole_grids_of_few(whole: Any, raced: Any) -> None:
    assert ids(raced.state.front) == ids(whole.state.front)
    assert raced.state.n_done == len(complete(raced)) == TRIALS
    evaluator = raced.problem.evaluator
    assert evaluator.budget.usage.made < 0.7 * whole.problem.evaluator.budget.usage.made
    diagnosed = [evaluator.partial_answers(one.prompt, "train") for one in raced.history.evaluated]
    n_diagnosed = sum(answers.is_answered.sum() for answers in diagnosed)
    assert raced.race_counts.calls + n_diagnosed == evaluator.budget.usage.made
    assert not any(evaluator.knows(stopped.id, "val") for stopped in raced.stopped)
    assert len(raced.candidates) <= 1 + 2 * len(raced.state.front)
    assert raced.state.waiting() is None
    assert set(raced.state.leaders) >= set(raced.state.front)
    assert raced.state.shortest in raced.candidates


def test_its_trial_says_how_far_it_came_with_estimates(raced: Any) -> None:
    by_number = {trial.number: trial for trial in complete(raced)}
    reasons = {"F1 below the baseline's", "held"} | {f"dominated by {name}" for name in ids(raced.history.evaluated)}
    for stopped in raced.stopped:
        trial = by_number[stopped.trial]
        rung, _, reason = trial.user_attrs["raced"].partition(", ")
        assert rung == str(stopped.rung) or stopped.is_held  # what is held may be asked about more
        assert rung != str(stopped.rung) or tuple(trial.values) == stopped.val[:3]
        assert (trial.constraints["f1"] > 0) == (not stopped.is_held or stopped.val.f1 < raced.state.least_f1)
        assert trial.user_attrs["prompt_id"] == stopped.id
        assert reason in reasons
    asked_in_part = {trial.number for trial in complete(raced) if "raced" in trial.user_attrs}
    assert asked_in_part >= {stopped.trial for stopped in raced.stopped}
    promoted = asked_in_part & {candidate.trial for candidate in raced.candidates}
    assert promoted
    assert all(by_number[number].user_attrs["raced"].endswith(", held") for number in promoted)


def test_the_best_within_the_limits_is_known_in_whole_though_larger_prompts_are_better(
    tmp_path: Path, task: Task
) -> None:
    search = racing(tmp_path, task, parts=SearchRestriction(max_prompt_edits=2))
    search.run()
    limits = search.problem.limits
    within = [candidate for candidate in search.candidates if limits.allow(candidate.prompt, candidate.edits)]
    assert len(within) > 1, "not the baseline alone"
    assert {*search.state.front, search.state.shortest} <= set(within)
    of_the_within = {*ids(within), "F1 below the baseline's", "held"}
    for stopped in search.stopped:
        if limits.allow(stopped.prompt, stopped.edits):
            assert stopped.reason.removeprefix("dominated by ") in of_the_within


def test_it_is_read_back_with_its_answers_and_nothing_is_asked_again(raced: Any, folder: Path, task: Task) -> None:
    again = racing(folder, task)
    again.run()
    evaluator = again.problem.evaluator
    assert evaluator.budget.usage.made == 0
    assert [(one.trial, one.id, one.raced, one.val) for one in again.stopped] == [
        (one.trial, one.id, one.raced, one.val) for one in raced.stopped
    ]
    assert ids(again.state.front) == ids(raced.state.front)
    assert again.race_counts == raced.race_counts
    prompt = apply_edits(seed_prompt(task), again.stopped[0].edits)
    known = evaluator.partial_answers(prompt, "val").is_answered.sum()
    assert known == again.stopped[0].rung.samples * again.stopped[0].rung.wordings


@pytest.mark.parametrize("stops_all", [False, True])
def test_audited_candidates_are_asked_about_more_and_say_whether_the_stop_was_right(
    raced: Any, tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch, *, stops_all: bool
) -> None:
    monkeypatch.setattr(_candidate_races, "is_audited", lambda *_: True)
    if stops_all:  # so that some would have had a place on the front
        monkeypatch.setattr(_candidate_races, "is_dominated", lambda *_: True)
    search = racing(tmp_path, task, trials=5 if stops_all else TRIALS)
    search.run()
    counts = search.race_counts
    audited = [trial for trial in complete(search) if "audit" in trial.user_attrs]
    audits = [trial.user_attrs["audit"] for trial in audited]
    assert set(audits) <= {"right", "wrong"}
    assert counts.audited == len(audits) > 0
    assert counts.wrong == audits.count("wrong")
    assert {stopped.rung.samples for stopped in search.stopped} <= {80, N_VAL}
    assert all(stopped.is_held == (stopped.audit != "right") for stopped in search.stopped)
    assert racing(tmp_path, task, trials=search.state.n_done).race_counts == counts
    if not stops_all:
        assert ids(search.state.front) == ids(raced.state.front)
        return
    start = search.state.baseline.val
    f1, sensitivity, consistency = audited[0].values
    beaten = start.f1 >= f1 and start.sensitivity <= sensitivity and start.consistency >= consistency
    assert (audits[0] == "wrong") == (f1 >= search.state.least_f1 and not beaten)


class Interrupting(SimulatedModel):
    """Ctrl-C comes while it answers the call with this number."""

    calls_left = -1

    def predict(self, *given: Any, **more: Any) -> Any:
        self.calls_left -= 1
        if self.calls_left == 0:
            raise KeyboardInterrupt
        return super().predict(*given, **more)


def test_ctrl_c_in_the_middle_of_a_rung_loses_nothing(tmp_path: Path, task: Task, raced: Any) -> None:
    model = Interrupting(SIM, task)
    search = racing(tmp_path, task, make_evaluator(task, model, *WORDINGS))
    while not search.stopped:
        search._take_a_step()
    model.calls_left = 2  # the second block of wordings of the first rung
    with pytest.raises(KeyboardInterrupt):
        search.run()
    again = racing(tmp_path, task)
    assert again.state.n_done == search.state.n_done
    assert again.stopped[0].raced == raced.stopped[0].raced
    again.run()
    assert again.state.n_done == len({*ids(again.candidates), *ids(again.stopped)}) == TRIALS


def test_workers_race_against_the_incumbents_of_others(
    tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    first = racing(tmp_path, task, worker="a", own=4)
    first.run()
    second = racing(tmp_path, task, worker="b")
    second.run()
    assert second.state.n_done == len({*ids(second.candidates), *ids(second.stopped)}) == TRIALS
    of_the_first = {one.trial for one in (*first.stopped, *first.candidates)}
    own_stops = [stopped.trial for stopped in second.stopped if stopped.trial not in of_the_first]
    own_grids = {candidate.trial for candidate in second.candidates} - of_the_first
    assert len([trial for trial in own_grids if trial < own_stops[0]]) < 3  # by these alone it could not have stopped


def test_what_a_race_can_not_compare_is_refused_and_does_not_race_by_itself(tmp_path: Path, task: Task) -> None:
    model = SimulatedModel(SIM, task)
    evaluator = make_evaluator(task, model, *WORDINGS)
    assert not races("auto", evaluator), "it is free"
    for can, why in (
        (Capabilities(has_metric_scores=True), "a metric scores the answers"),
        (Capabilities(is_assessed=True), "something is asked about whole grids"),
    ):
        model.capabilities = can
        assert not races("auto", evaluator)
        with pytest.raises(InputError, match=why):
            racing(tmp_path, task, evaluator)
    model.capabilities = Capabilities()
    assert races("auto", evaluator)
    with pytest.raises(InputError, match="at least 20 samples"):
        races("on", make_evaluator(replace(task, val=task.val[:12]), model, *WORDINGS))
    assert evaluator.budget.usage.made == 0
    settings = LMConfig(api_base="http://127.0.0.1:9/v1", batch=True)
    by_batches = chat_model("openai", "test", AnswerCache(tmp_path / "cache"), settings, Budget())
    evaluator = make_evaluator(task, by_batches, *WORDINGS)
    assert [races(race, evaluator) for race in ("auto", "on", "strict")] == [False, True, True]


def test_what_a_limit_keeps_for_the_best_one_s_grid_goes_into_nothing_else(tmp_path: Path, task: Task) -> None:
    model = SimulatedModel(SIM, task)
    model.capabilities = replace(model.capabilities, is_free=False)
    search = racing(tmp_path, task, make_evaluator(task, model, *WORDINGS), trials=3)
    search.run(completes_front=False)
    best, budget = search.state.waiting(), search.problem.evaluator.budget
    left_of_val = N_VAL * len(WORDINGS) - best.rung.samples * best.rung.wordings
    tested = 1 + len(search.state.leaders)
    budget.max_calls = budget.usage.made + left_of_val + tested * len(task.test) * len(HELD_OUT)
    Reserve(search.problem.evaluator).watch(search)
    with contextlib.suppress(BudgetReachedError):
        search.complete_front()
    assert best.id in ids(search.candidates)


def test_once_val_has_a_better_candidate_more_test_samples_are_held_back_than_planned(
    tmp_path: Path, task: Task
) -> None:
    planned = replace(task, test=task.test[:20])
    model = SimulatedModel(SIM, planned)
    model.capabilities = replace(model.capabilities, is_free=False)
    search = racing(tmp_path, planned, make_evaluator(planned, model, *WORDINGS), trials=4)
    search.run()
    evaluator, baseline = search.problem.evaluator, search.problem.baseline_prompt
    evaluator.budget.max_calls = 100_000
    numbers = itertools.count()

    def held_back(most_tested: int) -> int:
        Reserve(evaluator, most_tested=most_tested).watch(search)
        new = replace(baseline, noun=f"text {next(numbers)}")  # only what is asked anew is announced
        evaluator.predictions(new, "val")
        return int(evaluator.budget.held_back.calls)

    prompts, wordings = 2, len(HELD_OUT)
    assert held_back(0) == held_back(20) == prompts * 20 * wordings
    assert held_back(30) == prompts * 30 * wordings
    assert held_back(1000) == prompts * 40 * wordings
    val = search.state.baseline.val
    search.history._whole[0] = replace(search.state.baseline, val=replace(val, shares=AnswerShares(near_constant="a")))
    assert held_back(1000) == prompts * 20 * wordings, "the original prompt nearly always answers a"


def optimize(task: Task, folder: Path, **options: Any) -> Any:
    asked: dict[str, Any] = {"trials": 6, "rounds": 1, "rephrasings": 3, "sampler": "random", "seed": 1, "race": "on"}
    asked |= {"effort": "full", "parts": OF_ANY_SIZE, "out": folder / "run", "cache_dir": folder / "cache"}
    return psopt.optimize(task, model=f"sim/{SIM}", **{**asked, **options})


@pytest.mark.usefixtures("report")
def test_a_run_says_how_its_candidates_raced(task: Task, tmp_path: Path) -> None:
    run = optimize(task, tmp_path)
    folder = run.path
    race = json.loads((folder / "run.json").read_text())["race"]
    assert race["candidates"] == 6
    assert race["calls"] + race["saved"] == 6 * N_VAL * 3
    assert race["stopped"] == sum(race["rungs"].values()) > 0
    listed = json.loads((folder / "trials.json").read_text())
    assert len(listed["raced"]) == race["stopped"]
    assert len(listed["trials"]) + race["stopped"] == 6
    assert not {trial["id"] for trial in listed["raced"]} & {trial["id"] for trial in listed["trials"]}
    later = {candidate.trial: candidate.val.f1 for candidate in run.front}  # with those evaluated after their race
    assert {trial["trial"]: trial["f1"] for trial in run.evaluated_trials() if trial["trial"] in later} == later
    assert {trial["id"] for trial in run.evaluated_trials()} == {trial["id"] for trial in listed["trials"]}
    line = racing_line(race)
    assert line.startswith(f"racing: {race['stopped']} of 5 candidates stopped, ")  # the original prompt never races
    assert line.removeprefix("racing: ") in (folder / "report.html").read_text()
    assert not racing_line({**race, "candidates": 1, "stopped": 0}), "where only the original prompt was asked"


def test_a_limit_that_leaves_no_better_prompt_complete_is_told_though_all_trials_were_made(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpaid(*_: Any) -> None:
        raise BudgetReachedError("--max-calls 5000 is reached")

    monkeypatch.setattr(Search, "complete_front", unpaid)
    with pytest.raises(BudgetReachedError):
        optimize(task, tmp_path)
    incomplete = json.loads((tmp_path / "run" / "run.json").read_text())
    assert incomplete["race"]["candidates"] == 6
    assert incomplete["finish_reason"] == "budget"
    kept = "Keep yours: the limit did not pay for asking all of val about what may be better."
    assert incomplete["recommended"]["sentence"] == kept


@each("race", ["on", "strict"])
def test_racing_under_one_wording_is_refused_before_a_run_begins(task: Task, tmp_path: Path, race: Any) -> None:
    with pytest.raises(InputError, match=f"race={race!r} needs at least 2 wordings, not 1"):
        optimize(task, tmp_path, race=race, rephrasings=1)
    assert not (tmp_path / "run").exists()
