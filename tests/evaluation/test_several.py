"""Scores and differences of several models as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from psopt.evaluation import Predictions, compare_paired, mean_of, pooled, score
from psopt.metrics import PairedDifference
from psopt.search.gating import MeasuredGain, gate

from tests.evaluation.grids import grid
from tests.sweeps import each

N, Q = 60, 5
TRUTH = np.arange(N) % 2


def answers(right: float, seed: int) -> np.ndarray:
    """Labels in turn, answered rightly with some probability."""
    generator = np.random.default_rng(seed)
    return np.where(generator.random((N, Q)) < right, TRUTH[:, None], 1 - TRUTH[:, None])


def predictions(*rights: float, over: str = "worst", seed: int = 0) -> Predictions:
    """A prompt's answers of so many models, each as right as this."""
    first, *others = (
        grid(answers(right, seed + place), TRUTH.tolist(), model=f"m{place}", over=over)
        for place, right in enumerate(rights)
    )
    return replace(first, others=tuple(others))


def test_each_objective_is_of_the_model_that_is_worst_in_it() -> None:
    both = score(predictions(0.9, 0.6), intervals=True)
    one, two = (score(each, intervals=True) for each in predictions(0.9, 0.6).each)
    assert (both.f1, both.sensitivity, both.consistency) == (two.f1, two.sensitivity, two.consistency)
    assert both.ci["f1"] == two.ci["f1"]
    assert (both.macro_f1, both.pss, both.ci["macro_f1"]) == (two.macro_f1, two.pss, two.ci["macro_f1"])
    assert both.sensitivity_limit is None
    assert both.per_class == one.per_class  # the first model's
    mean = score(predictions(0.9, 0.6, over="mean"), intervals=True)
    assert mean.f1 == pytest.approx((one.f1 + two.f1) / 2)
    assert mean.ci["sensitivity"][1] == pytest.approx((one.ci["sensitivity"][1] + two.ci["sensitivity"][1]) / 2)


def test_disagreement_of_models_is_no_sensitivity_but_is_seen_in_the_pool() -> None:
    both = predictions(1.0, 0.0)  # steady both, and never alike
    assert score(both).sensitivity == 0
    assert pooled(both).array.shape == (N, 2 * Q)
    assert pooled(both).sensitivities.mean() == pytest.approx(np.log(2) / np.log(3))  # half and half, of a, b and N/A


def test_the_mean_of_equal_differences_is_as_sure_as_one_and_never_surer_than_correlation_allows() -> None:
    one = PairedDifference(0.1, 0.0, 0.2, 0.05, 0.05, 30.0)
    two = PairedDifference(0.3, 0.1, 0.5, 0.01, 0.1, 20.0)
    assert mean_of([one, one]).standard_error == one.standard_error
    mean = mean_of([one, two])
    # by hand: the standard deviation of a mean of two that move together is the mean of theirs
    assert mean.difference == pytest.approx(0.2)
    assert mean.standard_error == pytest.approx(0.075)
    assert mean.df == 20.0


def test_the_least_gain_stands_for_all() -> None:
    before, after = predictions(0.5, 0.5, seed=1), predictions(0.9, 0.5, seed=7)
    worst = compare_paired(before, after)["f1"].difference
    assert worst == min(compare_paired(*pair)["f1"].difference for pair in zip(before.each, after.each, strict=True))


# what one model gains is no excuse for what the other loses
@each("after, verdict", [((0.95, 0.95), "better"), ((0.95, 0.4), "keep")])
def test_the_gate_must_hold_with_every_model(after: tuple[float, float], verdict: str) -> None:
    found = gate(predictions(0.7, 0.7, seed=3), {"new": predictions(*after, seed=11)})
    assert found.verdict == verdict
    test = found.tests[0]
    each = list(test.of_models.values())
    assert test.p_not_worse == max(one.p_not_worse for one in each)
    chances = [p for one in each for p in one.p_better]
    assert test.p_value == max(test.p_not_worse, min(1.0, 4 * min(chances)))
    assert set(test.to_dict()["of_models"]) == {"m0", "m1"}


def test_by_the_mean_a_model_whose_s_means_nothing_hides_no_loss_of_the_others() -> None:
    steady, shaky = np.repeat(TRUTH[:, None], Q, axis=1), answers(0.7, 5)
    constant = np.zeros((N, Q), dtype=int)

    def both(of_first: np.ndarray, of_second: np.ndarray) -> Predictions:
        first, second = (
            grid(array, TRUTH.tolist(), model=f"m{place}", over="mean")
            for place, array in enumerate((of_first, of_second))
        )
        return replace(first, others=(second,))

    found = gate(both(steady, constant), {"new": both(shaky, steady)})
    (test,) = found.tests
    assert "there only F1 was tested" in found.reason
    assert test.f1.after > test.f1.before
    assert test.sensitivity.before == 0
    assert test.sensitivity.after == pytest.approx(score(both(shaky, steady).each[0]).sensitivity)
    assert found.verdict == "keep"


def test_what_is_likely_with_each_model_counts_what_that_model_gained_on_val() -> None:
    before, after = predictions(0.7, 0.9, seed=3), predictions(0.9, 0.6, seed=11)
    on_val = MeasuredGain.of_each(score(before), score(after), 20)
    assert set(on_val) == {"m0", "m1", ""}
    found = gate(before, {"new": after}, mode="likely", on_val={"new": on_val})
    of_models = found.tests[0].of_models
    assert of_models["m1"].estimate.f1 == pytest.approx(on_val["m1"].f1) == pytest.approx(-0.3, abs=0.1)
    assert found.verdict == "keep"
