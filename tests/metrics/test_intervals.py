"""Intervals and tests by linearisation and jackknife: what they promise, and their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
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

N_CLASSES = 4


def answers(
    seed: int, n_samples: int = 80, n_rephrasings: int = 10, wordings: float = 0.0, shift: float = 0.0
) -> tuple[Any, Any]:
    """Predictions and labels: samples have an ease, and wordings an effect on all of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES - 1, size=n_samples)
    ease = rng.beta(3, 1, size=(n_samples, 1)) + rng.normal(0, wordings, size=n_rephrasings) + shift
    shape = (n_samples, n_rephrasings)
    return np.where(rng.random(shape) < ease, y[:, None], rng.integers(N_CLASSES, size=shape)), y


PREDICTIONS, Y = answers(0)


def test_estimates_are_the_scores() -> None:
    intervals = score_intervals(PREDICTIONS, Y, N_CLASSES)
    assert {name: found.estimate for name, found in intervals.items()} == pytest.approx(
        joint_scores(PREDICTIONS, Y, N_CLASSES)
    )
    assert all(0 <= found.low < found.estimate < found.high <= 1 for found in intervals.values())


def test_answers_and_probabilities_that_say_the_same_have_the_same_intervals() -> None:
    hard = score_intervals(PREDICTIONS, Y, N_CLASSES)
    soft = score_intervals(np.eye(N_CLASSES)[PREDICTIONS], Y, N_CLASSES)
    for name in hard:
        assert soft[name] == pytest.approx(hard[name])


def test_the_variance_of_a_mean_is_that_of_the_two_way_analysis() -> None:
    """Rows .5 and .75, columns .875 and .375, and nothing that a row has of its own in a column."""
    found = mean_difference(np.zeros((2, 2)), [[0.75, 0.25], [1.0, 0.5]])
    assert found.difference == 0.625
    # of a mean of two: the sum of squared distances over 2 (2 - 1)
    assert found.standard_error == pytest.approx(((2 * 0.125**2 + 2 * 0.25**2) / 2) ** 0.5)


@pytest.mark.parametrize("statistic", ["f1", "sensitivity", "consistency"])
def test_influences_are_what_a_sample_more_changes(statistic: str) -> None:
    """A sample that is twice in the data moves the score by its influence, but for terms of 1 / N^2."""
    predictions, y = answers(3, n_samples=400)
    before = score_intervals(predictions, y, N_CLASSES, wordings="fixed")[statistic]
    moved = []
    for extra in range(0, 400, 10):
        order = [*range(400), extra]
        moved.append(joint_scores(predictions[order], y[order], N_CLASSES)[statistic] - before.estimate)
    spread = before.estimate * (1 - before.estimate)
    logits = [np.log(end / (1 - end)) for end in before.bounds]
    error = (logits[1] - logits[0]) * spread / (2 * 1.966)  # t at 399 degrees of freedom
    # forty samples tell the standard deviation within some 20 %
    assert np.sqrt(400) * np.std(moved) == pytest.approx(error, rel=0.25)


def test_random_wordings_make_intervals_wider_where_they_matter() -> None:
    predictions, y = answers(1, wordings=0.2)
    random = score_intervals(predictions, y, N_CLASSES)
    fixed = score_intervals(predictions, y, N_CLASSES, wordings="fixed")
    for name in random:
        assert random[name].high - random[name].low > 1.2 * (fixed[name].high - fixed[name].low)
    with pytest.raises(ValueError, match="wordings is 'all'"):
        score_intervals(predictions, y, N_CLASSES, wordings="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("n_samples", [20, 50, 500])
def test_where_nothing_varies_an_end_is_as_far_as_with_further_samples_that_are_wrong(n_samples: int) -> None:
    y = np.arange(n_samples) % 3
    always = score_intervals(np.repeat(y[:, None], 10, axis=1), y, N_CLASSES)
    further = -np.log(0.025)
    assert always["f1"].bounds == pytest.approx((n_samples / (n_samples + further), 1))
    assert always["sensitivity"].bounds == pytest.approx((0, further / (n_samples + further)))
    assert always["consistency"].low == pytest.approx(n_samples / (n_samples + 2 * further))


def test_hardly_anything_varying_is_no_surer_than_nothing() -> None:
    y = np.arange(100) % 3
    predictions = np.repeat(y[:, None], 10, axis=1)
    nothing = score_intervals(predictions, y, N_CLASSES)
    predictions[0, 0] = 3
    hardly = score_intervals(predictions, y, N_CLASSES)
    assert hardly["f1"].low <= nothing["f1"].low
    assert hardly["sensitivity"].high >= nothing["sensitivity"].high


def test_one_sample_and_one_wording_tell_nothing() -> None:
    assert all(found.bounds == (0, 1) for found in score_intervals(PREDICTIONS[:1], Y[:1], N_CLASSES).values())
    one = score_intervals(PREDICTIONS[:, :1], Y, N_CLASSES)
    assert one["sensitivity"] == (0, 0, 1)
    assert 0 < one["f1"].low < one["f1"].high < 1
    found = compare_scores(PREDICTIONS[:1], PREDICTIONS[:1], Y[:1], N_CLASSES)["f1"]
    assert (found.standard_error, found.p_value, found.p_above(-0.5)) == (None, 1, 1)


def test_a_prompt_is_not_surely_as_good_as_itself_on_few_samples() -> None:
    """Had a hundredth of all samples got worse, 50 would show none of them in .6 of the cases, 500 in under .01."""
    for n_samples, p_value in ((50, 0.6), (500, 0.0064)):
        predictions, y = answers(2, n_samples)
        found = compare_scores(predictions, predictions, y, N_CLASSES)["f1"]
        assert (found.difference, found.p_value) == (0, 1)
        assert found.p_above(-0.01) == pytest.approx(p_value, rel=0.05)


def test_one_sided_p_values_agree_with_the_two_sided_one_and_with_the_interval() -> None:
    first, y = answers(4)
    second = answers(5)[0]
    for found in compare_scores(first, second, y, N_CLASSES).values():
        assert 2 * min(found.p_above(), found.p_below()) == pytest.approx(found.p_value)
        assert found.p_above(found.low) == pytest.approx(0.025)
        assert found.p_below(found.high) == pytest.approx(0.025)
        assert found.p_above(-0.2) < found.p_above(0.0) < found.p_above(0.2)


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


def test_a_class_without_samples_has_no_interval_of_s_and_c() -> None:
    """One that was answered has an F1, of 0; one that was not has none."""
    answered, absent = class_intervals([[0, 0], [1, 0]], [0, 0], 4, labels=[1, 2])
    assert set(answered) == {"f1"}
    assert answered["f1"].estimate == 0
    assert absent == {}


def test_a_share_has_the_interval_of_a_mean() -> None:
    is_na = PREDICTIONS == N_CLASSES - 1
    found = mean_interval(is_na)
    assert found.low < is_na.mean() < found.high
    assert found.estimate == is_na.mean()


def test_intervals_cover_the_truth_and_tests_err_as_often_as_they_say() -> None:
    """`make bench-coverage`, small: of 120 intervals 108 or more cover it (fewer: 1 in 80), 14 tests or fewer err."""
    covered, errors = np.zeros(3), np.zeros(3)
    pairs = [(answers(seed, 60, 8, 0.1), answers(1000 + seed, 60, 8, 0.1)) for seed in range(120)]
    truth = np.mean([list(joint_scores(*first, N_CLASSES).values()) for first, _ in pairs], axis=0)
    for seed, ((predictions, y), _) in enumerate(pairs):
        bounds = np.array([found.bounds for found in score_intervals(predictions, y, N_CLASSES).values()])
        covered += (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
        both, labels = answers(seed, 60, 16, 0.1)
        tests = compare_scores(both[:, :8], both[:, 8:], labels, N_CLASSES)
        errors += [found.p_value < 0.05 for found in tests.values()]
    assert (covered >= 108).all()
    assert (errors <= 14).all()


def test_macro_f1_is_as_sure_as_its_classes_together() -> None:
    """Of one class it has that class's interval; of several that of their mean, narrower than a rare one's."""
    (only,) = class_intervals(PREDICTIONS, Y, N_CLASSES, labels=[1])
    assert macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[1]) == pytest.approx(only["f1"])
    found = macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[0, 1, 2])
    assert found.estimate == pytest.approx(macro_f1(PREDICTIONS, Y, labels=[0, 1, 2]))
    assert found.low < found.estimate < found.high
    widths = [np.ptp(of_class["f1"].bounds) for of_class in class_intervals(PREDICTIONS, Y, N_CLASSES, labels=range(3))]
    assert np.ptp(found.bounds) < max(widths)


def test_macro_f1_of_all_right_answers_is_as_unsure_as_its_classes_are_small() -> None:
    """Classes of 2 and 98 samples speak like 2^2 / (1 / 2 + 1 / 98) = 7.8 samples, not like 100."""
    rare, even = np.repeat([0, 1], [2, 98]), np.repeat([0, 1], [50, 50])
    lows = [macro_f1_interval(np.tile(y[:, None], 3), y, 3, labels=[0, 1]).low for y in (rare, even)]
    assert lows[0] == pytest.approx(7.84 / (7.84 + 3.69), abs=0.01)
    assert lows[1] == pytest.approx(100 / 103.69, abs=0.01)


def test_macro_f1_of_labels_that_never_occur_is_undefined() -> None:
    assert np.isnan(macro_f1_interval([[0, 0], [1, 1]], [0, 1], 4, labels=[2]).estimate)


def test_nothing_is_known_of_a_class_of_one_sample() -> None:
    """Two classes, one of a single sample: each end is the other's, with 0 and with 1 for the single one."""
    y = np.repeat([0, 1], [30, 1])
    predictions = np.where(np.arange(31)[:, None] % 5 == 0, 2, y[:, None]) * np.ones((1, 4), dtype=int)
    known = macro_f1_interval(predictions, y, 3, labels=[0])
    found = macro_f1_interval(predictions, y, 3, labels=[0, 1])
    assert found.bounds == pytest.approx((known.low / 2, (known.high + 1) / 2))
    assert macro_f1_interval([[0, 0]], [0], 2).bounds == (0.0, 1.0)


def test_rows_that_are_one_draw_make_macro_f1_less_sure() -> None:
    """The same rows twice over know no more than once, and say so where they are told to belong together."""
    twice, y = np.repeat(PREDICTIONS, 2, axis=0), np.repeat(Y, 2)
    once = macro_f1_interval(PREDICTIONS, Y, N_CLASSES, labels=[0, 1, 2])
    grouped = macro_f1_interval(twice, y, N_CLASSES, labels=[0, 1, 2], groups=np.repeat(np.arange(len(Y)), 2))
    apart = macro_f1_interval(twice, y, N_CLASSES, labels=[0, 1, 2])
    assert grouped.estimate == pytest.approx(once.estimate)
    assert np.ptp(apart.bounds) < np.ptp(grouped.bounds)
