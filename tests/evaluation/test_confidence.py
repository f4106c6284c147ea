"""How sure the model was of open answers, and how much the likelihood of labels changes: against hand-worked cases."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psopt.answers import AnswerType, code_of
from psopt.evaluation import Predictions, beside_quality_line, score
from psopt.tasks import AnswerSpec, Sample

UNKNOWN = math.nan


def numbers(answers: list[list[str]], confidence: Any) -> Predictions:
    """Answers to samples that are all to be 1."""
    samples = tuple(Sample(str(place), f"text {place}", "1") for place in range(len(answers)))
    array = np.array([[code_of(answer) for answer in row] for row in answers])
    told = None if confidence is None else np.array(confidence)
    return Predictions(array, samples, (), answers=AnswerType(spec=AnswerSpec.read("test", "number")), confidence=told)


def measures(predictions: Predictions) -> dict[str, float | None]:
    found = score(predictions).open
    assert found is not None
    return found.measures


def labels(probabilities: Any) -> Predictions:
    """Samples of a, of which probabilities of a, b and N/A are known."""
    shares = np.array(probabilities, dtype=np.float64)
    samples = tuple(Sample(str(place), f"text {place}", "a") for place in range(len(shares)))
    return Predictions(shares.argmax(axis=2), samples, ("a", "b"), shares)


# S is 0 of the first sample, ln 2 / ln 2 = 1 of the others.
GRID = [["1", "1"], ["1", "2"], ["1", "3"]]


def test_confidence_is_the_mean_over_the_answers_of_which_it_is_known() -> None:
    found = measures(numbers(GRID, [[0.9, 0.8], [0.5, UNKNOWN], [0.2, 0.1]]))
    assert found["confidence"] == pytest.approx((0.9 + 0.8 + 0.5 + 0.2 + 0.1) / 5)


def test_confidence_against_s_is_spearman_s_rank_correlation() -> None:
    """Confidence has ranks 3, 2, 1 and S has 1, 2.5, 2.5: covariance -1.5, variances 2 and 1.5, so -1.5/sqrt 3."""
    found = measures(numbers(GRID, [[0.9, 0.8], [0.5, UNKNOWN], [0.2, 0.1]]))
    assert found["confidence against S"] == pytest.approx(-1.5 / math.sqrt(3))


def test_samples_of_which_nothing_is_known_do_not_count() -> None:
    found = measures(numbers(GRID, [[0.9, 0.8], [UNKNOWN, UNKNOWN], [0.95, 0.95]]))
    assert found["confidence against S"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("grid", "confidence"),
    [
        (GRID, [[0.6, 0.6]] * 3),
        (GRID, [[0.1, 0.2], [0.2, 0.1], [0.15, 0.15]]),  # means that are equal but for rounding
        ([["1", "1"]] * 3, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]),
        (GRID[:1], [[0.1, 0.2]]),
    ],
)
def test_what_does_not_vary_has_no_correlation(grid: list[list[str]], confidence: Any) -> None:
    assert measures(numbers(grid, confidence))["confidence against S"] is None


def test_where_nothing_is_known_there_is_no_mean() -> None:
    found = measures(numbers(GRID, [[UNKNOWN, UNKNOWN]] * 3))
    assert found["confidence"] is None
    assert found["confidence against S"] is None


def test_where_nobody_asked_there_is_no_such_measure() -> None:
    assert "confidence" not in measures(numbers(GRID, None))


def test_confidence_changes_neither_quality_nor_s() -> None:
    with_confidence = score(numbers(GRID, [[0.9, 0.8], [0.5, 0.4], [0.2, 0.1]]), intervals=True)
    without = score(numbers(GRID, None), intervals=True)
    assert replace(with_confidence, open=None) == replace(without, open=None)


def test_confidence_goes_with_its_rephrasings() -> None:
    one = numbers(GRID, [[0.9, 0.8], [0.5, 0.4], [0.2, 0.1]]).under([1])
    assert measures(one)["confidence"] == pytest.approx((0.8 + 0.4 + 0.1) / 3)


def test_the_line_says_a_share_and_a_correlation() -> None:
    found = score(numbers(GRID, [[0.9, 0.8], [0.5, UNKNOWN], [0.2, 0.1]])).to_dict()
    line = beside_quality_line(json.loads(json.dumps(found)))
    assert line.endswith("confidence 50.0 %, confidence against S -0.87")


def test_posix_is_of_the_labels_that_were_most_probable() -> None:
    """One sample: a with .8 under the first wording, b with .6 under the second.

    Pair (2, 1) changes the likelihood of a from .8 to .4, pair (1, 2) that of b from .6 to .2: ln 2 and ln 3, over 2.
    """
    found = labels([[[0.8, 0.2, 0.0], [0.4, 0.6, 0.0]]])
    assert score(found).posix == pytest.approx((math.log(2) + math.log(3)) / 2)
    assert beside_quality_line(score(found).to_dict()) == (
        "PSS 100.0, largest class: a (100 % of the samples), POSIX 0.90 nats"
    )


def test_a_label_that_a_wording_rules_out_counts_as_one_in_a_billion() -> None:
    found = labels([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    assert score(found).posix == pytest.approx(9 * math.log(10))


def test_probabilities_that_sum_to_a_little_more_than_one_have_a_posix() -> None:
    assert score(labels([[[1 + 1e-12, 0.0, 0.0]] * 2])).posix == 0.0


def test_posix_is_of_probabilities_under_several_wordings() -> None:
    found = labels([[[0.8, 0.2, 0.0], [0.4, 0.6, 0.0]]])
    assert score(replace(found, probabilities=None)).posix is None
    assert score(found.under([0])).pss is None
    assert score(found.under([0])).posix is None
    assert "posix" not in score(found.under([0])).to_dict()


def test_posix_is_in_what_is_written_and_older_files_are_shown_without() -> None:
    written = json.loads(json.dumps(score(labels([[[0.8, 0.2, 0.0], [0.4, 0.6, 0.0]]])).to_dict()))
    assert written["posix"] == pytest.approx((math.log(2) + math.log(3)) / 2)
    older = {name: value for name, value in written.items() if name not in {"posix", "pss"}}
    assert beside_quality_line(older) == "largest class: a (100 % of the samples)"
    assert "POSIX" not in beside_quality_line(older, written)
