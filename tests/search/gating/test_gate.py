"""A prompt takes the place of the baseline only where test shows that it is no worse, and better in something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from psopt.errors import InputError
from psopt.evaluation import Predictions, holm
from psopt.runs import recommendation_lines
from psopt.search.gating import MeasuredGain, NomineeTest, Verdict, check_pinned, gate, untested
from psopt.tasks import Sample
from psopt.text import read_data

from tests.sweeps import each

LABELS = ("a", "b", "c")
N, Q = 400, 6
SAMPLES = tuple(Sample(f"s{index}", "", LABELS[index % 3]) for index in range(N))
TRUTH = np.arange(N) % 3


def answers(steady: float, shaking: float = 0.0, n: int = N, seed: int = 0) -> Predictions:
    """A share of samples is steadily right, a share right under every other wording, the rest steadily wrong.

    Samples fall into these parts by chance, but a prompt with a larger share is right on all that a lesser one is.
    """
    place = np.random.default_rng(seed).random(N)[:n, None]
    every_other = np.arange(Q)[None, :] % 2 == 0
    is_right: NDArray[np.bool_] = (place < steady) | ((place < steady + shaking) & every_other)
    return Predictions(np.where(is_right, TRUTH[:n, None], (TRUTH[:n, None] + 1) % 3), SAMPLES[:n], LABELS)


BASELINE = answers(0.6, 0.1)
BETTER = answers(0.75, 0.02)
STILL_BETTER = answers(0.85)


def test_one_that_is_clearly_better_is_handed_back_and_the_verdict_is_plain_json() -> None:
    verdict = gate(BASELINE, {"knee": BETTER})
    assert (verdict.verdict, verdict.id, verdict.reason) == ("better", "knee", "")
    assert (verdict.n_samples, verdict.n_wordings) == (N, Q)
    (test,) = verdict.tests
    assert (test.level, test.decisive) == (0.05, ("f1", "sensitivity"))
    assert test.f1.difference == pytest.approx(BETTER.right.mean() - BASELINE.right.mean())
    assert test.f1.low < test.f1.difference < test.f1.high
    assert read_data(NomineeTest, test.to_dict()) == test
    of_f1 = verdict.to_dict()["tests"][0]["f1"]
    assert set(of_f1) == {"difference", "low", "high", "not_worse", "better", "is_thin", "before", "after"}
    assert of_f1["after"] - of_f1["before"] == pytest.approx(of_f1["difference"])


def test_of_several_that_pass_the_first_in_their_order_is_handed_back() -> None:
    both = gate(BASELINE, {"knee": BETTER, "short": STILL_BETTER})
    assert both.id == "knee"
    assert [test["id"] for test in both.to_dict()["tests"]] == ["knee", "short"]
    assert gate(BASELINE, {"short": STILL_BETTER, "knee": BETTER}).id == "short"
    assert gate(BASELINE, {"knee": answers(0.5), "short": BETTER}).id == "short"


@each(
    "why, baseline, nominee",
    [
        ("better in neither", BASELINE, BASELINE),
        ("F1 is lower", BASELINE, answers(0.5, 0.1)),
        ("F1 lower by 3, though S is better", BASELINE, answers(0.62)),
        ("S is higher, though F1 is better", BASELINE, answers(0.6, 0.3)),
        ("it may be as well chance", answers(0.6, 0.1, n=40), answers(0.75, 0.02, seed=1, n=40)),
    ],
)
def test_else_the_baseline_stays(why: str, baseline: Predictions, nominee: Predictions) -> None:
    verdict = gate(baseline, {"knee": nominee})
    assert (verdict.verdict, verdict.id) == ("keep", None)
    assert verdict.tests[0].p_value > 0.05


def test_a_wider_margin_lets_more_pass_and_sure_never_looks_at_val() -> None:
    of_test = gate(BASELINE, {"knee": answers(0.63)})
    assert of_test.verdict == "keep"
    assert gate(BASELINE, {"knee": answers(0.63)}, margin=0.06).verdict == "better"
    with_val = gate(BASELINE, {"knee": answers(0.63)}, on_val={"knee": {"": MeasuredGain(0.9, 0.0, 0.0, 60)}})
    assert (with_val.verdict, with_val.tests[0].p_value) == ("keep", of_test.tests[0].p_value)


def test_a_pinned_sample_must_stay_right() -> None:
    array = BETTER.array.copy()
    place = int(np.flatnonzero(BASELINE.right.all(axis=1))[0])
    array[place, 3] = (TRUTH[place] + 1) % 3
    nominee = Predictions(array, SAMPLES, LABELS)
    assert gate(BASELINE, {"knee": nominee}).id == "knee"
    verdict = gate(BASELINE, {"knee": nominee, "short": STILL_BETTER}, pinned=[f"s{place}"])
    assert verdict.id == "short"
    assert [test.lost for test in verdict.tests] == [(f"s{place}",), ()]
    assert verdict.tests[1].level == 0.025  # who is refused has taken up a part of the level all the same


def steady(rows: Any, samples: tuple[Sample, ...] = SAMPLES, labels: tuple[str, ...] = LABELS) -> Predictions:
    """The same answers under all wordings."""
    return Predictions(np.repeat(np.asarray(rows)[:, None], Q, axis=1), samples, labels)


def nearly_always(label: int) -> Predictions:
    """One label to all texts but every sixteenth, which is answered rightly: steadily, under all wordings."""
    return steady(np.where(np.arange(N) % 16 == 0, TRUTH, label))


SHAKY = answers(0.6, 0.2)


def test_beside_a_prompt_that_nearly_always_answers_the_same_f1_alone_is_tested() -> None:
    assert SHAKY.sensitivities.mean() > 0 == nearly_always(0).sensitivities.mean()
    verdict = gate(nearly_always(0), {"knee": SHAKY})
    (test,) = verdict.tests
    assert (verdict.verdict, verdict.id, test.decisive) == ("better", "knee", ("f1",))
    assert test.p_value == test.f1.better <= test.level == 0.05
    assert test.sensitivity.low > 0.05, "reported as it is"
    # 384 of 400: every sixteenth is answered rightly, and of these 25 another 9 are of the label itself
    assert verdict.reason == (
        "The original prompt answers a to 96 % of the texts, so its S and C say nothing: only F1 was tested"
    )
    assert read_data(Verdict, verdict.to_dict()) == verdict
    for mode in ("sure", "likely"):
        assert gate(nearly_always(0), {"knee": nearly_always(1)}, mode=mode).verdict == "keep", "no better in F1"
    assert gate(nearly_always(0), {"knee": SHAKY}, mode="likely").verdict == "better"


def test_beside_a_guess_that_a_constant_answer_equals_f1_alone_is_tested() -> None:
    guess = steady(np.random.default_rng(0).integers(3, size=N))
    assert guess.right.mean() < 0.34
    assert guess.sensitivities.mean() == 0
    verdict = gate(guess, {"knee": SHAKY})
    assert (verdict.verdict, verdict.tests[0].decisive) == ("better", ("f1",))
    assert verdict.reason == (
        f"The original prompt has F1 {100 * guess.right.mean():.1f}, not above 33.5 for always answering a, so its "
        "S and C say nothing: only F1 was tested"
    )


def of_classes(shares: dict[str, float], sizes: dict[str, int], wrong: str) -> Predictions:
    """Every class with its share of samples that are right under all wordings; the others are answered `wrong`."""
    names = tuple(sizes)
    labels = [label for label, n in sizes.items() for _ in range(n)]
    rng = np.random.default_rng(3)
    rows = [names.index(label if rng.random() < shares[label] else wrong) for label in labels]
    return steady(rows, tuple(Sample(f"s{place}", "", label) for place, label in enumerate(labels)), names)


RARE = {"ham": 380, "spam": 20}


def test_a_gain_over_all_samples_does_not_pay_for_a_rare_class() -> None:
    baseline = of_classes({"ham": 0.9, "spam": 0.8}, RARE, "spam")
    nominee = of_classes({"ham": 1.0, "spam": 0.1}, RARE, "ham")
    assert nominee.right.mean() > baseline.right.mean()
    for mode in ("sure", "likely"):
        verdict = gate(baseline, {"knee": nominee}, mode=mode)
        (test,) = verdict.tests
        assert (verdict.verdict, test.is_harmful) == ("keep", True)
        (loss,) = test.losses
        assert (loss.label, loss.n) == ("spam", 20)
        assert loss.before > loss.after
        assert read_data(Verdict, verdict.to_dict()) == verdict
    data = {**verdict.to_dict(), "id": "old", "samples_needed": None, "looks": 1, "mode": "sure"}
    first, second, *_ = recommendation_lines(data)
    assert first.startswith(
        "Keep yours. The best found, knee, looks better on the whole, but is worse for single classes: F1 "
    )
    worse = f"label spam: F1 {100 * loss.before:.1f} -> {100 * loss.after:.1f} (20 samples"
    assert second.startswith(f"Worse with knee on test: {worse}")


def test_a_class_that_is_surely_worse_bars_though_macro_f1_is_higher_and_one_that_loses_by_chance_does_not() -> None:
    sizes = {"a": 100, "b": 100, "c": 100}
    baseline = of_classes({"a": 0.3, "b": 0.4, "c": 1.0}, sizes, "a")
    verdict = gate(baseline, {"knee": of_classes({"a": 1.0, "b": 1.0, "c": 0.6}, sizes, "b")})
    (test,) = verdict.tests
    assert test.macro_f1 is not None
    assert test.macro_f1[1] > test.macro_f1[0]
    assert [(loss.label, loss.is_sure) for loss in test.losses] == [("c", True)]
    assert verdict.verdict == "keep"

    sizes = {"a": 200, "b": 190, "c": 3}
    baseline = of_classes({"a": 0.6, "b": 0.6, "c": 1.0}, sizes, "a")
    verdict = gate(baseline, {"knee": of_classes({"a": 0.95, "b": 0.95, "c": 0.5}, sizes, "b")}, margin=0.2)
    (test,) = verdict.tests
    assert (verdict.verdict, test.is_harmful) == ("better", False)
    assert [(loss.label, loss.is_sure) for loss in test.losses] == [("c", False)]


def test_of_scored_answers_the_mean_score_of_each_class_counts() -> None:
    def scored(of_spam: float, of_ham: float) -> Predictions:
        answered = of_classes({"ham": 1.0, "spam": 1.0}, RARE, "ham")
        scores = np.where(answered.truth[:, None] == 1, of_spam, of_ham) * np.ones((400, Q))
        return replace(answered, metric_scores=scores)

    verdict = gate(scored(0.9, 0.5), {"knee": scored(0.2, 0.8)})
    (test,) = verdict.tests
    assert (verdict.verdict, test.macro_f1) == ("keep", None)
    (loss,) = test.losses
    assert loss.label == "spam"
    assert [loss.before, loss.after] == pytest.approx([0.9, 0.2])


def test_likely_goes_by_the_estimates_and_off_by_nothing() -> None:
    baseline, nominee, worse = answers(0.6, 0.1, n=30), answers(0.68, 0.06, n=30), answers(0.4, n=30)
    assert gate(baseline, {"knee": nominee}).verdict == "keep"
    assert gate(baseline, {"knee": nominee}, mode="likely").id == "knee"
    assert gate(baseline, {"knee": worse}, mode="likely").verdict == "keep"
    off = gate(baseline, {"knee": worse, "short": nominee}, mode="off")
    assert (off.verdict, off.id) == ("untested", "knee")


@each(
    "on_val, is_likely",
    [
        (MeasuredGain(0.12, 0.0, 0.0, 60), True),  # .12 at half the weight of 60 samples against -.1 of 30
        (MeasuredGain(0.12, 0.0, 0.0, 30), False),
        (MeasuredGain(0.08, 0.0, 0.0, 60), False),
        (MeasuredGain(0.12, 0.2, 0.0, 60), False),  # F1 is no lower, but what S loses is more
    ],
)
def test_likely_asks_val_too_at_half_its_weight(on_val: MeasuredGain, is_likely: bool) -> None:
    baseline = answers(0.6, n=30, seed=4)
    array = baseline.array.copy()
    rights = np.flatnonzero(baseline.right.all(axis=1))[:3]
    array[rights] = (TRUTH[rights, None] + 1) % 3
    nominee = Predictions(array, SAMPLES[:30], LABELS)
    assert gate(baseline, {"knee": nominee}, mode="likely").verdict == "keep"
    verdict = gate(baseline, {"knee": nominee}, mode="likely", on_val={"knee": {"": on_val}})
    assert (verdict.id == "knee") is is_likely
    (test,) = verdict.tests
    assert test.f1.difference == pytest.approx(-0.1)  # of test alone, as ever
    share = 0.5 * on_val.n_samples / (0.5 * on_val.n_samples + 30)
    assert test.estimate.f1 == pytest.approx(share * on_val.f1 - (1 - share) * 0.1)
    assert read_data(Verdict, verdict.to_dict()) == verdict


def test_where_there_is_nobody_the_baseline_stays_and_a_pinned_sample_that_is_not_in_test_is_refused() -> None:
    assert gate(BASELINE, {}).reason == "nothing on val was better without losing a point of F1 or S"
    assert untested("sure", 0.01, "the limit did not pay").verdict == "keep"
    with pytest.raises(InputError, match="'s400' is none of the 400 test samples"):
        check_pinned(["s1", "s400"], SAMPLES)


def test_better_in_both_measures_takes_no_smaller_p_values_than_better_in_one() -> None:
    """Simes' p-value of .03 and .04 is .04, where Bonferroni's is .06."""
    test = gate(BASELINE, {"knee": BETTER}).tests[0]
    f1, stable = replace(test.f1, not_worse=0.01, better=0.03), replace(test.sensitivity, not_worse=0.02, better=0.04)
    both = replace(test, f1=f1, sensitivity=stable)
    assert both.p_value == pytest.approx(0.04)
    assert replace(both, sensitivity=replace(stable, better=0.5)).p_value == pytest.approx(0.06)


def test_holm_steps_down_and_stops() -> None:
    # alpha .05 and three tests: .0167, .025, .05
    assert [passed for passed, _ in holm([0.02, 0.01, 0.04], 0.05)] == [True, True, True]
    assert [passed for passed, _ in holm([0.03, 0.01, 0.04], 0.05)] == [False, True, False]
    assert [passed for passed, _ in holm([0.02, 0.02, 0.02], 0.05)] == [False, False, False]
    assert holm([], 0.05) == []
