"""How often each label is answered, and whether one is answered to nearly everything, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.answers import AnswerType
from psopt.evaluation import AnswerShares, Predictions, answer_shares, score, scores_from_dict, shares_line

from tests.evaluation.grids import grid


def steady(answers: list[int], truth: list[int], labels: str = "abcd") -> Predictions:
    """The same answer under three wordings."""
    return grid([[answer] * 3 for answer in answers], truth, labels)


# Four samples, of which one is a yes, under two wordings: 7 of 8 answers are yes, and 3 of 8 right.
NEARLY_YES = grid([[1, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 0, 1], "ny")


def test_shares_and_the_constant_answer_of_two_classes_are_kept_beside_the_scores() -> None:
    shares = answer_shares(NEARLY_YES)
    assert shares == AnswerShares(
        answer_shares={"n": 1 / 8, "y": 7 / 8, "N/A": 0},
        class_shares={"n": 3 / 4, "y": 1 / 4},
        constant_f1=3 / 4,  # that of always "n"
        near_constant="y",  # (7/8 - 1/4) / (3/4) = 5/6 is more than half, and 3/8 gains nothing over 3/4
        is_guess=True,
    )
    scores = score(NEARLY_YES)
    data = scores.to_dict()
    assert scores.f1 == 3 / 8
    assert shares_line(data) == (
        "The prompt answers y to 88 % of the texts, and 25 % are y. "
        "Its F1 is 37.5, and 75.0 for always answering n: its S and C say nothing."
    )
    assert (data["near_constant"], data["constant_f1"], data["class_shares"]["n"]) == ("y", 0.75, 0.75)
    assert scores_from_dict(data).shares == scores.shares
    assert scores_from_dict({name: data[name] for name in data if name != "answer_shares"}).shares is None


RARE = [0] * 90 + [1] * 10
EVERY_EIGHTH = [[0, 1, 2][place % 3] if place % 8 == 0 else 0 for place in range(120)]
FOUR = [place // 20 for place in range(80)]


@pytest.mark.parametrize(
    ("answered", "near_constant", "line"),
    [
        # no to 92 %; 90 % are: a prompt that does its task is none however rare a class is
        (steady([0] * 90 + [1] * 8 + [0] * 2, RARE, "ab"), None, ""),
        # a rare class found in part, a lopsidedness of 26/50, is no constant answer once that is sure
        (steady([0] * 450 + [1] * 24 + [0] * 26, [0] * 450 + [1] * 50, "ab"), None, None),
        # every eighth is answered rightly and the rest with "a": surely above a constant answer, by 10 of 67 points
        (steady(EVERY_EIGHTH, [0, 1, 2] * 40, "abc"), "a", None),
        # (50/80 - 1/4) / (3/4) = 1/2 is just as much, and 62.5 gain half of the 75 that a constant answer leaves
        (
            steady([0] * 50 + [2] * 10 + [3] * 20, FOUR),
            None,
            "It answers a to 62 % of the texts, and 25 % are a.",
        ),
        # a guess is not constant though no better
        (
            steady([place // 2 % 2 for place in range(100)], [0, 1] * 50, "ab"),
            None,
            "It has F1 50.0, not above 50.0 for always answering a: its S and C say nothing.",
        ),
    ],
    ids=["rare class found", "rare class found in part", "every eighth", "lopsided and good", "guess"],
)
def test_a_prompt_is_nearly_constant_where_one_label_saves_it(
    answered: Predictions, near_constant: str | None, line: str | None
) -> None:
    assert score(answered).near_constant == near_constant
    assert line is None or shares_line(score(answered).to_dict(), "It") == line


def test_a_constant_prompt_is_nearly_constant() -> None:
    never = score(steady([0] * 100, RARE, "ab"))
    assert never.near_constant == never.constant == "a"


def test_one_answer_more_than_a_constant_has_is_a_guess_still() -> None:
    """Met on SmolLM2: F1 29 on 12 samples where a constant answer has 25; its S barred prompts with twice the F1."""
    truth = [0, 1, 2, 3] * 3
    lucky = score(steady([0, 1, 2, 3, *[1, 2, 3, 0] * 2], truth))
    line = "It has F1 33.3, not surely above 25.0 for always answering a: its S and C say nothing."
    assert shares_line(lucky.to_dict(), "It") == line
    assert lucky.is_hollow
    assert scores_from_dict(lucky.to_dict()).is_hollow
    assert not score(steady(truth[:9] + [0] * 3, truth)).is_hollow


def test_without_labels_there_are_the_shares_of_the_answers_and_of_other_answers_none() -> None:
    unlabelled = replace(NEARLY_YES, samples=tuple(replace(sample, label=None) for sample in NEARLY_YES.samples))
    assert answer_shares(unlabelled) == AnswerShares({"n": 1 / 8, "y": 7 / 8, "N/A": 0})
    assert shares_line({"answer_shares": {"no": 1 / 8, "yes": 7 / 8}}) == "", "seven in eight may well be yes"
    assert shares_line({"answer_shares": {"no": 0.05, "yes": 0.95}}) == "The prompt answers yes to 95 % of the texts."
    on_a_scale = replace(NEARLY_YES, answers=AnswerType((0.0, 1.0)))
    assert answer_shares(on_a_scale) is None
    assert answer_shares(replace(NEARLY_YES, metric_scores=np.ones((4, 2)))) is None
    assert "answer_shares" not in score(on_a_scale).to_dict()


@given(st.data())
def test_the_order_of_samples_changes_nothing(data: st.DataObject) -> None:
    n, n_wordings = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 3), min_size=n_wordings, max_size=n_wordings)
    rows = data.draw(st.lists(row, min_size=n, max_size=n))
    truth = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    drawn = grid(rows, truth, "abc")
    shares, moved = (
        answer_shares(drawn),
        answer_shares(drawn.of_samples(np.array(data.draw(st.permutations(range(n)))))),
    )
    assert (moved.near_constant, moved.constant_f1) == (shares.near_constant, shares.constant_f1)
    assert moved.answer_shares == pytest.approx(shares.answer_shares)
    assert moved.class_shares == shares.class_shares
