"""A prompt takes the place of the baseline only where test shows that it is no worse, and better in something."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.evaluation import Predictions, holm, read_data
from psopt.runs import recommendation_lines
from psopt.search.gating import MeasuredGain, NomineeTest, Verdict, check_pinned, gate, untested
from psopt.tasks import Sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def test_one_that_is_clearly_better_is_handed_back() -> None:
    verdict = gate(BASELINE, {"knee": BETTER})
    assert (verdict.verdict, verdict.id) == ("better", "knee")
    assert (verdict.n_samples, verdict.n_wordings) == (N, Q)
    (test,) = verdict.tests
    assert test.level == 0.05
    assert test.f1.difference == pytest.approx(BETTER.right.mean() - BASELINE.right.mean())
    assert test.f1.low < test.f1.difference < test.f1.high


def test_of_several_that_pass_the_first_in_their_order_is_handed_back() -> None:
    assert gate(BASELINE, {"knee": BETTER, "short": STILL_BETTER}).id == "knee"
    assert gate(BASELINE, {"short": STILL_BETTER, "knee": BETTER}).id == "short"
    assert gate(BASELINE, {"knee": answers(0.5), "short": BETTER}).id == "short"


@pytest.mark.parametrize(
    ("nominee", "why"),
    [
        (BASELINE, "better in neither"),
        (answers(0.5, 0.1), "F1 is lower"),
        (answers(0.62), "F1 lower by 3, though S is better"),
        (answers(0.6, 0.3), "S is higher, though F1 is better"),
        (answers(0.75, 0.02, seed=1), "it may be as well chance: other samples are right"),
    ],
)
def test_else_the_baseline_stays(nominee: Predictions, why: str) -> None:
    if "chance" in why:
        few = {"n": 40}
        verdict = gate(answers(0.6, 0.1, **few), {"knee": answers(0.75, 0.02, seed=1, **few)})
    else:
        verdict = gate(BASELINE, {"knee": nominee})
    assert (verdict.verdict, verdict.id) == ("keep", None), why
    assert verdict.tests[0].p_value > 0.05


def test_a_wider_margin_lets_more_pass() -> None:
    nominee = answers(0.63)
    assert gate(BASELINE, {"knee": nominee}).verdict == "keep"
    assert gate(BASELINE, {"knee": nominee}, margin=0.06).verdict == "better"


def test_a_pinned_sample_must_stay_right() -> None:
    baseline, nominee = answers(0.6, 0.1), answers(0.75, 0.02)
    array = nominee.array.copy()
    place = int(np.flatnonzero(baseline.right.all(axis=1))[0])
    array[place, 3] = (TRUTH[place] + 1) % 3
    nominee = Predictions(array, SAMPLES, LABELS)
    assert gate(baseline, {"knee": nominee}).id == "knee"
    verdict = gate(baseline, {"knee": nominee, "short": STILL_BETTER}, pinned=[f"s{place}"])
    assert verdict.id == "short"
    assert [test.lost for test in verdict.tests] == [(f"s{place}",), ()]
    assert verdict.tests[1].level == 0.025  # who is refused has taken up a part of the level all the same


def nearly_always(label: int, n: int = N) -> Predictions:
    """One label to all texts but every sixteenth, which is answered rightly: steadily, under all wordings."""
    rows = np.where(np.arange(n) % 16 == 0, TRUTH[:n], label)
    return Predictions(np.repeat(rows[:, None], Q, axis=1), SAMPLES[:n], LABELS)


def test_beside_a_prompt_that_nearly_always_answers_the_same_f1_alone_is_tested() -> None:
    shaky = answers(0.6, 0.2)
    assert shaky.sensitivities.mean() > 0 == nearly_always(0).sensitivities.mean()
    verdict = gate(nearly_always(0), {"knee": shaky})
    (test,) = verdict.tests
    assert (verdict.verdict, verdict.id, test.decisive) == ("better", "knee", ("f1",))
    assert test.p_value == test.f1.better <= test.level == 0.05
    assert test.sensitivity.low > 0.05, "reported as it is"
    # 384 of 400: every sixteenth is answered rightly, and of these 25 another 9 are of the label itself
    assert verdict.reason == (
        "The original prompt answers a to 96 % of the texts, so its S and C say nothing: only F1 was tested"
    )
    assert read_data(Verdict, verdict.to_dict()) == verdict
    assert verdict.to_dict()["tests"][0]["decisive"] == ("f1",)


def test_beside_a_guess_that_a_constant_answer_equals_f1_alone_is_tested() -> None:
    guess = Predictions(np.random.default_rng(0).integers(3, size=(N, 1)) + np.zeros((1, Q), int), SAMPLES, LABELS)
    assert guess.right.mean() < 0.34
    assert guess.sensitivities.mean() == 0
    verdict = gate(guess, {"knee": answers(0.6, 0.2)})
    assert (verdict.verdict, verdict.tests[0].decisive) == ("better", ("f1",))
    assert verdict.reason == (
        f"The original prompt has F1 {100 * guess.right.mean():.1f}, not above 33.5 for always answering a, so its "
        "S and C say nothing: only F1 was tested"
    )


def test_a_filter_of_rare_texts_says_something_though_a_constant_answer_has_the_same_f1() -> None:
    rare = tuple(Sample(f"s{index}", "", "spam" if index % 20 == 0 else "ham") for index in range(N))
    found = np.where(np.arange(N) % 10 == 0, 0, 1)  # all spam, and as many others
    filtered = Predictions(np.repeat(found[:, None], Q, axis=1), rare, ("spam", "ham"))
    assert filtered.right.mean() == 0.95
    assert gate(filtered, {"knee": filtered}).tests[0].decisive == ("f1", "sensitivity")


def test_what_is_no_better_in_f1_is_not_handed_back_beside_it_however_steady() -> None:
    assert gate(nearly_always(0), {"knee": nearly_always(1)}).verdict == "keep"
    assert gate(nearly_always(0), {"knee": nearly_always(1)}, mode="likely").verdict == "keep"
    assert gate(nearly_always(0), {"knee": answers(0.6, 0.2)}, mode="likely").verdict == "better"


def test_beside_every_other_prompt_both_are_tested() -> None:
    verdict = gate(BASELINE, {"knee": BETTER})
    assert (verdict.tests[0].decisive, verdict.reason) == (("f1", "sensitivity"), "")
    assert read_data(NomineeTest, verdict.tests[0].to_dict()) == verdict.tests[0]


def of_classes(shares: dict[str, float], sizes: dict[str, int], wrong: str, seed: int = 3) -> Predictions:
    """Every class with its share of samples that are right under all wordings; the others are answered `wrong`."""
    names = tuple(sizes)
    labels = [label for label, n in sizes.items() for _ in range(n)]
    rng = np.random.default_rng(seed)
    rows = [names.index(label if rng.random() < shares[label] else wrong) for label in labels]
    samples = tuple(Sample(f"s{place}", "", label) for place, label in enumerate(labels))
    return Predictions(np.repeat(np.array(rows)[:, None], Q, axis=1), samples, names)


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
        "Keep yours. The best found looks better on the whole, but is worse for single classes: F1 "
    )
    assert second.startswith(
        f"Worse with knee on test: spam {100 * loss.before:.1f} -> {100 * loss.after:.1f} (20 samples"
    )


def test_a_class_that_is_surely_worse_bars_though_macro_f1_is_higher() -> None:
    sizes = {"a": 100, "b": 100, "c": 100}
    verdict = gate(
        of_classes({"a": 0.3, "b": 0.4, "c": 1.0}, sizes, "a"),
        {"knee": of_classes({"a": 1.0, "b": 1.0, "c": 0.6}, sizes, "b")},
    )
    (test,) = verdict.tests
    assert test.macro_f1 is not None
    assert test.macro_f1[1] > test.macro_f1[0]
    assert [(loss.label, loss.is_sure) for loss in test.losses] == [("c", True)]
    assert verdict.verdict == "keep"


def test_a_class_that_loses_by_chance_bars_nobody_and_is_named() -> None:
    sizes = {"a": 200, "b": 190, "c": 3}
    baseline = of_classes({"a": 0.6, "b": 0.6, "c": 1.0}, sizes, "a")
    nominee = of_classes({"a": 0.95, "b": 0.95, "c": 0.5}, sizes, "b")
    verdict = gate(baseline, {"knee": nominee}, margin=0.2)
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
    few: Any = {"n": 30}
    baseline, nominee, worse = answers(0.6, 0.1, **few), answers(0.68, 0.06, **few), answers(0.4, **few)
    assert gate(baseline, {"knee": nominee}).verdict == "keep"
    assert gate(baseline, {"knee": nominee}, mode="likely").id == "knee"
    assert gate(baseline, {"knee": worse}, mode="likely").verdict == "keep"
    off = gate(baseline, {"knee": worse, "short": nominee}, mode="off")
    assert (off.verdict, off.id) == ("untested", "knee")


def gain(f1: float, sensitivity: float = 0.0, n_samples: int = 60) -> MeasuredGain:
    return MeasuredGain(f1, sensitivity, 0.0, n_samples)


@pytest.mark.parametrize(
    ("on_val", "is_likely"),
    [
        (gain(0.12), True),  # .12 at half the weight of 60 samples against -.1 of 30
        (gain(0.12, n_samples=30), False),
        (gain(0.08), False),
        (gain(0.12, 0.2), False),  # F1 is no lower, but what S loses is more
    ],
)
def test_likely_asks_val_too_at_half_its_weight(on_val: MeasuredGain, is_likely: bool) -> None:
    baseline = nominee = answers(0.6, n=30, seed=4)
    array = nominee.array.copy()
    rights = np.flatnonzero(nominee.right.all(axis=1))[:3]
    array[rights] = (TRUTH[rights, None] + 1) % 3
    nominee = Predictions(array, SAMPLES[:30], LABELS)
    assert gate(baseline, {"knee": nominee}, mode="likely").verdict == "keep"
    verdict = gate(baseline, {"knee": nominee}, mode="likely", on_val={"knee": on_val})
    assert (verdict.id == "knee") is is_likely
    (test,) = verdict.tests
    assert test.f1.difference == pytest.approx(-0.1)  # of test alone, as ever
    share = 0.5 * on_val.n_samples / (0.5 * on_val.n_samples + 30)
    assert test.estimate.f1 == pytest.approx(share * on_val.f1 - (1 - share) * 0.1)
    assert read_data(type(verdict), verdict.to_dict()) == verdict


def test_sure_never_looks_at_val() -> None:
    nominee = answers(0.62, 0.1)
    asked = gate(BASELINE, {"knee": nominee}, on_val={"knee": gain(0.9)})
    assert asked.tests[0].p_value == gate(BASELINE, {"knee": nominee}).tests[0].p_value
    assert asked.verdict == "keep"


def test_a_gain_lacks_c_where_one_of_the_scores_does() -> None:
    with_c = SimpleNamespace(f1=0.5, sensitivity=0.2, consistency=0.4)
    without = SimpleNamespace(f1=0.6, sensitivity=0.1, consistency=None)
    assert MeasuredGain.between(with_c, without, 40).consistency is None
    both = MeasuredGain.between(with_c, SimpleNamespace(f1=0.6, sensitivity=0.1, consistency=0.7), 40)
    assert both.consistency == pytest.approx(0.3)
    assert both.total == pytest.approx(0.5)
    assert both.with_val(MeasuredGain.between(with_c, without, 40)).consistency is None


def test_where_there_is_nobody_the_baseline_stays_and_why_is_said() -> None:
    assert gate(BASELINE, {}).reason == "nothing on val was a better compromise"
    assert untested("sure", 0.01, "the limit did not pay").verdict == "keep"


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="likely, off, sure"):
        gate(BASELINE, {}, mode="maybe")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="margin must be 0 or more"):
        gate(BASELINE, {}, margin=-0.1)
    with pytest.raises(InputError, match="'s400' is none of the 400 test samples"):
        check_pinned(["s1", "s400"], SAMPLES)


def test_holm_steps_down_and_stops() -> None:
    # alpha .05 and three tests: .0167, .025, .05
    assert [passed for passed, _ in holm([0.02, 0.01, 0.04], 0.05)] == [True, True, True]
    assert [passed for passed, _ in holm([0.03, 0.01, 0.04], 0.05)] == [False, True, False]
    assert [passed for passed, _ in holm([0.02, 0.02, 0.02], 0.05)] == [False, False, False]
    assert holm([], 0.05) == []


def test_the_verdict_is_plain_json() -> None:
    data = gate(BASELINE, {"knee": BETTER, "short": STILL_BETTER}).to_dict()
    assert [test["id"] for test in data["tests"]] == ["knee", "short"]
    of_f1 = data["tests"][0]["f1"]
    assert set(of_f1) == {"difference", "low", "high", "not_worse", "better", "is_thin", "before", "after"}
    assert of_f1["after"] - of_f1["before"] == pytest.approx(of_f1["difference"])
