"""The front, its knee, who stands for the gate, what is scored on test first, and shorter versions of the knee."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from psopt.evaluation import AnswerShares, Predictions, Scores, score
from psopt.proposals import merged_edit, replace_merged
from psopt.search import Candidate, knee, nominees, pareto_front, scoring_order
from psopt.search._shorten import edit_worths, is_as_good, next_shorter, shortest
from psopt.search_spaces import Edit, Prompt, Provenance
from psopt.tasks import Task

from tests.sweeps import each


def candidate(
    trial: int, f1: float, sensitivity: float, consistency: float | None = 0.5, n_edits: int = 0, **shares: Any
) -> Candidate:
    edits = tuple(Edit("note", "a", f"{trial} {i}", Provenance("rules", "task")) for i in range(n_edits))
    scores = Scores(f1, f1, sensitivity, consistency, 0.0, {}, {})
    if shares:
        scores = replace(scores, shares=AnswerShares(**shares))
    return Candidate(trial, Prompt(f"prompt {trial}", ("a", "b")), edits, scores)


BASE = candidate(0, 0.5, 0.2, 0.4)


def test_dominated_and_constant_candidates_and_the_longer_of_equal_ones_are_not_on_the_front() -> None:
    better, worse, other = candidate(1, 0.7, 0.1), candidate(2, 0.6, 0.1), candidate(3, 0.6, 0.05, 0.4)
    assert pareto_front([BASE, better, worse, other], 0.49) == (better, other)
    constant = candidate(1, 0.2, 0.0, 1.0)
    assert pareto_front([BASE, constant], 0.49) == (BASE,)
    long, short = candidate(1, 0.7, 0.1, n_edits=5), candidate(2, 0.7, 0.1, n_edits=2)
    assert pareto_front([BASE, long, short], 0.49) == (short,)


def test_the_knee_is_the_compromise_and_no_worse_than_the_baseline_where_that_can_be() -> None:
    extreme, middle, stable = candidate(1, 0.8, 0.2, 0.4), candidate(2, 0.78, 0.06, 0.58), candidate(3, 0.5, 0.05, 0.6)
    assert knee([extreme, middle, stable], BASE) is middle
    shaky, mild = candidate(1, 0.9, 0.3, 0.9), candidate(2, 0.55, 0.19, 0.41)
    assert knee([shaky, mild], BASE) is mild
    assert knee([shaky], BASE) is shaky


def test_a_guess_is_no_bar_for_s_and_stays_out_of_the_front() -> None:
    """Met on SmolLM2: calibration alone took F1 from 16.3 to 53.8, S from 7.1 to 9.8: the guess was the compromise."""
    guess = candidate(0, 0.163, 0.071, 0.532, is_guess=True)
    better = candidate(1, 0.538, 0.098, 0.557)
    assert guess.val.is_hollow
    assert knee([better, guess], guess) is better
    assert pareto_front([guess, better], 0.15) == (better,)
    alike = candidate(2, 0.53, 0.08, 0.7)  # C counts: what is but one answer stays out of the front
    assert knee([better, alike, guess], guess) is alike
    knows = replace(guess, val=replace(guess.val, shares=AnswerShares()))
    assert not knows.val.is_hollow
    assert knee([better, knows], knows) is knows


def test_a_constant_answer_stays_out_of_the_front_even_where_the_original_prompt_is_a_guess() -> None:
    guess = candidate(0, 0.66, 0.46, is_guess=True)
    middle = candidate(1, 0.73, 0.0, n_edits=1, near_constant="3")
    assert pareto_front([guess, middle], 0.6) == (guess,)
    also_guess = candidate(2, 0.7, 0.4, n_edits=1, is_guess=True)
    assert pareto_front([guess, middle, also_guess], 0.6) == (also_guess,)


def nominated(best: Candidate, shortest: Candidate) -> list[int]:
    found: Any = SimpleNamespace(baseline=BASE, front=(best,), shortest=shortest)
    return [nominee.trial for nominee in nominees(found)]


def test_nominees_are_the_knee_and_the_shortest_first_where_the_knee_is_hardly_better_never_the_baseline() -> None:
    best = candidate(1, 0.75, 0.1)
    assert nominated(best, candidate(2, 0.735, 0.1)) == nominated(best, candidate(2, 0.75, 0.115)) == [1, 2]
    assert nominated(best, candidate(2, 0.745, 0.105)) == [2, 1]
    assert nominated(best, best) == [1]
    assert nominated(BASE, BASE) == []


@each(
    "consistencies, order",
    [((0.1, 0.12, 0.1, 0.1, 0.1), [0, 2, 3, 1, 4]), ((None, None, None, None, None), [0, 2, 3, 4, 1])],
)
def test_where_a_limit_may_not_pay_for_all_the_knee_and_the_best_in_what_is_defined_are_scored_first(
    consistencies: tuple[float | None, ...], order: list[int]
) -> None:
    """Number 2 is the knee and the best in F1, 3 in S, and 1 in C alone."""
    of_f1_and_s = ((0.5, 0.2), (0.65, 0.1), (0.9, 0.2), (0.6, 0.05), (0.7, 0.15))
    baseline, *front = (
        candidate(trial, *of_f1_and_s[trial], consistency) for trial, consistency in enumerate(consistencies)
    )
    front.sort(key=lambda found: -found.val.f1)
    assert [found.trial for found in scoring_order(baseline, front)] == order


ORIGIN = Provenance("rules", "accuracy", "", ("train-1",))
POOL = [Edit("note", "Number", f"note {i}", ORIGIN) for i in range(8)]


def answered(task: Task, number: int, edits: Any, n_right: int, first: int = 0) -> tuple[Any, Any]:
    """One with its answers: 40 samples under 4 rephrasings, of which `n_right` are right, from the `first` on."""
    truth = np.array([task.labels.index(sample.label) for sample in task.val])
    array = np.repeat(1 - truth[:, None], 4, axis=1)
    array[first : first + n_right] = truth[first : first + n_right, None]
    found = Predictions(array, task.val, task.labels)
    return Candidate(number, Prompt(f"number {number}", task.labels), tuple(edits), score(found)), found


@pytest.fixture
def tried(task: Task) -> list[Any]:
    """Notes 0 and 1 are worth 10 samples each; the others nothing."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(24):
        edits = [edit for edit in POOL if rng.random() < 0.5]
        worth = sum(10 for edit in edits if edit in POOL[:2])
        found.append(answered(task, number, edits, 15 + worth)[0])
    return found


def test_worths_find_the_edits_that_do_good_and_those_are_kept_in_their_order(task: Task, tried: list[Any]) -> None:
    worths = edit_worths(tried, POOL)
    assert min(worths[edit.id] for edit in POOL[:2]) > 3 * max(abs(worths[edit.id]) for edit in POOL[2:])
    everything, _ = answered(task, 99, POOL, 35)
    subsets = next_shorter(everything, tried, POOL)
    assert [len(edits) for edits in subsets] == [4, 5, 6, 7]
    for edits in subsets:
        assert set(POOL[:2]) <= set(edits)
        assert list(edits) == [edit for edit in POOL if edit in edits]


@each(
    "of_knee, of_shorter, is_accepted",
    [
        ((36,), (36,), True),
        ((36,), (25,), False),
        ((32,), (31, 8), True),  # other samples are right, one less in all: that may be chance
        ((32,), (24,), False),  # eight less are not
    ],
)
def test_the_shortest_that_loses_no_more_than_one_standard_error_stands_for_the_knee(
    task: Task, of_knee: Any, of_shorter: Any, is_accepted: bool
) -> None:
    known = [answered(task, 0, POOL, *of_knee), answered(task, 1, POOL[:2], *of_shorter)]
    known.append(answered(task, 2, POOL[:1], 15))
    on_val = {one.id: found for one, found in known}
    knee, shorter, worse = (one for one, _ in known)
    assert worse.val.f1 < shorter.val.f1 <= knee.val.f1
    stands = shortest([knee, shorter, worse], knee, lambda one, of: is_as_good(one, of, lambda it: on_val[it.id]))
    assert stands is (shorter if is_accepted else knee)


def test_what_merges_notes_is_worth_as_much_as_they_are_together(tried: list[Any]) -> None:
    merged = merged_edit(POOL[:3], "note 0, 1 and 2")
    worths = edit_worths(tried, [*POOL, merged])
    assert worths[merged.parameter_name] == pytest.approx(sum(worths[edit.id] for edit in POOL[:3]))
    assert replace_merged(POOL, [merged]) == (*POOL[3:], merged)
    assert merged_edit([merged, POOL[3]], "more").merges == tuple(edit.id for edit in POOL[:4])
