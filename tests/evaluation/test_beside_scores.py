"""What stands beside F1, S and C: unread answers, confidence, the order of labels, and how often each is answered."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psopt.answers import AnswerType, NoLabel, code_of
from psopt.evaluation import (
    AnswerShares,
    Predictions,
    answer_shares,
    beside_quality_line,
    compare_paired,
    na_lines,
    readable_sensitivity,
    score,
    scores_from_dict,
    shares_line,
)
from psopt.metrics import mean_interval, sensitivity
from psopt.tasks import AnswerSpec, Sample
from sklearn.metrics import cohen_kappa_score

from tests.evaluation.grids import grid
from tests.sweeps import each

NA = 2
SHAKING = np.array([[0, NA, 0, NA], [1, 1, NA, NA], [0, 1, NA, 0], [NA, NA, NA, 1]])


def with_unread(array: np.ndarray) -> Predictions:
    missed = tuple(NoLabel(int(row), int(column), "no JSON", "I'd say a") for row, column in np.argwhere(array == NA))
    return grid(array, [0, 1, 0, 1], no_labels=missed)


def test_with_several_models_kinds_of_n_a_are_of_the_model_with_most_and_it_is_named() -> None:
    first = grid([[0, 1]], [0], model="one")
    scores = score(replace(first, others=(replace(with_unread(SHAKING).of_samples(np.array([0])), model="two"),)))
    assert (scores.na_rate, scores.na_kinds) == (0.5, {"no JSON": 2})
    assert na_lines(scores.to_dict())[0].startswith("S is unreliable: 50 % of the answers of the worst model name no")


def test_it_is_the_entropy_of_readable_answers_over_samples_with_two_of_them() -> None:
    third = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)) / math.log(3)
    assert readable_sensitivity(with_unread(SHAKING)) == pytest.approx((0 + 0 + third) / 3)
    scores = score(with_unread(SHAKING))
    assert scores.sensitivity_readable == pytest.approx(third / 3)
    assert scores.sensitivity > 2 * third / 3
    assert scores.to_dict()["sensitivity_readable"] == scores.sensitivity_readable
    # probabilities count as they are
    soft = dataclasses.replace(with_unread(SHAKING), probabilities=np.eye(3)[SHAKING])
    assert readable_sensitivity(soft) == pytest.approx((0 + 0 + third) / 3)


@each("array", [[[0, 1], [1, 1], [0, 0], [0, 1]], [[NA, NA]] * 4, [[0, NA], [1, NA], [NA, 0], [NA, NA]]])
def test_it_is_not_said_where_all_none_or_one_answer_of_each_sample_is_read(array: Any) -> None:
    scores = score(with_unread(np.array(array)))
    assert scores.sensitivity_readable is None
    assert "sensitivity_readable" not in scores.to_dict()
    assert not any("S among" in line for line in na_lines(scores.to_dict()))


def test_screens_and_reports_say_it_with_an_answer_of_each_kind() -> None:
    scores = score(with_unread(SHAKING))
    told = na_lines(scores.to_dict())
    assert told[0].startswith("S is unreliable: 50 % of the answers name no label (8 no JSON); say in the prompt")
    s, readable = (f"{100 * value:.1f} %" for value in (scores.sensitivity, scores.sensitivity_readable or 0))
    assert told[1:] == [
        f"S among the answers that were read: {readable}, in place of {s}",
        'N/A, no JSON: 8, such as "I\'d say a"',
    ]


UNKNOWN = math.nan


def numbers(answers: list[list[str]], confidence: Any) -> Predictions:
    """Answers to samples that are all to be 1."""
    samples = tuple(Sample(str(place), f"text {place}", "1") for place in range(len(answers)))
    array = np.array([[code_of(answer) for answer in row] for row in answers])
    told = None if confidence is None else np.array(confidence)
    return Predictions(array, samples, (), answers=AnswerType(spec=AnswerSpec.read("test", "number")), confidence=told)


def labels(probabilities: Any) -> Predictions:
    """Samples of a, of which probabilities of a, b and N/A are known."""
    shares = np.array(probabilities, dtype=np.float64)
    return grid(shares.argmax(axis=2), [0] * len(shares), probabilities=shares)


# S is 0 of the first sample, ln 2 / ln 2 = 1 of the others.
GRID = [["1", "1"], ["1", "2"], ["1", "3"]]
TOLD = [[0.9, 0.8], [0.5, UNKNOWN], [0.2, 0.1]]


@each(
    "rows, confidence, mean, against_s",
    [
        # confidence has ranks 3, 2, 1 and S has 1, 2.5, 2.5: covariance -1.5, variances 2 and 1.5, so -1.5/sqrt 3
        (GRID, TOLD, (0.9 + 0.8 + 0.5 + 0.2 + 0.1) / 5, -1.5 / math.sqrt(3)),
        # samples of which nothing is known do not count
        (GRID, [[0.9, 0.8], [UNKNOWN, UNKNOWN], [0.95, 0.95]], 0.9, 1.0),
        # what does not vary has no correlation, nor has what varies by rounding alone
        (GRID, [[0.6, 0.6]] * 3, 0.6, None),
        (GRID, [[0.1, 0.2], [0.2, 0.1], [0.15, 0.15]], 0.15, None),
        (GRID[:1], [[0.1, 0.2]], 0.15, None),
        (GRID, [[UNKNOWN, UNKNOWN]] * 3, None, None),
    ],
)
def test_confidence_is_a_mean_and_stands_against_s_by_spearman_s_rank_correlation(
    rows: list[list[str]], confidence: Any, mean: float | None, against_s: float | None
) -> None:
    found = score(numbers(rows, confidence)).open.measures
    assert found["confidence"] == pytest.approx(mean)
    assert found["confidence against S"] == pytest.approx(against_s)


def test_confidence_changes_neither_quality_nor_s_and_where_nobody_asked_there_is_none() -> None:
    with_confidence, without = (score(numbers(GRID, told), intervals=True) for told in (TOLD, None))
    assert replace(with_confidence, open=None) == replace(without, open=None)
    assert "confidence" not in without.open.measures
    line = beside_quality_line(json.loads(json.dumps(with_confidence.to_dict())))
    assert line.endswith("confidence 50.0 %, confidence against S -0.87")
    one = numbers(GRID, [[0.9, 0.8], [0.5, 0.4], [0.2, 0.1]]).under([1])
    assert score(one).open.measures["confidence"] == pytest.approx((0.8 + 0.4 + 0.1) / 3)


def test_posix_is_of_the_labels_that_were_most_probable() -> None:
    """One sample: a with .8 under the first wording, b with .6 under the second.

    Pair (2, 1) changes the likelihood of a from .8 to .4, pair (1, 2) that of b from .6 to .2: ln 2 and ln 3, over 2.
    """
    found = labels([[[0.8, 0.2, 0.0], [0.4, 0.6, 0.0]]])
    written = json.loads(json.dumps(score(found).to_dict()))
    assert written["posix"] == score(found).posix == pytest.approx((math.log(2) + math.log(3)) / 2)
    assert beside_quality_line(written) == "PSS 100.0, largest class: a (100 % of the samples), POSIX 0.90 nats"
    # older files are shown without
    older = {name: value for name, value in written.items() if name not in {"posix", "pss"}}
    assert beside_quality_line(older) == "largest class: a (100 % of the samples)"
    assert "POSIX" not in beside_quality_line(older, written)
    # it is of probabilities under several wordings
    assert score(replace(found, probabilities=None)).posix is None
    one = score(found.under([0]))
    assert (one.pss, one.posix) == (None, None)
    assert "posix" not in one.to_dict()


def test_likelihoods_of_nought_and_of_a_little_more_than_one_have_a_posix() -> None:
    # a label that a wording rules out counts as one in a billion
    assert score(labels([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])).posix == pytest.approx(9 * math.log(10))
    assert score(labels([[[1 + 1e-12, 0.0, 0.0]] * 2])).posix == 0.0


ORDERED = AnswerType((1.0, 2.0, 3.0, 4.0, 5.0))


def ordered(array: Any, truth: list[int]) -> Predictions:
    return grid(array, truth, "12345", answers=ORDERED)


@pytest.fixture
def drawn() -> Predictions:
    draws = np.random.default_rng(1)
    truth = draws.integers(5, size=80)
    array = np.clip(truth[:, None] + draws.integers(-1, 3, size=(80, 6)), 0, 5)
    return ordered(array, truth.tolist())


def test_closeness_by_hand_on_a_scale_that_may_be_uneven() -> None:
    # 0, 1, 4 steps of 4 away, and N/A
    scores = score(ordered([[0, 1, 4, 5]], [0]))
    assert scores.f1 == pytest.approx((1 + 0.75 + 0 + 0) / 4)
    assert scores.quality_name == "closeness"
    assert scores.ordinal.micro_f1 == 0.25
    assert scores.ordinal.mean_distance == pytest.approx((0 + 1 + 4) / 3)
    uneven = replace(ordered([[1, 2]], [0]), answers=AnswerType((0.0, 1.0, 2.0, 5.0, 10.0)))
    assert score(uneven).f1 == pytest.approx((0.9 + 0.8) / 2)
    assert score(ordered([[2, 2], [2, 2]], [2, 2])).ordinal.quadratic_kappa is None  # of one label


def test_beside_closeness_stand_f1_s_and_kappa_as_of_plain_labels(drawn: Predictions) -> None:
    scores, plain = score(drawn), score(replace(drawn, answers=AnswerType()))
    assert scores.ordinal.micro_f1 == plain.f1
    assert scores.ordinal.nominal_sensitivity == plain.sensitivity
    assert plain.ordinal is None
    assert "ordinal" not in plain.to_dict()
    assert scores.sensitivity == pytest.approx(sensitivity(drawn.counts, similarity=ORDERED.similarity))
    assert scores.sensitivity < plain.sensitivity
    assert scores.consistency == plain.consistency
    is_read = drawn.array < 5
    truth = np.broadcast_to(drawn.truth[:, None], drawn.array.shape)
    expected = cohen_kappa_score(truth[is_read], drawn.array[is_read], weights="quadratic")
    assert scores.ordinal.quadratic_kappa == pytest.approx(expected)


def test_intervals_and_tests_are_those_of_closeness(drawn: Predictions) -> None:
    scores = score(drawn, intervals=True)
    assert drawn.quality is not None
    assert scores.ci["f1"] == pytest.approx(mean_interval(drawn.quality).bounds)
    low, high = scores.ci["sensitivity"]
    assert low < scores.sensitivity < high
    better = replace(drawn, array=np.broadcast_to(drawn.truth[:, None], drawn.array.shape))
    paired = compare_paired(drawn, better)
    assert paired["f1"].difference == pytest.approx(1 - scores.f1)
    assert paired["sensitivity"].difference == pytest.approx(-scores.sensitivity)
    assert paired["f1"].p_value < 0.01


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


@each(
    "answered, near_constant, line",
    [
        # no to 92 %; 90 % are: a prompt that does its task is none however rare a class is
        (steady([0] * 90 + [1] * 8 + [0] * 2, RARE, "ab"), None, ""),
        # a rare class found in part, a lopsidedness of 26/50, is no constant answer once that is sure
        (steady([0] * 450 + [1] * 24 + [0] * 26, [0] * 450 + [1] * 50, "ab"), None, None),
        # every eighth is answered rightly and the rest with "a": surely above a constant answer, by 10 of 67 points
        (steady(EVERY_EIGHTH, [0, 1, 2] * 40, "abc"), "a", None),
        # (50/80 - 1/4) / (3/4) = 1/2 is just as much, and 62.5 gain half of the 75 that a constant answer leaves
        (steady([0] * 50 + [2] * 10 + [3] * 20, FOUR), None, "It answers a to 62 % of the texts, and 25 % are a."),
        # a guess is not constant though no better
        (
            steady([place // 2 % 2 for place in range(100)], [0, 1] * 50, "ab"),
            None,
            "It has F1 50.0, not above 50.0 for always answering a: its S and C say nothing.",
        ),
        (steady([0] * 100, RARE, "ab"), "a", None),
        # of ordered labels 3 is best: (.5 + .75 + 1 + .75 + .5) / 5; 1 is worth (1 + .75 + .5 + .25 + 0) / 5
        (
            ordered([[0] * 3] * 40, [*range(5)] * 8),
            "1",
            "It answers 1 to 100 % of the texts, and 20 % are 1. "
            "Its closeness is 50.0, and 70.0 for the best constant answer: its S and C say nothing.",
        ),
        # the two ends, whatever is right: by both (1 + .75 + .5 + .25 + 0) / 5
        (
            ordered([[0] * 3] * 25 + [[4] * 3] * 25, [*range(5)] * 10),
            None,
            "It has closeness 50.0, not above 70.0 for the best constant answer: its S and C say nothing.",
        ),
        # one step too high, which plain labels would count as wrong
        (ordered([[min(place % 5 + 1, 4)] * 3 for place in range(100)], [*range(5)] * 20), None, ""),
    ],
)
def test_a_prompt_is_nearly_constant_where_one_label_saves_it(
    answered: Predictions, near_constant: str | None, line: str | None
) -> None:
    assert score(answered).near_constant == near_constant
    assert line is None or shares_line(score(answered).to_dict(), "It") == line
