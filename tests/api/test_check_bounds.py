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

from tests.sweeps import each

LABELS = ("a", "b", "never")
RIGHT_OF_TEN = [10, 9, 8, 7, 0, 10, 10, 10]  # of each sample, how many of ten answers are right
TASK = Task.from_records([{"text": f"text {n}", "label": "ab"[n % 2]} for n in range(60)], name="letters")


def answered(right_of_ten: list[int], n_wordings: int = 10) -> Predictions:
    """Samples s0, s1, .. in turn of a and of b, each answered rightly under so many of ten wordings."""
    truth = np.arange(len(right_of_ten)) % 2
    is_right = np.arange(10) < np.array(right_of_ten)[:, None]
    samples = tuple(Sample(f"s{number}", "text", LABELS[label]) for number, label in enumerate(truth))
    array = np.where(is_right, truth[:, None], 1 - truth[:, None])
    return Predictions(array[:, :n_wordings], samples, LABELS)


PREDICTIONS = answered(RIGHT_OF_TEN)
SCORES: Any = score(PREDICTIONS, intervals=True)


def test_every_class_that_occurs_has_a_bound_of_its_own_and_so_has_macro_f1() -> None:
    """a: 28 of 40 right and 4 of b's taken for it, 56 / (56 + 12 + 4); b: 36 right, 72 / (72 + 4 + 12)."""
    a, b = thresholds(SCORES, {"min_class_f1": 0.8})
    assert [(one.label, one.met) for one in (a, b)] == [("a", False), ("b", True)]
    assert (a.value, b.value) == pytest.approx((56 / 72, 72 / 88))
    assert str(a).startswith("missed: F1 of a 77.8 < 80 (95 %: ")
    (only,) = thresholds(SCORES, {"min_class_f1": {"a": 0.7}})
    assert only.met
    with pytest.raises(InputError, match="'never' has no F1, for no sample has this label") as raised:
        thresholds(score(PREDICTIONS), {"min_class_f1": {"never": 0.5}})
    assert "\n" not in str(raised.value)
    assert SCORES.macro_f1 == pytest.approx((56 / 72 + 72 / 88) / 2)
    assert thresholds(SCORES, {"min_macro_f1": 0.79})[0].met
    ends = [thresholds(SCORES, {"min_macro_f1": 0.79}, end=end)[0].value for end in ("bad", "good")]
    assert ends == list(SCORES.ci["macro_f1"])


def test_samples_that_lose_their_right_answer_are_named_the_worst_first() -> None:
    held = each_threshold(PREDICTIONS, 0.8, 1.0)
    assert (held.met, held.value) == (False, 6 / 8)
    assert [(sample.id, sample.right) for sample in held.failing] == [("s4", 0.0), ("s3", 0.7)]
    assert str(held).startswith("missed: samples right under 80 % of wordings 75.0 < 100 (95 %: ")
    assert str(held).endswith("8 samples x 10 wordings): s4, s3")
    assert each_threshold(PREDICTIONS, 1.0, 0.5).met
    assert not each_threshold(PREDICTIONS, 1.0, 0.51).met
    of_many = each_threshold(answered([0] * 14), 0.5, 1.0)
    assert str(of_many).endswith(": s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 4 more")
    assert len(of_many.failing) == 14


def test_the_ends_of_the_share_are_asked_as_of_other_bounds() -> None:
    estimate = each_threshold(PREDICTIONS, 0.8, 0.75)
    low, high = estimate.interval or (0, 0)
    assert low < 0.75 < high
    assert estimate.met
    assert not each_threshold(PREDICTIONS, 0.8, 0.75, end="bad").met
    assert each_threshold(PREDICTIONS, 0.8, high, end="good").met


@each(
    "bounds, message",
    [
        ({"min_class_f1": {"c": 0.5}}, "no label is called 'c'; there are a, b"),
        ({"min_each": 0.5}, "give --each too"),
        ({"each": 0.0}, "above 0 and at most 1"),
        ({"min_class_f1": {}}, "nothing to check"),
        ({}, r"nothing to check: .*--min-macro-f1, --min-class-f1, .*--each or --pin$"),
        (
            {"max_sensitivity": 0.001, "use_ci_bound": True, "rephrasings": 1},
            r"S can't be checked under one wording.*--rephrasings 2",
        ),
        ({"max_sensitivity": 0.001, "use_ci_bound": True, "alarm": True}, "give one"),
    ],
)
def test_bounds_that_can_not_be_asked_are_said_before_a_model_is(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        psopt.check(TASK, model="openai/nobody-is-asked", **bounds)
    assert "\n" not in str(raised.value)


@each("option", ["min_macro_f1", "min_class_f1", "min_consistency"])
def test_answers_without_classes_have_no_f1_of_them(option: str) -> None:
    numbers = Task.from_records([{"text": f"text {n}", "label": str(n)} for n in range(60)], answers="number")
    bounds: dict[str, Any] = {option: 0.5}
    with pytest.raises(InputError, match="leave --" + option.replace("_", "-") + " out"):
        psopt.check(numbers, model="openai/nobody-is-asked", **bounds)


def test_all_bounds_are_held_together() -> None:
    result = psopt.check(TASK, model="sim/accuracy=1,wobble=0,na=0", min_macro_f1=0.9, min_class_f1=0.9, each=0.9)
    assert result.met
    assert [threshold.option for threshold in result.thresholds] == ["min_macro_f1", *2 * ["min_class_f1"], "min_each"]


@each("option, name", [("min_f1", "f1"), ("max_sensitivity", "sensitivity"), ("max_na_rate", "na_rate")])
def test_the_bad_end_is_harder_and_the_good_end_easier_than_the_estimate(option: str, name: str) -> None:
    low, high = SCORES.ci[name]
    is_most = option.startswith("max")
    bad, good = (high, low) if is_most else (low, high)
    just_kept = {option: getattr(SCORES, name)}
    assert thresholds(SCORES, just_kept)[0].met
    assert not thresholds(SCORES, just_kept, end="bad")[0].met
    assert thresholds(SCORES, {option: bad}, end="bad")[0].met
    assert thresholds(SCORES, {option: good}, end="good")[0].met
    beyond = good - 0.001 if is_most else good + 0.001
    assert not thresholds(SCORES, {option: beyond}, end="good")[0].met


def test_each_bound_is_said_with_its_interval_and_size() -> None:
    low, high = SCORES.ci["f1"]
    interval = f"{100 * low:.1f} to {100 * high:.1f}, 8 samples x 10 wordings"
    assert str(thresholds(SCORES, {"min_f1": 0.5})[0]) == f"ok: F1 80.0 >= 50 (95 %: {interval})"
    sure = str(thresholds(SCORES, {"min_f1": 0.9}, end="bad")[0])
    assert sure.startswith(f"missed: F1 {100 * low:.1f} < 90 (95 % of 80.0: ")


def test_the_size_is_said_with_what_s_would_be_under_ever_more_wordings() -> None:
    assert SCORES.sensitivity_limit > SCORES.sensitivity
    said = note_size(SCORES)
    assert said.startswith("8 samples x 10 wordings. S is ")
    assert f"about {100 * SCORES.sensitivity_limit:.1f} extrapolated to many more. 95 % intervals cover" in said
    assert note_size(score(answered(RIGHT_OF_TEN, n_wordings=1), intervals=True)) == (
        "8 samples x 1 wording. 95 % intervals cover the sampling of texts alone: one wording tells nothing of S."
    )


def test_c_without_self_pairs_stands_beside_c() -> None:
    """With them, 8 of 2 * 4 * 4 pairs are of a sample with itself, and fully alike."""
    assert SCORES.consistency == pytest.approx((24 * SCORES.consistency_no_self_pairs + 8) / 32)
