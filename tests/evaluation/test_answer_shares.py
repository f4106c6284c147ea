"""How often each label is answered, and whether one is answered to nearly everything, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.answers import AnswerType
from psopt.evaluation import AnswerShares, Predictions, answer_shares, score, scores_from_dict, shares_line
from psopt.tasks import Sample


def predictions(array: list[list[int]], truth: list[int], labels: tuple[str, ...] = ("no", "yes")) -> Predictions:
    samples = tuple(Sample(f"s{place}", "text", labels[label]) for place, label in enumerate(truth))
    return Predictions(np.array(array), samples, labels)


# Four samples, of which one is a yes, under two wordings: 7 of 8 answers are yes, and 3 of 8 right.
NEARLY_YES = predictions([[1, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 0, 1])


def test_shares_and_the_constant_answer_of_two_classes() -> None:
    shares = answer_shares(NEARLY_YES)
    assert shares == AnswerShares(
        answer_shares={"no": 1 / 8, "yes": 7 / 8, "N/A": 0},
        class_shares={"no": 3 / 4, "yes": 1 / 4},
        constant_f1=3 / 4,  # that of always "no"
        near_constant="yes",  # (7/8 - 1/4) / (3/4) = 5/6 is more than half, and 3/8 gains nothing over 3/4
        is_guess=True,
    )
    assert score(NEARLY_YES).f1 == 3 / 8
    assert shares_line(score(NEARLY_YES).to_dict()) == (
        "The prompt answers yes to 88 % of the texts; 25 % are. "
        "Its F1 is 37.5, and 75.0 for always answering no: its S and C say nothing."
    )


def test_a_prompt_that_does_its_task_is_none_however_rare_a_class_is() -> None:
    truth = [0] * 90 + [1] * 10
    finds_most = predictions([[label] * 3 for label in [0] * 90 + [1] * 8 + [0] * 2], truth)  # no to 92 %; 90 % are
    finds_none = predictions([[0] * 3] * 100, truth)
    assert score(finds_most).near_constant is None
    assert shares_line(score(finds_most).to_dict()) == ""
    assert score(finds_none).near_constant == score(finds_none).constant == "no"


def test_a_guess_is_not_constant_though_no_better() -> None:
    truth = [0, 1] * 50
    guessed = predictions([[place // 2 % 2] * 2 for place in range(100)], truth)
    assert score(guessed).f1 == 0.5 == score(guessed).to_dict()["constant_f1"]
    assert score(guessed).near_constant is None
    line = "It has F1 50.0, not above 50.0 for always answering no: its S and C say nothing."
    assert shares_line(score(guessed).to_dict(), "It") == line


def test_one_answer_more_than_a_constant_has_is_a_guess_still() -> None:
    """Met on SmolLM2: F1 29 on 12 samples where a constant answer has 25; its S barred prompts with twice the F1."""
    truth = [0, 1, 2, 3] * 3
    lucky = predictions([[label] * 2 for label in [0, 1, 2, 3, *[1, 2, 3, 0] * 2]], truth, ("a", "b", "c", "d"))
    line = "It has F1 33.3, not surely above 25.0 for always answering a: its S and C say nothing."
    assert shares_line(score(lucky).to_dict(), "It") == line
    assert score(lucky).is_hollow
    often = predictions([[label] * 2 for label in truth[:9] + [0] * 3], truth, ("a", "b", "c", "d"))
    assert not score(often).is_hollow
    assert scores_from_dict(score(lucky).to_dict()).is_hollow


def test_a_rare_class_found_in_part_is_no_constant_answer_once_that_is_sure() -> None:
    truth = [0] * 450 + [1] * 50
    finds_less_than_half = [[label] * 3 for label in [0] * 450 + [1] * 24 + [0] * 26]  # a lopsidedness of 26/50
    assert score(predictions(finds_less_than_half, truth)).near_constant is None


def test_answers_that_differ_and_are_right_save_nothing_where_they_are_few() -> None:
    truth = [0, 1, 2] * 40
    # every eighth is answered rightly and the rest with "a": surely above a constant answer, by 10 of 67 points
    rarely = [[label if place % 8 == 0 else 0] * 3 for place, label in enumerate(truth)]
    assert score(predictions(rarely, truth, ("a", "b", "c"))).near_constant == "a"


def test_one_label_to_most_texts_is_said_where_f1_is_well_above_too() -> None:
    truth = [0] * 20 + [1] * 20 + [2] * 20 + [3] * 20
    # (50/80 - 1/4) / (3/4) = 1/2 is just as much, and 62.5 gain half of the 75 that a constant answer leaves
    said = [0] * 20 + [0] * 20 + [0] * 10 + [2] * 10 + [3] * 20
    lopsided = predictions([[label] * 3 for label in said], truth, ("a", "b", "c", "d"))
    assert score(lopsided).near_constant is None
    assert shares_line(score(lopsided).to_dict(), "It") == "It answers a to 62 % of the texts; 25 % are."


def test_without_labels_there_are_the_shares_of_the_answers() -> None:
    unlabelled = replace(NEARLY_YES, samples=tuple(replace(sample, label=None) for sample in NEARLY_YES.samples))
    assert answer_shares(unlabelled) == AnswerShares({"no": 1 / 8, "yes": 7 / 8, "N/A": 0})
    assert shares_line({"answer_shares": {"no": 1 / 8, "yes": 7 / 8}}) == "", "seven in eight may well be yes"
    assert shares_line({"answer_shares": {"no": 0.05, "yes": 0.95}}) == "The prompt answers yes to 95 % of the texts."


def test_other_answers_than_single_labels_have_none() -> None:
    assert answer_shares(replace(NEARLY_YES, answers=AnswerType((0.0, 1.0)))) is None
    assert answer_shares(replace(NEARLY_YES, metric_scores=np.ones((4, 2)))) is None
    assert "answer_shares" not in score(replace(NEARLY_YES, answers=AnswerType((0.0, 1.0)))).to_dict()


def test_they_are_kept_beside_the_scores() -> None:
    scores = score(NEARLY_YES)
    data = scores.to_dict()
    assert (data["near_constant"], data["constant_f1"], data["class_shares"]["no"]) == ("yes", 0.75, 0.75)
    assert scores_from_dict(data).shares == scores.shares
    assert scores_from_dict({name: data[name] for name in data if name != "answer_shares"}).shares is None


@given(st.data())
def test_the_order_of_samples_changes_nothing(data: st.DataObject) -> None:
    n, n_wordings = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 4))
    rows = data.draw(
        st.lists(st.lists(st.integers(0, 3), min_size=n_wordings, max_size=n_wordings), min_size=n, max_size=n)
    )
    truth = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    drawn = predictions(rows, truth, ("a", "b", "c"))
    shares, moved = answer_shares(drawn), answer_shares(drawn.of_samples(np.array(order)))
    assert shares is not None
    assert moved is not None
    assert moved.near_constant == shares.near_constant
    assert moved.constant_f1 == shares.constant_f1
    assert moved.answer_shares == pytest.approx(shares.answer_shares)
    assert moved.class_shares == shares.class_shares
