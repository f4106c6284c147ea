from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from psopt.errors import UnknownNameError
from psopt.evaluation import AnswerShares, Scores
from psopt.search import Candidate, knee, pareto_front, pick
from psopt.search_spaces import Edit, Prompt, Provenance


def candidate(trial: Any, f1: Any, sensitivity: Any, consistency: Any, n_edits: int = 0) -> Any:
    edits = tuple(Edit("note", "a", f"{trial} {i}", Provenance("rules", "task")) for i in range(n_edits))
    scores = Scores(f1, f1, sensitivity, consistency, 0.0, {}, {})
    return Candidate(trial, Prompt(f"prompt {trial}", ("a", "b")), edits, scores)


BASE = candidate(0, 0.5, 0.2, 0.4)


def test_dominated_candidates_are_not_on_the_front() -> None:
    better, worse, other = (candidate(1, 0.7, 0.1, 0.5), candidate(2, 0.6, 0.1, 0.5), candidate(3, 0.6, 0.05, 0.4))
    assert pareto_front([BASE, better, worse, other], 0.49) == (better, other)


def test_a_constant_prompt_wins_nothing() -> None:
    constant = candidate(1, 0.2, 0.0, 1.0)
    assert pareto_front([BASE, constant], 0.49) == (BASE,)


def test_of_equal_candidates_the_one_with_fewest_edits_stands() -> None:
    long, short = candidate(1, 0.7, 0.1, 0.5, n_edits=5), candidate(2, 0.7, 0.1, 0.5, n_edits=2)
    assert pareto_front([BASE, long, short], 0.49) == (short,)


def test_the_knee_is_the_compromise() -> None:
    extreme, middle, stable = (
        candidate(1, 0.8, 0.2, 0.4),
        candidate(2, 0.78, 0.06, 0.58),
        candidate(3, 0.5, 0.05, 0.6),
    )
    assert knee([extreme, middle, stable], BASE) is middle


def test_the_knee_is_no_worse_than_the_baseline_where_that_can_be() -> None:
    shaky, mild = candidate(1, 0.9, 0.3, 0.9), candidate(2, 0.55, 0.19, 0.41)
    assert knee([shaky, mild], BASE) is mild
    assert knee([shaky], BASE) is shaky


def test_picks() -> None:
    best, stable = candidate(1, 0.8, 0.2, 0.4), candidate(2, 0.6, 0.05, 0.6)
    front = (best, stable)
    assert pick(front, BASE, "f1") is best
    assert pick(front, BASE, "sensitivity") is pick(front, BASE, "consistency") is stable
    assert pick(front, BASE, stable.id) is pick(front, BASE, stable.id[:6]) is stable
    with pytest.raises(UnknownNameError, match="did you mean 'knee'"):
        pick(front, BASE, "kne")


def test_a_gain_is_not_lost_to_a_hair_of_sensitivity() -> None:
    """Met: F1 + 10.7 and C + 6.7 on val, S + .6: the original prompt was called the best compromise."""
    original = candidate(0, 0.549, 0.062, 0.439)
    better = candidate(1, 0.656, 0.068, 0.506)
    assert knee([better, original], original) is better
    shakier = candidate(2, 0.656, 0.083, 0.506)
    assert knee([shakier, original], original) is original


def test_beside_a_prompt_that_gives_one_answer_to_everything_c_counts_for_nothing() -> None:
    """Met on SmolLM2: F1 - 5.0, S + 10.7 and C + 20.4 against calibration alone was called the compromise."""
    original = candidate(0, 0.032, 0.009, 0.981)
    original = replace(original, val=replace(original.val, shares=AnswerShares(near_constant="a")))
    wrong_but_alike = candidate(1, 0.394, 0.156, 0.444)
    right_more_often = candidate(2, 0.413, 0.088, 0.366)
    assert knee([right_more_often, wrong_but_alike], original) is right_more_often
    assert knee([right_more_often, wrong_but_alike], candidate(0, 0.032, 0.2, 0.3)) is wrong_but_alike


def test_a_guess_is_no_bar_for_s_and_stays_out_of_the_front() -> None:
    """Met on SmolLM2: calibration alone took F1 from 16.3 to 53.8, S from 7.1 to 9.8: the guess was the compromise."""
    shares = AnswerShares(is_guess=True)
    guess = candidate(0, 0.163, 0.071, 0.532)
    guess = replace(guess, val=replace(guess.val, shares=shares))
    better = candidate(1, 0.538, 0.098, 0.557)
    assert guess.val.is_hollow
    assert knee([better, guess], guess) is better
    assert pareto_front([guess, better], 0.15) == (better,)
    alike = candidate(2, 0.53, 0.08, 0.7)  # C counts: what is but one answer stays out of the front
    assert knee([better, alike, guess], guess) is alike
    knows = replace(guess, val=replace(guess.val, shares=AnswerShares()))
    assert not knows.val.is_hollow
    assert knee([better, knows], knows) is knows
