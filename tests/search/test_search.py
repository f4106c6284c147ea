"""What a search finds, and what its study holds of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna_dashboard import get_note, save_note
from psopt.errors import InputError, UnknownNameError
from psopt.search import Search, SearchProblem, _rounds, open_study, show_note
from psopt.search._sources import Choice
from psopt.search_spaces import CALIBRATE, Edit, SearchRestriction, seed_prompt
from psopt.settings import SearchOptions
from psopt.tasks import Task

from tests.conftest import KeywordModel
from tests.search.searches import complete, make_evaluator, make_search
from tests.sweeps import each


def search(task: Task, folder: Path, model: Any = None, **options: Any) -> Any:
    evaluator = make_evaluator(task, model or KeywordModel())
    return make_search(folder, task, evaluator, **{"trials": 8, "rounds": 2, "race": "off", **options})


def searched(task: Task, folder: Path, model: Any = None, **options: Any) -> Any:
    """A search that is over."""
    found = search(task, folder, model, **options)
    found.run()
    return found


@pytest.fixture(scope="module")
def long(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A search of 25 trials that is over."""
    return searched(task, tmp_path_factory.mktemp("searched"), trials=25)


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "gp"])
def test_every_sampler_finds_the_prompt_without_a_fault(task: Task, tmp_path: Path, long: Any, sampler: str) -> None:
    if sampler == "gp":
        pytest.importorskip("torch", reason="the GP sampler needs torch")
    found = long if sampler == "tpe" else searched(task, tmp_path, sampler=sampler)
    assert found.state.baseline.val.f1 == 0.75
    assert found.state.front[0].val.f1 == 1.0
    assert found.state.front[0].val.sensitivity == 0.0


def test_rounds_that_are_left_begin_once_nothing_new_is_left_to_try(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_edits = vars(_rounds)["_new_edits"]
    monkeypatch.setattr(_rounds, "_new_edits", lambda *args: new_edits(*args)[:1])
    monkeypatch.setattr("psopt.search._search._TRIES_FOR_A_NEW_CANDIDATE", 8)  # of four prompts
    found = searched(task, tmp_path, trials=10, rounds=2)
    assert [len(edits) for edits in found.history.rounds] == [1, 1]
    assert found.finish_reason == "exhausted"
    assert found.state.n_done == 2**2


def test_the_study_holds_distinct_prompts_the_seed_prompt_first_and_what_is_feasible(task: Task, long: Any) -> None:
    first = long.study.trials[0]
    assert long.state.baseline.prompt == seed_prompt(task)
    assert (first.params, first.user_attrs["prompt_id"]) == ({}, seed_prompt(task).id)
    ids = [trial.user_attrs["prompt_id"] for trial in complete(long)]
    assert len(ids) == len(set(ids)) == 25
    evaluator = long.problem.evaluator
    n_diagnosed = len({one.id for one in long.candidates if evaluator.knows(one.id, "train")})
    assert evaluator.model.n_grids == 25 + n_diagnosed  # none is asked twice on a split
    assert long.study.metric_names == ["f1", "sensitivity", "consistency"]
    assert [direction.name for direction in long.study.directions] == ["MAXIMIZE", "MINIMIZE", "MAXIMIZE"]
    for trial in complete(long):
        assert (trial.constraints["f1"] > 0) == (trial.values[0] < 0.74)


def test_a_trial_that_a_crash_left_running_is_failed_and_tried_again(task: Task, tmp_path: Path) -> None:
    first = searched(task, tmp_path, trials=3)
    left = first.study.ask()
    left.suggest_categorical(next(iter(first.study.trials[1].params)), [False, True])
    again = search(task, tmp_path, trials=6)
    assert [candidate.id for candidate in again.candidates] == [candidate.id for candidate in first.candidates]
    again.run()
    assert len(again.candidates) == len(complete(again)) == 6
    states = [trial.state for trial in again.study.trials]
    assert optuna.trial.TrialState.RUNNING not in states
    assert states[left.number] == optuna.trial.TrialState.FAIL


@pytest.mark.parametrize("first_edits", [(), (CALIBRATE,)])
def test_a_worker_waits_for_the_original_prompt_that_another_one_evaluates(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_edits: tuple[Edit, ...]
) -> None:
    """Both queue it if they begin at the same moment. The later one, and so the search, gave up."""
    monkeypatch.setattr("psopt.search.distributed._coordinator._PAUSE", 0)
    monkeypatch.setattr(SearchProblem, "first_edits", first_edits)
    first, later = search(task, tmp_path, worker="a"), search(task, tmp_path, worker="b", trials=4, rounds=1)
    for _ in range(2):
        first._queue.put([Choice(()), *(Choice((edit,)) for edit in first_edits)])
    trial = first.study.ask()
    assert first.coordinator.owns(trial.number)
    assert first.coordinator.claim(trial.number, seed_prompt(task).id) is None
    monkeypatch.setattr(later.coordinator, "wait", lambda: first._try(trial) and False)
    later.run()
    assert later.finish_reason == "trials"
    assert later.n_own == 3
    dropped = [one for one in later.study.trials if one.state == optuna.trial.TrialState.PRUNED]
    assert len(dropped) == 1 + len(first_edits)  # what both had queued


def test_optuna_s_own_plots_work_on_the_study(long: Any) -> None:
    from optuna import visualization

    front = visualization.plot_pareto_front(long.study)
    assert [axis.title.text for axis in (front.layout.scene.xaxis, front.layout.scene.yaxis)] == ["f1", "sensitivity"]
    assert visualization.plot_hypervolume_history(long.study, [0.0, 1.0, 0.0]).data
    assert visualization.plot_param_importances(long.study, target=lambda trial: trial.values[0]).data


def test_a_storage_that_can_t_be_opened_or_holds_the_study_already_is_one_clear_error(tmp_path: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)  # of the user's own studies
    with pytest.raises(InputError, match="can't be opened"):
        open_study("sqlite:////no/such/folder/x.db", "toy", "tpe", 0)
    open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", "tpe", 0)
    with pytest.raises(InputError, match="--resume"):
        open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", "tpe", 0)
    assert optuna.logging.get_verbosity() == optuna.logging.INFO


@each(
    "options, given, said",
    [
        (SearchOptions, {"rounds": 0}, "rounds"),
        (SearchRestriction, {"views": ("sensitivty",)}, "sensitivity"),
        (SearchRestriction, {"kinds": ("notes",)}, "note"),
        (SearchRestriction, {"kinds": ()}, "at least one kind"),
        (SearchRestriction, {"examples_allowed": -1}, "examples_allowed must be at least 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=said):
        options(**given)


def test_the_order_of_examples_is_searched_for_a_model_that_reads_it_alone(
    task: Task, long: Any, tmp_path: Path, keyword_model: Any
) -> None:
    shown = {trial.number: trial.params for trial in complete(long)}
    with_examples = [one for one in long.candidates if one.prompt.examples]
    assert {one.order for one in with_examples} > {"as chosen"}
    assert all(shown[one.trial]["example-order"] == one.order for one in with_examples)
    assert all("example-order" not in shown[one.trial] for one in long.candidates if not one.prompt.examples)
    again = Search(long.study, long.problem)
    assert [one.prompt for one in again.candidates] == [one.prompt for one in long.candidates]
    keyword_model.reads_order = False
    found = searched(task, tmp_path, keyword_model, trials=5)
    assert all("example-order" not in trial.params for trial in found.study.trials)


def test_what_is_taken_away_is_in_no_pool(task: Task, long: Any, tmp_path: Path) -> None:
    views, kinds = ("sensitivity", "accuracy"), ("note", "definition")
    parts = SearchRestriction(views=views, kinds=kinds, margin=1.0)
    found = searched(task, tmp_path, trials=4, parts=parts)
    assert found.state.least_f1 < 0  # such a margin lets everything through
    pool = [edit for edit in found.state.pool if not edit.merges]
    assert {edit.kind for edit in pool} == set(kinds) < {edit.kind for edit in long.state.pool}
    notes = [edit for edit in pool if edit.kind == "note"]
    assert {edit.provenance.view for edit in notes} <= set(views)
    assert {edit.id for edit in notes} <= {edit.id for edit in long.state.pool}


def test_what_people_write_into_the_study_s_note_stays_and_psopt_s_part_is_written_anew(tmp_path: Path) -> None:
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", "random", 0)
    save_note(study, "# Tickets, third try")
    show_note(study, "## Best so far: trial 1")
    first = get_note(study)
    assert first.startswith("## Best so far: trial 1\n")
    assert first.endswith("# Tickets, third try\n")
    save_note(study, f"{first}\nAsk Ana before this ships.\n")
    for _ in range(2):
        show_note(study, "## Use trial 7")
        note = get_note(study)
        assert note.startswith("## Use trial 7\n")
        assert "trial 1" not in note
        assert note.count("# Tickets, third try") == note.count("Ask Ana before this ships.") == 1
