from __future__ import annotations

from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import Evaluator
from psopt.rephrasings import RephrasingSet
from psopt.search import Observer, Search, SearchProblem, open_study
from psopt.search.distributed import open_storage
from psopt.search_spaces import KINDS, VIEWS, SearchRestriction, seed_prompt
from psopt.settings import SearchOptions

from tests.conftest import KeywordModel

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

SET = RephrasingSet(
    "Sort the question by what it asks for.",
    ("Sort the question by what it asks for.", "Sort it by what it asks."),
    ("Do sort.", "Sort please!!"),
    "rules",
)


@pytest.fixture
def evaluator(task: Task, keyword_model: Any) -> Any:
    return Evaluator(keyword_model, SET, {"train": task.train, "val": task.val, "test": task.test})


def search(
    task: Task,
    evaluator: Any,
    tmp_path: Path,
    observer: Any = None,
    *,
    resume: bool = False,
    seed: int = 42,
    **options: Any,
) -> Any:
    settings = SearchOptions(**{"trials": 15, "rounds": 2, "seed": seed, "race": "off", **options})
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", settings.sampler, seed, resume=resume)
    return Search(study, SearchProblem(task, seed_prompt(task), evaluator, settings, observer or Observer()))


@pytest.fixture(scope="module")
def searched(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A search of 25 trials that is over, and the model that it has asked."""
    samples: Any = {"train": task.train, "val": task.val, "test": task.test}
    found = search(task, Evaluator(KeywordModel(), SET, samples), tmp_path_factory.mktemp("searched"), trials=25)
    found.run()
    return found


def complete(study: Any) -> list[Any]:
    return [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "gp"])
def test_every_sampler_finds_the_prompt_without_a_fault(
    task: Task, evaluator: Any, tmp_path: Path, sampler: str
) -> None:
    if sampler == "gp":
        pytest.importorskip("torch", reason="the GP sampler needs torch")
    found = search(task, evaluator, tmp_path, sampler=sampler)
    found.run()
    assert found.state.baseline.val.f1 == 0.75
    assert found.state.front[0].val.f1 == 1.0
    assert found.state.front[0].val.sensitivity == 0.0


def test_the_seed_prompt_is_trial_0_and_has_no_edits(task: Task, searched: Any) -> None:
    assert searched.state.baseline.prompt == seed_prompt(task)
    assert searched.study.trials[0].params == {}
    assert searched.study.trials[0].user_attrs["prompt_id"] == seed_prompt(task).id


def test_trials_is_the_number_of_distinct_prompts_evaluated_and_none_is_asked_twice_on_a_split(searched: Any) -> None:
    ids = [trial.user_attrs["prompt_id"] for trial in complete(searched.study)]
    assert len(ids) == len(set(ids)) == 25
    evaluator = searched.problem.evaluator
    n_diagnosed = len({one.id for one in searched.candidates if evaluator.knows(one.id, "train")})
    assert evaluator.model.n_grids == 25 + n_diagnosed


def test_objectives_are_named_and_point_the_right_way(searched: Any) -> None:
    assert searched.study.metric_names == ["f1", "sensitivity", "consistency"]
    assert [direction.name for direction in searched.study.directions] == ["MAXIMIZE", "MINIMIZE", "MAXIMIZE"]


def test_a_candidate_below_the_baseline_s_f1_is_infeasible_in_the_study_too(searched: Any) -> None:
    for trial in complete(searched.study):
        assert (trial.constraints["f1"] > 0) == (trial.values[0] < 0.74)


def test_the_same_seed_tries_the_same_prompts_and_another_seed_others(
    task: Task, evaluator: Any, tmp_path: Path
) -> None:
    tried = []
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / folder).mkdir()
        found = search(task, evaluator, tmp_path / folder, seed=seed, trials=8)
        found.run()
        tried.append([candidate.id for candidate in found.candidates])
    assert tried[0] == tried[1] != tried[2]


def test_an_interrupted_search_goes_on_where_it_stopped(
    task: Task, evaluator: Any, tmp_path: Path, keyword_model: Any
) -> None:
    first = search(task, evaluator, tmp_path, trials=5)
    first.run()
    study = first.study
    study.ask()  # a trial that a crash left running
    again = search(task, evaluator, tmp_path, trials=9, resume=True)
    assert [one.id for one in again.candidates] == [one.id for one in first.candidates]
    assert [edit.id for edit in again.state.pool] == [edit.id for edit in first.state.pool]
    again.run()
    assert len(again.candidates) == len(complete(again.study)) == 9
    assert not [trial for trial in again.study.trials if trial.state == optuna.trial.TrialState.RUNNING]


def test_a_failing_model_fails_the_trial_with_the_reason_and_is_no_score(
    task: Task, evaluator: Any, tmp_path: Path, keyword_model: Any
) -> None:
    found = search(task, evaluator, tmp_path)
    keyword_model.predict = lambda *_: (_ for _ in ()).throw(ConnectionError("no route"))
    with pytest.raises(ConnectionError):
        found.run()
    (trial,) = found.study.trials
    assert trial.state == optuna.trial.TrialState.FAIL
    assert trial.user_attrs["failed"] == "ConnectionError: no route"


def test_a_task_with_nothing_to_mend_ends_when_nothing_new_can_be_tried(
    task: Task, evaluator: Any, tmp_path: Path, keyword_model: Any
) -> None:
    import dataclasses

    right = [dataclasses.replace(s, text=f"who {s.text}", label="Person") for s in task.train]
    keyword_model._answer = lambda prompt, text: 1 if text.startswith("who") else 0
    samples = tuple(right[:20] + [dataclasses.replace(s, label="Number") for s in task.train[20:]])
    task = dataclasses.replace(task, train=samples, definitions={})
    evaluator.samples = {"train": samples, "val": samples, "test": samples}
    found = search(task, evaluator, tmp_path, trials=500, rounds=1)
    found.run()
    assert len(found.candidates) < 500


def test_a_study_that_exists_is_not_gone_on_with_unasked(task: Task, evaluator: Any, tmp_path: Path) -> None:
    search(task, evaluator, tmp_path)
    with pytest.raises(InputError, match="--resume"):
        search(task, evaluator, tmp_path)


@pytest.mark.parametrize("url", ["sqlite:////no/such/folder/x.db", "nonsense://x", "postgresql://nobody@localhost:1/x"])
def test_a_storage_that_can_t_be_opened_is_one_clear_error(url: str) -> None:
    with pytest.raises(InputError, match="can't be opened"):
        open_study(url, "toy", "tpe", 0)


def test_bad_options_are_refused() -> None:
    unknown: Any = "nsga"
    with pytest.raises(UnknownNameError, match="did you mean 'nsga2'"):
        SearchOptions(sampler=unknown)
    with pytest.raises(InputError, match="trials"):
        SearchOptions(trials=0)
    with pytest.raises(InputError, match="rounds"):
        SearchOptions(rounds=0)
    with pytest.raises(InputError, match="seed"):
        SearchOptions(seed=-1)


def test_the_order_of_examples_is_searched_for_a_model_that_reads_it(task: Task, searched: Any, tmp_path: Path) -> None:
    shown = {trial.number: trial.params for trial in complete(searched.study)}
    with_examples = [one for one in searched.candidates if one.prompt.examples]
    assert {one.order for one in with_examples} > {"as chosen"}
    assert all(shown[one.trial]["example-order"] == one.order for one in with_examples)
    assert all("example-order" not in shown[one.trial] for one in searched.candidates if not one.prompt.examples)
    again = Search(searched.study, searched.problem)
    assert [one.prompt for one in again.candidates] == [one.prompt for one in searched.candidates]


def test_the_order_of_examples_is_not_searched_for_a_model_that_does_not_read_it(
    task: Task, evaluator: Any, tmp_path: Path
) -> None:
    evaluator.model.reads_order = False
    found = search(task, evaluator, tmp_path, trials=15)
    found.run()
    assert all("example-order" not in trial.params for trial in found.study.trials)


def test_examples_of_a_label_are_as_many_as_of_another(task: Task, searched: Any) -> None:
    whole = [one for one in searched.candidates if one.prompt.examples]
    assert whole
    for one in whole:
        per_label = [sum(example.label == label for example in one.prompt.examples) for label in task.labels]
        layers = len({edit.bundle for edit in one.edits if edit.bundle})
        assert max(per_label) <= layers
        assert max(per_label) - min(per_label) <= 2  # where a label has no sample left that fits


def test_optuna_s_own_plots_work_on_the_study(searched: Any) -> None:
    from optuna import visualization

    front = visualization.plot_pareto_front(searched.study)
    assert [axis.title.text for axis in (front.layout.scene.xaxis, front.layout.scene.yaxis)] == ["f1", "sensitivity"]
    assert visualization.plot_hypervolume_history(searched.study, [0.0, 1.0, 0.0]).data
    assert visualization.plot_param_importances(searched.study, target=lambda trial: trial.values[0]).data


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_edit_that_is_taken_away_is_in_no_pool(task: Task, evaluator: Any, tmp_path: Path, kind: Any) -> None:
    found = search(
        task, evaluator, tmp_path, trials=4, parts=SearchRestriction(kinds=tuple(one for one in KINDS if one != kind))
    )
    found.run()
    assert found.state.pool
    assert kind not in {edit.kind for edit in found.state.pool if not edit.merges}


def test_a_view_that_is_taken_away_makes_no_note(task: Task, evaluator: Any, tmp_path: Path) -> None:
    def notes(views: tuple[Any, ...]) -> list[Any]:
        folder = tmp_path / "-".join(views)
        folder.mkdir()
        found = search(task, evaluator, folder, trials=4, parts=SearchRestriction(views=views))
        found.run()
        return [edit for edit in found.state.pool if edit.kind == "note"]

    whole = {edit.id for edit in notes(VIEWS)}
    for view in VIEWS:
        left = notes(tuple(other for other in VIEWS if other != view))
        assert view not in {edit.provenance.view for edit in left}
        assert {edit.id for edit in left} <= whole


def test_without_its_margin_the_constraint_lets_everything_through(task: Task, evaluator: Any, tmp_path: Path) -> None:
    found = search(task, evaluator, tmp_path, trials=3, parts=SearchRestriction(margin=1.0))
    found.run()
    assert found.state.least_f1 < 0


def test_parts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="sensitivity"):
        SearchRestriction(views=("sensitivty",))
    with pytest.raises(UnknownNameError, match="note"):
        SearchRestriction(kinds=("notes",))
    with pytest.raises(InputError, match="at least one kind"):
        SearchRestriction(kinds=())
    with pytest.raises(InputError, match="at least 0"):
        SearchRestriction(margin=-0.1)


def test_a_trial_that_others_took_over_meanwhile_is_let_go(
    task: Task, evaluator: Any, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = open_study(storage, "toy", "tpe", 0)
    elsewhere = optuna.load_study(study_name="toy", storage=open_storage(storage))
    problem = SearchProblem(task, seed_prompt(task), evaluator, SearchOptions(4, rounds=1))
    found = Search(study, problem, worker="slow")
    claim = found.coordinator.claim
    taken: list[int] = []

    def away_for_long(number: int, prompt_id: str) -> Any:
        if len(taken) < 2 and number:
            taken.append(number)
            elsewhere.tell(number, state=optuna.trial.TrialState.FAIL)
        return claim(number, prompt_id)

    monkeypatch.setattr(found.coordinator, "claim", away_for_long)
    found.run()
    assert len(taken) == 2
    assert found.state.n_done == 4
    assert {study.trials[number].state for number in taken} == {optuna.trial.TrialState.FAIL}
