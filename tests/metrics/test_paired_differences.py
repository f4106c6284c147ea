"""The paired test of two prompts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import compare_scores, joint_scores, score_intervals

N_CLASSES = 4


def two_prompts(seed: int, *, better_by: Any, n_samples: int = 80, n_rephrasings: int = 10) -> tuple[Any, Any, Any]:
    """Two prompts that share their hard samples; the second is right more often."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_samples)
    ease = rng.beta(2, 1, size=(n_samples, 1))
    shape = (n_samples, n_rephrasings)
    first, second = (
        np.where(rng.random(shape) < np.clip(ease + more, 0, 1), y[:, None], rng.integers(4, size=shape))
        for more in (0, better_by)
    )
    return first, second, y


def test_differences_are_second_minus_first() -> None:
    first, second, y = two_prompts(0, better_by=0.2)
    result = compare_scores(first, second, y, N_CLASSES)
    before, after = joint_scores(first, y, N_CLASSES), joint_scores(second, y, N_CLASSES)
    assert {name: found.difference for name, found in result.items()} == pytest.approx(
        {name: after[name] - before[name] for name in before}
    )


def test_swapping_the_prompts_turns_the_signs_and_keeps_the_p_values() -> None:
    first, second, y = two_prompts(0, better_by=0.1)
    forth, back = (compare_scores(*pair, y, N_CLASSES) for pair in ((first, second), (second, first)))
    for name in forth:
        assert forth[name].difference == -back[name].difference
        assert forth[name].low == pytest.approx(-back[name].high)
        assert forth[name].p_value == pytest.approx(back[name].p_value)


def test_a_clear_gain_is_significant_in_all_three() -> None:
    first, second, y = two_prompts(0, better_by=0.3)
    result = compare_scores(first, second, y, N_CLASSES)
    assert all(found.p_value < 0.01 for found in result.values())
    assert result["f1"].low > 0
    assert result["sensitivity"].high < 0
    assert result["consistency"].low > 0


def test_a_prompt_does_not_differ_from_itself() -> None:
    first, _, y = two_prompts(0, better_by=0)
    for found in compare_scores(first, first, y, N_CLASSES).values():
        assert (found.difference, found.p_value) == (0, 1)
        assert found.low <= 0 <= found.high


def test_pairing_makes_the_interval_narrower() -> None:
    first, second, y = two_prompts(0, better_by=0.1)
    paired = compare_scores(first, second, y, N_CLASSES, wordings="fixed")["f1"]
    widths = [score_intervals(p, y, N_CLASSES, wordings="fixed")["f1"] for p in (first, second)]
    assert paired.high - paired.low < sum(interval.high - interval.low for interval in widths) / 2


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (np.zeros((80, 9), dtype=int), "second has 9 rephrasings and first has 10"),
        (np.zeros((79, 10), dtype=int), "second has 79 samples and first has 80"),
        (np.full((80, 10), 4), "second holds 4"),
        (np.zeros((80, 10)), "second must hold"),
    ],
)
def test_prompts_that_are_no_pair_are_refused(second: Any, message: str) -> None:
    first, _, y = two_prompts(0, better_by=0)
    with pytest.raises(ValueError, match=message):
        compare_scores(first, second, y, N_CLASSES)
