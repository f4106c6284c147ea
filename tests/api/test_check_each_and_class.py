"""Bounds of macro-F1, of each class, and of each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import psopt
import pytest
from psopt.api._thresholds import each_threshold, thresholds
from psopt.errors import InputError
from psopt.evaluation import Predictions, score
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
