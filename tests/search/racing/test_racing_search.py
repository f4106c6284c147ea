"""A search whose candidates race asks less, finds the same front, and can be read back, resumed and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import pytest
from psopt.errors import InputError
from psopt.evaluation import Evaluator
from psopt.models import AnswerCache, Capabilities
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.models.sim import SimulatedModel
from psopt.rephrasings import RephrasingSet
from psopt.search import Search, SearchProblem, open_study
from psopt.search.distributed import _coordinator
from psopt.search.racing import _candidate_races, races
from psopt.search_spaces import SearchRestriction, apply_edits, seed_prompt
from psopt.settings import SearchOptions
from psopt.tasks import DatasetInfo, Task

from tests.conftest import make_samples

if TYPE_CHECKING:
    from pathlib import Path

WORDINGS = (
    "Sort the question by what it asks for.",
    "Sort it by what it asks.",
    "Say what kind of thing is asked for.",
    "Name what the question wants.",
    "Which kind of answer is wanted?",
    "Give the kind of the question.",
)
SET = RephrasingSet(WORDINGS[0], WORDINGS, ("Do sort.", "Sort please!!"), "rules")
N_VAL = 100
GRID = N_VAL * len(WORDINGS)
TRIALS = 12
SIM = "wobble=0.3,accuracy=0.7"


def make_task(n_val: int = N_VAL) -> Task:
    return Task(
        "toy",
        WORDINGS[0],
        ("Number", "Person"),
        make_samples("train", 60, 0),
        make_samples("val", n_val, 100),
        make_samples("test", 40, 400),
        DatasetInfo("toy", "memory", "0" * 64),
        definitions={"Number": "a count or a date", "Person": "somebody's name"},
        noun="question",
    )


def make_evaluator(task: Task, model: Any = None, wordings: tuple[str, ...] = WORDINGS) -> Evaluator:
    rephrasings = RephrasingSet(WORDINGS[0], wordings, SET.heldout, "rules")
    samples: Any = {"train": task.train, "val": task.val, "test": task.test}
    return Evaluator(model or SimulatedModel(SIM, task), rephrasings, samples)


# No draw is too large: what is tried in place of one hangs on estimates, which differ with and without a race.
OF_ANY_SIZE = SearchRestriction(max_prompt_edits=1_000, max_prompt_tokens=100_000)


def make_search(folder: Path, evaluator: Evaluator, *, worker: str = "", own: int | None = None, **options: Any) -> Any:
    """A search in a folder, new or resumed; `random` draws the same whatever the study was told."""
    defaults = {"trials": TRIALS, "rounds": 1, "sampler": "random", "seed": 1, "race": "on", "parts": OF_ANY_SIZE}
    settings = SearchOptions(**{**defaults, **options})
    study = open_study(f"sqlite:///{folder / 'study.db'}", "toy", settings.sampler, settings.seed, resume=True)
    task = make_task()
    problem = SearchProblem(task, seed_prompt(task), evaluator, settings)
    return Search(study, problem, worker=worker, most_own=own)


def complete(search: Any) -> list[Any]:
    return [trial for trial in search.study.trials if trial.state == optuna.trial.TrialState.COMPLETE]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    search = make_search(tmp_path_factory.mktemp("whole"), make_evaluator(make_task()), race="off")
    search.run()
    return search


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raced")


@pytest.fixture(scope="module")
def raced(folder: Path) -> Any:
    search = make_search(folder, make_evaluator(make_task()))
    search.run()
    return search


def test_it_finds_the_same_front_for_fewer_answers(whole: Any, raced: Any) -> None:
    assert [candidate.id for candidate in raced.state.front] == [candidate.id for candidate in whole.state.front]
    assert raced.problem.evaluator.budget.usage.made < 0.7 * whole.problem.evaluator.budget.usage.made
    assert whole.race_counts is None


def test_what_stopped_is_no_candidate_and_counts_as_a_trial(raced: Any) -> None:
    assert raced.stopped
    assert raced.state.n_done == len(complete(raced)) == TRIALS
    ids = [candidate.id for candidate in (*raced.candidates, *raced.stopped)]
    assert len(set(ids)) == TRIALS
    for stopped in raced.stopped:
        assert raced.history.find(stopped.id) is stopped
        assert raced.problem.evaluator.knows(stopped.id, "val") is False


def test_its_trial_says_how_far_it_came_with_estimates(raced: Any) -> None:
    by_number = {trial.number: trial for trial in complete(raced)}
    ids = {candidate.id for candidate in raced.history.evaluated}
    for stopped in raced.stopped:
        trial = by_number[stopped.trial]
        rung, _, reason = trial.user_attrs["raced"].partition(", ")
        assert rung == str(stopped.rung) or stopped.is_held  # what is held may be asked about more
        assert rung != str(stopped.rung) or tuple(trial.values) == stopped.val[:3]
        assert (trial.constraints["f1"] > 0) == (not stopped.is_held or stopped.val.f1 < raced.state.least_f1)
        assert trial.user_attrs["prompt_id"] == stopped.id
        assert reason in {"F1 below the baseline's", "held"} or reason.removeprefix("dominated by ") in ids
    asked_in_part = {trial.number for trial in complete(raced) if "raced" in trial.user_attrs}
    assert asked_in_part >= {stopped.trial for stopped in raced.stopped}
    promoted = asked_in_part & {candidate.trial for candidate in raced.candidates}
    assert promoted
    assert all(by_number[number].user_attrs["raced"].endswith(", held") for number in promoted)


def test_whole_grids_are_asked_of_those_that_can_stand_on_the_front_alone(raced: Any) -> None:
    assert len(raced.candidates) <= 1 + 2 * len(raced.state.front)
    assert raced.state.waiting() is None
    assert set(raced.state.leaders) >= set(raced.state.front)
    assert raced.state.shortest in raced.candidates


def test_the_best_within_the_limits_is_known_in_whole_though_larger_prompts_are_better(tmp_path: Path) -> None:
    limited = SearchRestriction(max_prompt_edits=2)
    search = make_search(tmp_path, make_evaluator(make_task()), parts=limited)
    search.run()
    limits = search.problem.limits
    within = [candidate for candidate in search.candidates if limits.allow(candidate.prompt, candidate.edits)]
    assert len(within) > 1, "not the baseline alone"
    assert {*search.state.front, search.state.shortest} <= set(within)
    of_the_within = {candidate.id for candidate in within} | {"F1 below the baseline's", "held"}
    for stopped in search.stopped:
        if limits.allow(stopped.prompt, stopped.edits):
            assert stopped.reason.removeprefix("dominated by ") in of_the_within


def test_estimates_are_near_the_scores_of_the_whole_grid(raced: Any, whole: Any) -> None:
    in_whole = {candidate.id: candidate.val for candidate in whole.candidates}
    pairs = [(stopped, in_whole[stopped.id]) for stopped in raced.stopped if stopped.id in in_whole]
    errors = [
        [abs(a - b) for a, b in zip(stopped.val[:3], (val.f1, val.sensitivity, val.consistency), strict=True)]
        for stopped, val in pairs
    ]
    assert pairs
    assert np.mean(errors, axis=0).max() < 0.1


def test_counts_add_up_to_what_was_asked(raced: Any) -> None:
    counts = raced.race_counts
    evaluator = raced.problem.evaluator
    diagnosed = [evaluator.partial_answers(candidate.prompt, "train") for candidate in raced.history.evaluated]
    train = sum(answers.is_answered.sum() for answers in diagnosed)
    assert counts.calls + train == evaluator.budget.usage.made
    assert counts.calls + counts.saved == TRIALS * GRID
    assert counts.stopped == len(raced.stopped) == sum(counts.rungs.values())
    assert counts.candidates == TRIALS


def test_it_is_read_back_with_its_answers_and_nothing_is_asked_again(raced: Any, folder: Path) -> None:
    evaluator = make_evaluator(make_task())
    again = make_search(folder, evaluator)
    again.run()
    assert evaluator.budget.usage.made == 0
    assert [(one.trial, one.id, one.raced, one.val) for one in again.stopped] == [
        (one.trial, one.id, one.raced, one.val) for one in raced.stopped
    ]
    assert [one.id for one in again.state.front] == [one.id for one in raced.state.front]
    assert again.race_counts == raced.race_counts
    prompt = apply_edits(seed_prompt(make_task()), again.stopped[0].edits)
    known = evaluator.partial_answers(prompt, "val").is_answered.sum()
    assert known == again.stopped[0].rung.samples * again.stopped[0].rung.wordings


def test_by_default_a_free_model_does_not_race(whole: Any, tmp_path: Path) -> None:
    search = make_search(tmp_path, make_evaluator(make_task()), race="auto", trials=5)
    search.run()
    assert search.race_counts is None
    assert [candidate.id for candidate in search.candidates] == [candidate.id for candidate in whole.candidates][:5]
    assert not [trial for trial in complete(search) if "raced" in trial.user_attrs or "audit" in trial.user_attrs]


def test_audited_candidates_are_asked_about_more_and_say_whether_the_stop_was_right(
    raced: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_candidate_races, "is_audited", lambda *_: True)
    search = make_search(tmp_path, make_evaluator(make_task()))
    search.run()
    counts = search.race_counts
    audits = [trial.user_attrs["audit"] for trial in complete(search) if "audit" in trial.user_attrs]
    assert set(audits) <= {"right", "wrong"}
    assert counts.audited == len(audits) > 0
    assert counts.wrong == audits.count("wrong")
    assert {stopped.rung.samples for stopped in search.stopped} <= {80, N_VAL}
    assert all(stopped.is_held == (stopped.audit != "right") for stopped in search.stopped)
    assert [candidate.id for candidate in search.state.front] == [candidate.id for candidate in raced.state.front]
    again = make_search(tmp_path, make_evaluator(make_task()))
    assert again.race_counts == counts


def test_a_stop_that_would_have_cost_a_place_on_the_front_is_a_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hasty(*_: Any) -> bool:
        return True

    monkeypatch.setattr(_candidate_races, "is_audited", hasty)
    monkeypatch.setattr("psopt.search.racing._race.is_dominated", hasty)
    search = make_search(tmp_path, make_evaluator(make_task()), trials=5)
    search.run()
    audited = [prompt for prompt in search.history.evaluated if prompt.audit]
    assert search.race_counts.audited == len(audited) == 4
    by_trial = {trial.number: trial for trial in complete(search)}
    first = min(audited, key=lambda prompt: prompt.trial)
    f1, sensitivity, consistency = by_trial[first.trial].values
    start = search.state.baseline.val
    beaten = start.f1 >= f1 and start.sensitivity <= sensitivity and start.consistency >= consistency
    assert (first.audit == "wrong") == (f1 >= search.state.least_f1 and not beaten)
    assert search.race_counts.wrong == sum(prompt.audit == "wrong" for prompt in audited)


class Interrupting(SimulatedModel):
    """Ctrl-C comes while it answers the call with this number."""

    calls_left = -1

    def predict(self, *given: Any, **more: Any) -> Any:
        self.calls_left -= 1
        if self.calls_left == 0:
            raise KeyboardInterrupt
        return super().predict(*given, **more)


def test_ctrl_c_in_the_middle_of_a_rung_loses_nothing(tmp_path: Path, raced: Any) -> None:
    task = make_task()
    model = Interrupting(SIM, task)
    search = make_search(tmp_path, make_evaluator(task, model))
    while len(search.stopped) < 1:
        search._take_a_step()
    model.calls_left = 2  # the second block of wordings of the first rung
    with pytest.raises(KeyboardInterrupt):
        search.run()
    done = search.state.n_done
    again = make_search(tmp_path, make_evaluator(task))
    assert again.state.n_done == done
    assert again.stopped[0].raced == raced.stopped[0].raced
    again.run()
    assert again.state.n_done == TRIALS
    ids = [candidate.id for candidate in (*again.candidates, *again.stopped)]
    assert len(set(ids)) == TRIALS


def test_workers_race_against_the_incumbents_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_coordinator, "_PAUSE", 0.0)
    first = make_search(tmp_path, make_evaluator(make_task()), worker="a", own=4)
    first.run()
    second = make_search(tmp_path, make_evaluator(make_task()), worker="b")
    second.run()
    assert second.state.n_done == TRIALS
    own = [stopped for stopped in second.stopped if stopped.trial not in {one.trial for one in first.stopped}]
    assert own
    theirs = {candidate.trial for candidate in first.candidates}
    earlier = [one for one in second.candidates if one.trial < own[0].trial and one.trial not in theirs]
    assert len(earlier) < 3  # by its own grids alone it could not have stopped yet
    ids = [candidate.id for candidate in (*second.candidates, *second.stopped)]
    assert len(set(ids)) == TRIALS


def test_a_race_that_means_nothing_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    task = make_task()
    evaluator = make_evaluator(task, wordings=WORDINGS[:1])
    for race in ("on", "strict"):
        with pytest.raises(InputError, match=f"--race {race} needs at least 2 wordings, not 1"):
            make_search(tmp_path, evaluator, race=race)
    few = make_evaluator(make_task(12))
    with pytest.raises(InputError, match="at least 20 samples"):
        make_search(tmp_path, few)
    judged = SimulatedModel(SIM, task)
    judged.capabilities = Capabilities(has_metric_scores=True)
    with pytest.raises(InputError, match="a metric scores the answers"):
        make_search(tmp_path, make_evaluator(task, judged))
    compared = SimulatedModel(SIM, task)
    compared.capabilities = Capabilities(is_assessed=True)
    with pytest.raises(InputError, match="something is asked about whole grids"):
        make_search(tmp_path, make_evaluator(task, compared))
    assert evaluator.budget.usage.made == few.budget.usage.made == 0
    costly = SimulatedModel(SIM, task)
    costly.capabilities = Capabilities()
    assert make_search(tmp_path, make_evaluator(task, costly), race="auto")._races.are_run
    assert not make_search(tmp_path, make_evaluator(task, judged), race="auto")._races.are_run
    assert not make_search(tmp_path, make_evaluator(task, compared), race="auto")._races.are_run
    settings = LMConfig(api_base="http://127.0.0.1:9/v1", batch=True)
    by_batches = chat_model("openai", "test", AnswerCache(tmp_path / "cache"), settings, Budget())
    assert not races("auto", make_evaluator(task, by_batches))
    assert races("on", make_evaluator(task, by_batches))
    assert races("strict", make_evaluator(task))
