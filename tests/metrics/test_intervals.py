"""Intervals and tests by linearisation and jackknife: what they promise, and their ends."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    bootstrap_ci,
    class_f1,
    class_intervals,
    compare_scores,
    consistency,
    joint_scores,
    macro_f1,
    macro_f1_interval,
    mean_difference,
    mean_interval,
    prediction_counts,
    score_intervals,
    sensitivity,
)

from tests.sweeps import each

N_CLASSES = 4
SCORES = ("f1", "sensitivity", "consistency")


def answers(seed: int, n_samples: int = 80, n_rephrasings: int = 10, wordings: float = 0.0) -> tuple[Any, Any]:
    """Predictions and labels: samples have an ease, and wordings an effect on all of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES - 1, size=n_samples)
    ease = rng.beta(3, 1, size=(n_samples, 1)) + rng.normal(0, wordings, size=n_rephrasings)
    shape = (n_samples, n_rephrasings)
    return np.where(rng.random(shape) < ease, y[:, None], rng.integers(N_CLASSES, size=shape)), y


def two_prompts(*, better_by: float) -> tuple[Any, Any, Any]:
    """Two prompts that share their hard samples; the second is right more often."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=80)
    ease = rng.beta(2, 1, size=(80, 1))
    first, second = (
        np.where(rng.random((80, 10)) < np.clip(ease + more, 0, 1), y[:, None], rng.integers(4, size=(80, 10)))
        for more in (0, better_by)
    )
    return first, second, y


def width(interval: Any) -> float:
    return float(interval.high - interval.low)


PREDICTIONS, Y = answers(0)
RNG = np.random.default_rng(7)


@each("method", [score_intervals, functools.partial(bootstrap_ci, n_replicates=50)])
def test_estimates_are_the_scores_of_answers_and_of_probabilities_that_say_the_same(method: Any) -> None:
    intervals = method(PREDICTIONS, Y, N_CLASSES)
    estimates = {name: found.estimate for name, found in intervals.items()}
    assert estimates == pytest.approx(joint_scores(PREDICTIONS, Y, N_CLASSES))
    assert all(0 <= found.low < found.estimate < found.high <= 1 for found in intervals.values())
    soft = method(np.eye(N_CLASSES)[PREDICTIONS], Y, N_CLASSES)
    for name in SCORES:
        assert soft[name] == pytest.approx(intervals[name])


def test_the_variance_of_a_mean_is_that_of_the_two_way_analysis() -> None:
    """Rows .5 and .75, columns .875 and .375, and nothing that a row has of its own in a column."""
    found = mean_difference(np.zeros((2, 2)), [[0.75, 0.25], [1.0, 0.5]])
    assert found.difference == 0.625
    # of a mean of two: the sum of squared distances over 2 (2 - 1)
    assert found.standard_error == pytest.approx(((2 * 0.125**2 + 2 * 0.25**2) / 2) ** 0.5)


def test_influences_are_what_a_sample_more_changes() -> None:
    """A sample that is twice in the data moves the score by its influence, but for terms of 1 / N^2."""
    predictions, y = answers(3, n_samples=400)
    orders = [[*range(400), extra] for extra in range(0, 400, 10)]
    moved = [joint_scores(predictions[order], y[order], N_CLASSES) for order in orders]
    for name, before in score_intervals(predictions, y, N_CLASSES, wordings="fixed").items():
        low, high = (np.log(end / (1 - end)) for end in before.bounds)
        spread = before.estimate * (1 - before.estimate)
        error = (high - low) * spread / (2 * 1.966)  # t at 399 degrees of freedom
        # forty samples tell the standard deviation within some 20 %
        assert np.sqrt(400) * np.std([scores[name] for scores in moved]) == pytest.approx(error, rel=0.25)


def test_random_wordings_make_intervals_wider_where_they_matter() -> None:
    predictions, y = answers(1, wordings=0.2)
    random = score_intervals(predictions, y, N_CLASSES)
    fixed = score_intervals(predictions, y, N_CLASSES, wordings="fixed")
    assert all(width(random[name]) > 1.2 * width(fixed[name]) for name in SCORES)


@pytest.mark.parametrize("n_samples", [20, 500])
def test_where_nothing_or_hardly_anything_varies_an_end_is_as_far_as_with_further_samples_that_are_wrong(
    n_samples: int,
) -> None:
    y = np.arange(n_samples) % 3
    predictions = np.repeat(y[:, None], 10, axis=1)
    always = score_intervals(predictions, y, N_CLASSES)
    further = -np.log(0.025)
    assert always["f1"].bounds == pytest.approx((n_samples / (n_samples + further), 1))
    assert always["sensitivity"].bounds == pytest.approx((0, further / (n_samples + further)))
    assert always["consistency"].low == pytest.approx(n_samples / (n_samples + 2 * further))
    predictions[0, 0] = 3
    hardly = score_intervals(predictions, y, N_CLASSES)
    assert hardly["f1"].low <= always["f1"].low
    assert hardly["sensitivity"].high >= always["sensitivity"].high


@pytest.mark.parametrize(("n_samples", "p_value"), [(50, 0.6), (500, 0.0064)])
def test_a_prompt_does_not_differ_from_itself_nor_is_it_surely_as_good_on_few_samples(
    n_samples: int, p_value: float
) -> None:
    """Had a hundredth of all samples got worse, 50 would show none of them in .6 of the cases, 500 in under .01."""
    predictions, y = answers(2, n_samples)
    compared = compare_scores(predictions, predictions, y, N_CLASSES)
    for found in compared.values():
        assert (found.difference, found.p_value) == (0, 1)
        assert found.low <= 0 <= found.high
    assert compared["f1"].p_above(-0.01) == pytest.approx(p_value, rel=0.05)


def test_one_sided_p_values_agree_with_the_two_sided_one_and_with_the_interval() -> None:
    for found in compare_scores(answers(4)[0], answers(5)[0], answers(4)[1], N_CLASSES).values():
        assert 2 * min(found.p_above(), found.p_below()) == pytest.approx(found.p_value)
        assert found.p_above(found.low) == pytest.approx(0.025)
        assert found.p_below(found.high) == pytest.approx(0.025)
        assert found.p_above(-0.2) < found.p_above(0.0) < found.p_above(0.2)


def test_differences_are_second_minus_first_and_sure_of_a_clear_gain_and_swapping_turns_their_signs_alone() -> None:
    first, second, y = two_prompts(better_by=0.3)
    forth, back = compare_scores(first, second, y, N_CLASSES), compare_scores(second, first, y, N_CLASSES)
    before, after = joint_scores(first, y, N_CLASSES), joint_scores(second, y, N_CLASSES)
    for name in SCORES:
        assert forth[name].difference == pytest.approx(after[name] - before[name])
        assert forth[name].difference == -back[name].difference
        assert forth[name].low == pytest.approx(-back[name].high)
        assert forth[name].p_value == pytest.approx(back[name].p_value)
        assert forth[name].p_value < 0.01
        assert forth[name].low * forth[name].high > 0
    # pairing makes the interval narrower
    paired = compare_scores(first, second, y, N_CLASSES, wordings="fixed")["f1"]
    apart = [score_intervals(prompt, y, N_CLASSES, wordings="fixed")["f1"] for prompt in (first, second)]
    assert width(paired) < sum(map(width, apart)) / 2
    with pytest.raises(ValueError, match="second has 9 rephrasings and first has 10"):
        compare_scores(first, second[:, :9], y, N_CLASSES)


def test_the_order_of_few_samples_changes_nothing() -> None:
    """Two samples are two carriers of a variance, but for rounding."""
    for seed in range(40):
        rng, n = np.random.default_rng(seed), 2 + seed % 2
        first, second = rng.integers(N_CLASSES, size=(2, n, 7))
        y, order = rng.integers(N_CLASSES, size=n), rng.permutation(n)
        found = compare_scores(first, second, y, N_CLASSES)
        again = compare_scores(first[order], second[order], y[order], N_CLASSES)
        assert [each.p_value for each in again.values()] == pytest.approx([each.p_value for each in found.values()])
        right = mean_difference(first == y[:, None], second == y[:, None])
        assert right.p_value == pytest.approx(found["f1"].p_value)


def test_classes_have_the_scores_of_their_samples() -> None:
    intervals = class_intervals(PREDICTIONS, Y, N_CLASSES, labels=[0, 1, 2])
    f1 = class_f1(PREDICTIONS, Y, labels=[0, 1, 2])
    counts = prediction_counts(PREDICTIONS, N_CLASSES)
    of_class = consistency(counts, Y, average=None)
    for label, found in enumerate(intervals):
        assert found["f1"].estimate == pytest.approx(f1[label])
        assert found["sensitivity"].estimate == pytest.approx(sensitivity(counts[label == Y]))
        assert found["consistency"].estimate == pytest.approx(of_class[label])
        assert all(interval.low < interval.estimate < interval.high for interval in found.values())
    # a class without samples has no interval of S and C: one that was answered has an F1, of 0, one that was not none
    answered, absent = class_intervals([[0, 0], [1, 0]], [0, 0], 4, labels=[1, 2])
    assert [*answered] == ["f1"]
    assert answered["f1"].estimate == 0
    assert absent == {}


def test_intervals_cover_the_truth_and_tests_err_as_often_as_they_say() -> None:
    """`make bench-coverage`, small: of 60 intervals 53 or more cover it (fewer: 1 in 40), 7 tests or fewer err."""
    covered, errors = np.zeros(3), np.zeros(3)
    drawn = [answers(seed, 60, 8, 0.1) for seed in range(60)]
    truth = np.mean([list(joint_scores(*one, N_CLASSES).values()) for one in drawn], axis=0)
    for seed, (predictions, y) in enumerate(drawn):
        bounds = np.array([found.bounds for found in score_intervals(predictions, y, N_CLASSES).values()])
        covered += (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
        both, labels = answers(seed, 60, 16, 0.1)
        tests = compare_scores(both[:, :8], both[:, 8:], labels, N_CLASSES)
        errors += [found.p_value < 0.05 for found in tests.values()]
    assert (covered >= 53).all()
    assert (errors <= 7).all()


def test_macro_f1_is_as_sure_as_its_classes_together() -> None:
    """Of one class it has that class's interval; of several that of their mean, narrower than a rare one's."""
    of_classes = [found["f1"] for found in class_intervals(PREDICTIONS, Y, N_CLASSES, labels=range(3))]
    assert macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[1]) == pytest.approx(of_classes[1])
    found = macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[0, 1, 2])
    assert found.estimate == pytest.approx(macro_f1(PREDICTIONS, Y, labels=[0, 1, 2]))
    assert found.low < found.estimate < found.high
    assert width(found) < max(map(width, of_classes))
    never = macro_f1_interval([[0, 0], [1, 1]], [0, 1], 4, labels=[2])
    assert np.isnan(never.estimate), "a label that never occurs has none"


def test_rows_of_one_sample_count_as_one_draw() -> None:
    """Every row three times over says no more than once: told to belong together, the interval does not shrink."""
    thrice, y, groups = np.repeat(PREDICTIONS, 3, axis=0), np.repeat(Y, 3), np.repeat(np.arange(len(Y)), 3)
    once = score_intervals(PREDICTIONS, Y, N_CLASSES)
    together = score_intervals(thrice, y, N_CLASSES, groups=groups)
    apart = score_intervals(thrice, y, N_CLASSES)
    for name in ("f1", "sensitivity"):
        assert width(together[name]) == pytest.approx(width(once[name]), rel=1e-9)
        assert width(apart[name]) < width(once[name])
    macro_once = macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[0, 1, 2])
    macro_together = macro_f1_interval(thrice, y, N_CLASSES, labels=[0, 1, 2], groups=groups)
    assert macro_together.estimate == pytest.approx(macro_once.estimate)
    assert width(macro_f1_interval(thrice, y, N_CLASSES, labels=[0, 1, 2])) < width(macro_together)


def test_a_mean_is_a_share_with_weights_a_ratio_of_sums_and_equal_weights_are_none() -> None:
    is_na = PREDICTIONS == N_CLASSES - 1
    share = mean_interval(is_na)
    assert share.low < share.estimate == is_na.mean() < share.high
    scores, other, weights = RNG.random((20, 6)), RNG.random((20, 6)), RNG.integers(0, 4, (20, 6))
    assert mean_interval(scores, weights=np.full((20, 6), 3.0)) == pytest.approx(mean_interval(scores))
    found = mean_interval(scores, weights=weights)
    assert found.estimate == pytest.approx((scores * weights).sum() / weights.sum())
    difference = mean_difference(scores, other, first_weights=weights, second_weights=weights)
    assert difference.difference == pytest.approx(((other - scores) * weights).sum() / weights.sum())
