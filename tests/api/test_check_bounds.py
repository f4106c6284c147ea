"""Bounds: which figure must keep to them, of each class and sample too, and what is said beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import psopt
import pytest
from psopt.api._thresholds import each_threshold, thresholds
from psopt.errors import InputError
from psopt.evaluation import Predictions, note_size, score
from psopt.tasks import Sample, Task

LABELS = ("a", "b", "never")
RIGHT_OF_TEN = [10, 9, 8, 7, 0, 10, 10, 10]  # of each sample, how many of ten answers are right


def predictions() -> Predictions:
    """Samples s0, s1, .. in turn of a and of b, each answered rightly under so many of ten wordings."""
    truth = np.arange(len(RIGHT_OF_TEN)) % 2
    is_right = np.arange(10) < np.array(RIGHT_OF_TEN)[:, None]
    samples = tuple(Sample(f"s{number}", "text", LABELS[label]) for number, label in enumerate(truth))
    return Predictions(np.where(is_right, truth[:, None], 1 - truth[:, None]), samples, LABELS)


def test_every_class_that_occurs_has_a_bound_of_its_own() -> None:
    """a: 28 of 40 right and 4 of b's taken for it, 56 / (56 + 12 + 4); b: 36 right, 72 / (72 + 4 + 12)."""
    scores = score(predictions(), intervals=True)
    a, b = thresholds(scores, {"min_class_f1": 0.8})
    assert (a.label, a.met) == ("a", False)
    assert a.value == pytest.approx(56 / 72)
    assert (b.label, b.met) == ("b", True)
    assert b.value == pytest.approx(72 / 88)
    assert str(a).startswith("missed: F1 of a 77.8 < 80 (95 %: ")
    (only,) = thresholds(scores, {"min_class_f1": {"a": 0.7}})
    assert only.met


def test_macro_f1_is_held_by_its_interval_too() -> None:
    scores = score(predictions(), intervals=True)
    assert scores.macro_f1 == pytest.approx((56 / 72 + 72 / 88) / 2)
    low, high = scores.ci["macro_f1"]
    assert thresholds(scores, {"min_macro_f1": 0.79})[0].met
    assert [thresholds(scores, {"min_macro_f1": 0.79}, end=end)[0].value for end in ("bad", "good")] == [low, high]


def test_a_class_without_a_sample_has_no_f1() -> None:
    with pytest.raises(InputError, match="'never' has no F1, for no sample has this label") as raised:
        thresholds(score(predictions()), {"min_class_f1": {"never": 0.5}})
    assert "\n" not in str(raised.value)


def test_samples_that_lose_their_right_answer_are_named_the_worst_first() -> None:
    held = each_threshold(predictions(), 0.8, 1.0)
    assert (held.met, held.value) == (False, 6 / 8)
    assert [(sample.id, sample.right) for sample in held.failing] == [("s4", 0.0), ("s3", 0.7)]
    assert str(held).startswith("missed: samples right under 80 % of wordings 75.0 < 100 (95 %: ")
    assert str(held).endswith("8 samples x 10 wordings): s4, s3")
    assert each_threshold(predictions(), 0.8, 0.75).met
    assert each_threshold(predictions(), 1.0, 0.5).met
    assert not each_threshold(predictions(), 1.0, 0.51).met


def test_the_ends_of_the_share_are_asked_as_of_other_bounds() -> None:
    estimate = each_threshold(predictions(), 0.8, 0.75)
    low, high = estimate.interval or (0, 0)
    assert low < 0.75 < high
    assert not each_threshold(predictions(), 0.8, 0.75, end="bad").met
    assert each_threshold(predictions(), 0.8, high, end="good").met


def test_ten_samples_at_most_are_named_in_a_line() -> None:
    truth = np.zeros(14, dtype=int)
    samples = tuple(Sample(f"s{number}", "text", "a") for number in range(14))
    held = each_threshold(Predictions(np.ones((14, 2), dtype=int), samples, LABELS), 0.5, 1.0)
    assert str(held).endswith(": s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 4 more")
    assert len(held.failing) == len(truth)


TASK = Task.from_records([{"text": f"text {n}", "label": "ab"[n % 2]} for n in range(60)], name="letters")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"min_class_f1": {"c": 0.5}}, "no label is called 'c'; there are a, b"),
        ({"min_each": 0.5}, "give --each too"),
        ({"each": 0.0}, "above 0 and at most 1"),
        ({"min_class_f1": {}}, "nothing to check"),
        ({}, r"nothing to check: .*--min-macro-f1, --min-class-f1, .*--each"),
    ],
)
def test_bounds_that_can_not_be_asked_are_said_before_a_model_is(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        psopt.check(TASK, model="openai/nobody-is-asked", **bounds)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("option", ["min_macro_f1", "min_class_f1", "min_consistency"])
def test_answers_without_classes_have_no_f1_of_them(option: str) -> None:
    numbers = Task.from_records([{"text": f"text {n}", "label": str(n)} for n in range(60)], answers="number")
    bounds: dict[str, Any] = {option: 0.5}
    with pytest.raises(InputError, match="leave --" + option.replace("_", "-") + " out"):
        psopt.check(numbers, model="openai/nobody-is-asked", **bounds)


def test_all_bounds_are_held_together() -> None:
    result = psopt.check(TASK, model="sim/accuracy=1,wobble=0,na=0", min_macro_f1=0.9, min_class_f1=0.9, each=0.9)
    assert result.met
    assert [threshold.option for threshold in result.thresholds] == ["min_macro_f1", *2 * ["min_class_f1"], "min_each"]


TWO = ("a", "b")
RECORDS = [{"text": f"text {number}", "label": TWO[number % 2]} for number in range(60)]


def scores_of(n_rephrasings: int = 6) -> Any:
    """Three of four answers are right."""
    samples = tuple(Sample(str(number), record["text"], record["label"]) for number, record in enumerate(RECORDS))
    truth = np.array([TWO.index(record["label"]) for record in RECORDS])
    is_right = np.random.default_rng(0).random((60, n_rephrasings)) < 0.75
    array = np.where(is_right, truth[:, None], 1 - truth[:, None])
    return score(Predictions(array, samples, TWO), intervals=True)


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
    task = Task.from_records(RECORDS, name="letters")
    with pytest.raises(InputError, match=r"S can't be checked under one wording.*--rephrasings 2"):
        psopt.check(task, model="sim", max_sensitivity=0.001, use_ci_bound=True, rephrasings=1)
    with pytest.raises(InputError, match="give one"):
        psopt.check(task, model="sim", max_sensitivity=0.001, use_ci_bound=True, alarm=True)


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
