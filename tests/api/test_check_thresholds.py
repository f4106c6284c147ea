"""Bounds: which figure must keep to them, and what is said beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.api import check
from psopt.api._thresholds import thresholds
from psopt.errors import InputError
from psopt.evaluation import Predictions, note_size, score
from psopt.tasks import Sample, Task

LABELS = ("a", "b")
RECORDS = [{"text": f"text {number}", "label": LABELS[number % 2]} for number in range(60)]


def scores_of(n_rephrasings: int = 6) -> Any:
    """Three of four answers are right."""
    samples = tuple(Sample(str(number), record["text"], record["label"]) for number, record in enumerate(RECORDS))
    truth = np.array([LABELS.index(record["label"]) for record in RECORDS])
    is_right = np.random.default_rng(0).random((60, n_rephrasings)) < 0.75
    array = np.where(is_right, truth[:, None], 1 - truth[:, None])
    return score(Predictions(array, samples, LABELS), intervals=True)


def test_the_bad_end_is_harder_and_the_good_end_easier_than_the_estimate() -> None:
    scores = scores_of()
    for option, name in (("min_f1", "f1"), ("max_sensitivity", "sensitivity"), ("max_na_rate", "na_rate")):
        low, high = scores.ci[name]
        is_most = option.startswith("max")
        bad, good = (high, low) if is_most else (low, high)
        just_kept = {option: getattr(scores, name)}
        assert thresholds(scores, just_kept)[0].met
        assert not thresholds(scores, just_kept, end="bad")[0].met
        assert thresholds(scores, {option: bad}, end="bad")[0].met
        assert thresholds(scores, {option: good}, end="good")[0].met
        beyond = good - 0.001 if is_most else good + 0.001
        assert not thresholds(scores, {option: beyond}, end="good")[0].met


def test_each_bound_is_said_with_its_interval_and_size() -> None:
    scores = scores_of()
    line = str(thresholds(scores, {"min_f1": 0.5})[0])
    low, high = scores.ci["f1"]
    assert (
        line
        == f"ok: F1 {100 * scores.f1:.1f} >= 50 (95 %: {100 * low:.1f} to {100 * high:.1f}, 60 samples x 6 wordings)"
    )
    sure = str(thresholds(scores, {"min_f1": 0.9}, end="bad")[0])
    assert sure.startswith(f"missed: F1 {100 * low:.1f} < 90 (95 % of {100 * scores.f1:.1f}: ")


def test_s_from_one_wording_is_refused() -> None:
    with pytest.raises(InputError, match=r"one wording.*--rephrasings 2"):
        thresholds(scores_of(n_rephrasings=1), {"max_sensitivity": 0.5})
    task = Task.from_records(RECORDS, name="letters")
    with pytest.raises(InputError, match="S can't be checked under one wording"):
        check(task, model="sim", max_sensitivity=0.001, use_ci_bound=True, rephrasings=1)
    with pytest.raises(InputError, match="give one"):
        check(task, model="sim", max_sensitivity=0.001, use_ci_bound=True, alarm=True)


def test_the_size_is_said_with_what_s_would_be_under_ever_more_wordings() -> None:
    scores = scores_of()
    assert scores.sensitivity_limit > scores.sensitivity
    said = note_size(scores)
    assert said.startswith("60 samples x 6 wordings. S is ")
    assert f"about {100 * scores.sensitivity_limit:.1f} extrapolated to many more. 95 % intervals cover" in said
    assert note_size(scores_of(n_rephrasings=1)) == (
        "60 samples x 1 wording. 95 % intervals cover the sampling of texts alone: one wording tells nothing of S."
    )


def test_c_without_self_pairs_stands_beside_c() -> None:
    """With them, 60 of 2 * 30 * 30 pairs are of a sample with itself, and fully alike."""
    scores = scores_of()
    assert scores.consistency == pytest.approx((1740 * scores.consistency_no_self_pairs + 60) / 1800)
