"""S of reruns beside S: hand-made grids of answers."""

from __future__ import annotations

import numpy as np
import pytest
from psopt.evaluation import Predictions, compare_reruns, family_scores, flipped, no_reruns
from psopt.tasks import Sample


def answers(rows: list[list[int]], **more: object) -> Predictions:
    samples = tuple(Sample(str(number), f"text {number}", None) for number in range(len(rows)))
    return Predictions(np.array(rows), samples, ("a", "b"), **more)  # type: ignore[arg-type]


HALVES = [[0, 1, 0, 1]] * 10  # entropy ln 2 of ln 3
SAME = [[0, 0, 0, 0]] * 10


def test_what_is_beyond_reruns_is_the_difference_of_the_two_s() -> None:
    half = np.log(2) / np.log(3)
    found = compare_reruns(answers(HALVES), answers(HALVES[:5] + SAME[:5]))
    assert (found.sensitivity, found.beyond) == pytest.approx((half / 2, half / 2))
    assert found.ci[0] < half / 2 < found.ci[1]
    assert (found.n_samples, found.n_askings, found.changes) == (10, 4, True)
    less = compare_reruns(answers(SAME), answers(HALVES))
    assert less.beyond == pytest.approx(-half)
    assert "nothing beyond that" in less.line(0.0)


def test_where_no_answer_changes_all_of_s_is_beyond() -> None:
    found = no_reruns(answers(HALVES), 60)
    assert (found.sensitivity, found.changes) == (0.0, False)
    assert found.beyond == pytest.approx(np.log(2) / np.log(3))
    assert found.line(0.63).endswith("60 samples asked twice got the same answers, so fewer than 5 % change (95 %).")


def test_a_probe_sees_one_answer_that_changes() -> None:
    assert not flipped(answers(SAME)).any()
    assert flipped(answers([*SAME, [0, 0, 1, 0]])).any()


def test_a_family_of_texts_is_compared_with_the_unchanged_text() -> None:
    families = ("unchanged", "typos", "typos", "case")
    found = family_scores(answers([[0, 1, 1, 0], [0, 1, 0, 0]], families=families))
    assert found["typos"].flips == 0.75
    # of the first sample a, b, b and of the second a, b, a: entropy of (1/3, 2/3)
    assert found["typos"].sensitivity == pytest.approx((np.log(3) - 2 / 3 * np.log(2)) / np.log(3))
    assert (found["case"].flips, found["case"].sensitivity, found["case"].f1) == (0.0, 0.0, None)
    assert (found["unchanged"].n, found["unchanged"].flips) == (1, None)
