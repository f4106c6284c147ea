"""Who stands for the gate: chosen by val alone, the baseline never among them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, score
from psopt.proposals import merged_edit
from psopt.search import Candidate, nominees
from psopt.search_spaces import Edit, Prompt, Provenance

if TYPE_CHECKING:
    from psopt.tasks import Task


def answers(task: Task, n_right: int) -> Predictions:
    """The first `n_right` samples of val are right under both wordings, the others wrong."""
    truth = np.array([task.labels.index(sample.label) for sample in task.val])
    array = np.repeat(truth[:, None], 2, axis=1)
    array[n_right:] = 1 - array[n_right:]
    return Predictions(array, task.val, task.labels)


def candidate(task: Task, trial: int, n_right: int) -> Candidate:
    return Candidate(trial, Prompt(f"number {trial}", task.labels), (), score(answers(task, n_right)))


@pytest.fixture
def tried(task: Task) -> list[Candidate]:
    return [candidate(task, trial, n_right) for trial, n_right in enumerate((20, 25, 30))]


def searched(baseline: Any, front: Any, shortest: Any, as_good: Any = ()) -> Any:
    return SimpleNamespace(
        baseline=baseline,
        front=tuple(front),
        shortest=shortest,
        candidates=[baseline, *front, shortest, *as_good],
        handed_back=SimpleNamespace(sure_beyond=None, best_within=None, eligible=(baseline, *front, *as_good)),
        is_as_good=lambda prompt, best: prompt in as_good,
        tokens=lambda candidate: len(candidate.prompt.description.split()),
    )


def test_the_knee_comes_before_the_shortest(tried: list[Candidate]) -> None:
    baseline, short, best = tried
    assert [nominee.id for nominee in nominees(searched(baseline, [best], short))] == [best.id, short.id]


def test_nobody_is_nominated_twice_and_the_baseline_never(tried: list[Candidate]) -> None:
    baseline, _, best = tried
    assert [nominee.id for nominee in nominees(searched(baseline, [best], best))] == [best.id]
    assert nominees(searched(baseline, [baseline], baseline)) == ()


def edited(task: Task, trial: int, n_right: int, edits: tuple[Edit, ...]) -> Candidate:
    return replace(candidate(task, trial, n_right), edits=edits)


def test_edits_of_no_measurable_worth_are_dropped_where_a_form_without_them_was_evaluated(task: Task) -> None:
    notes = tuple(Edit("note", "Number", f"note {i}", Provenance("rules", "accuracy")) for i in range(3))
    base, best = candidate(task, 0, 20), edited(task, 1, 30, notes)
    same, worse, other = edited(task, 2, 30, notes[:2]), edited(task, 3, 25, notes[:1]), edited(task, 4, 30, ())
    short = candidate(task, 5, 24)
    search = searched(base, [best], short)
    search.candidates = [base, best, same, worse, other, short]
    assert [nominee.id for nominee in nominees(search)] == [same.id, short.id]
    merged = edited(task, 6, 30, (merged_edit(notes, "all three", "rules"),))
    search.candidates.append(merged)
    assert nominees(search)[0].id == merged.id


def test_where_the_knee_is_beyond_the_limits_the_best_within_comes_last(tried: list[Candidate]) -> None:
    baseline, within, beyond = tried
    search = searched(baseline, [beyond, within], beyond)
    search.handed_back.sure_beyond, search.handed_back.best_within = beyond, within
    assert [nominee.id for nominee in nominees(search)] == [beyond.id, within.id]


def backed(task: Task, trial: int, n_right: int, gain: float) -> Candidate:
    """A candidate with a note of which train says that it mends so much."""
    note = Edit("note", "Number", f"note {trial}", Provenance("rules", "accuracy"), gain)
    return edited(task, trial, n_right, (note,))


def test_of_those_that_val_can_t_tell_from_the_knee_train_chooses(task: Task) -> None:
    baseline, knee = candidate(task, 0, 20), backed(task, 1, 30, 0.1)
    founded, unfounded = backed(task, 2, 29, 0.2), backed(task, 3, 29, 0.05)
    assert nominees(searched(baseline, [knee], knee, [founded, unfounded]))[0].id == founded.id
    assert nominees(searched(baseline, [knee, founded], knee, [unfounded]))[0].id == knee.id
    equal = backed(task, 4, 29, 0.1)
    assert nominees(searched(baseline, [knee], knee, [equal]))[0].id == knee.id


def test_what_is_behind_the_baseline_is_not_nominated_for_what_train_says(task: Task) -> None:
    baseline, knee = candidate(task, 0, 20), backed(task, 1, 21, 0.1)
    behind = backed(task, 2, 19, 0.9)
    assert nominees(searched(baseline, [knee], knee, [behind]))[0].id == knee.id


def test_what_val_does_not_see_may_not_make_the_prompt_much_longer(task: Task) -> None:
    baseline, knee = candidate(task, 0, 20), backed(task, 1, 30, 0.1)
    knee = replace(knee, prompt=replace(knee.prompt, description="word " * 100))
    for n_words, is_chosen in ((125, True), (126, False)):
        rival = backed(task, 2, 29, 0.2)
        rival = replace(rival, prompt=replace(rival.prompt, description="word " * n_words))
        first = nominees(searched(baseline, [knee], knee, [rival]))[0]
        assert first.id == (rival if is_chosen else knee).id


def test_where_train_has_chosen_a_form_of_which_it_expects_less_is_not_leaner(task: Task) -> None:
    notes = tuple(Edit("note", label, f"of {label}", Provenance("rules", "accuracy"), 0.1) for label in task.labels)
    baseline, knee = candidate(task, 0, 20), backed(task, 1, 30, 0.1)
    founded, form = edited(task, 2, 29, notes), edited(task, 3, 29, notes[:1])
    search = searched(baseline, [knee], form, [founded])
    assert nominees(search)[0].id == founded.id
    as_knee = searched(baseline, [founded], form)
    assert nominees(as_knee)[0].id == form.id
