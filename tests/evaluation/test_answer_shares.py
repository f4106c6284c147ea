"""How often each label is answered, and whether one is answered to nearly everything, by hand."""

from __future__ import annotations

import pytest
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
