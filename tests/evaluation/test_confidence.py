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

from tests.evaluation.grids import grid

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


@pytest.mark.parametrize(
    ("grid", "confidence", "mean", "against_s"),
    [
        # confidence has ranks 3, 2, 1 and S has 1, 2.5, 2.5: covariance -1.5, variances 2 and 1.5, so -1.5/sqrt 3
        (GRID, TOLD, (0.9 + 0.8 + 0.5 + 0.2 + 0.1) / 5, -1.5 / math.sqrt(3)),
        # samples of which nothing is known do not count
        (GRID, [[0.9, 0.8], [UNKNOWN, UNKNOWN], [0.95, 0.95]], 0.9, 1.0),
        # what does not vary has no correlation, nor has what varies by rounding alone
        (GRID, [[0.6, 0.6]] * 3, 0.6, None),
        (GRID, [[0.1, 0.2], [0.2, 0.1], [0.15, 0.15]], 0.15, None),
        ([["1", "1"]] * 3, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], 0.35, None),
        (GRID[:1], [[0.1, 0.2]], 0.15, None),
        (GRID, [[UNKNOWN, UNKNOWN]] * 3, None, None),
    ],
)
def test_confidence_is_a_mean_and_stands_against_s_by_spearman_s_rank_correlation(
    grid: list[list[str]], confidence: Any, mean: float | None, against_s: float | None
) -> None:
    found = score(numbers(grid, confidence)).open.measures
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
