"""Bounds: which figure must keep to them, of each class and sample too; pinned samples; and what is said beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psopt
import pytest
from psopt.api import Threshold
from psopt.errors import InputError
from psopt.evaluation import Predictions, note_size, score
from psopt.search.gating import gate
from psopt.tasks import Sample, Task

from tests.sweeps import each

LABELS = ("a", "b", "never")
RIGHT_OF_TEN = [10, 9, 8, 7, 0, 10, 10, 10]  # of each sample, how many of ten answers are right
TASK = Task.from_records([{"text": f"text {n}", "label": "ab"[n % 2]} for n in range(60)], name="letters")


def answered(right_of_ten: list[int], n_wordings: int = 10) -> Predictions:
    """Samples s0, s1, .. in turn of a and of b, each answered rightly under so many of ten wordings."""
    truth = np.arange(len(right_of_ten)) % 2
    samples = tuple(Sample(f"s{number}", f"text {number}", LABELS[label]) for number, label in enumerate(truth))
    array = np.where(np.arange(10) < np.array(right_of_ten)[:, None], truth[:, None], 1 - truth[:, None])
    return Predictions(array[:, :n_wordings], samples, LABELS)


PREDICTIONS = answered(RIGHT_OF_TEN)
SCORES: Any = score(PREDICTIONS, intervals=True)


def held(predictions: Predictions = PREDICTIONS, **bounds: Any) -> Any:
    """The bounds of a check whose model answers so: a row a text, a column a wording."""
    wordings: dict[str, int] = {}

    def predict(prompts: Any, texts: Any, *_: Any) -> Any:
        columns = [wordings.setdefault(prompt.description, len(wordings)) for prompt in prompts]
        return predictions.array[np.ix_([int(text.split()[1]) for text in texts], columns)]

    task = replace(TASK, labels=LABELS, train=(), val=(), test=predictions.samples)
    return psopt.check(task, model=SimpleNamespace(name="told", is_free=True, predict=predict), **bounds).thresholds


def test_every_class_that_occurs_has_a_bound_of_its_own_and_so_has_macro_f1() -> None:
    """a: 28 of 40 right and 4 of b's taken for it, 56 / (56 + 12 + 4); b: 36 right, 72 / (72 + 4 + 12)."""
    a, b = held(min_class_f1=0.8)
    assert [(one.label, one.met) for one in (a, b)] == [("a", False), ("b", True)]
    assert (a.value, b.value) == pytest.approx((56 / 72, 72 / 88))
    assert str(a).startswith("missed: F1 of a 77.8 < 80 (95 %: ")
    (only,) = held(min_class_f1={"a": 0.7})
    assert only.met
    assert held(min_class_f1="a=.7") == held(min_class_f1=["a=0.7"]) == (only,)
    with pytest.raises(InputError, match="'never' has no F1, for no sample has this label") as raised:
        held(min_class_f1={"never": 0.5})
    assert "\n" not in str(raised.value)
    assert SCORES.macro_f1 == pytest.approx((56 / 72 + 72 / 88) / 2)
    assert held(min_macro_f1=0.79)[0].met
    ends = [held(PREDICTIONS, min_macro_f1=0.79, **{end: True})[0].value for end in ("use_ci_bound", "alarm")]
    assert ends == list(SCORES.ci["macro_f1"])
    assert all(type(end) is float for end in ends)  # JSON has no NumPy's numbers
    together = held(min_macro_f1=0.5, min_class_f1=0.5, each=0.5)
    assert [one.option for one in together] == ["min_macro_f1", *2 * ["min_class_f1"], "min_each"]


def test_samples_that_lose_their_right_answer_are_named_the_worst_first() -> None:
    (lost,) = held(each=0.8, min_each=1.0)
    assert (lost.met, lost.value) == (False, 6 / 8)
    assert [(sample.id, sample.right) for sample in lost.failing] == [("s4", 0.0), ("s3", 0.7)]
    assert str(lost).startswith("missed: samples right under 80 % of wordings 75.0 < 100 (95 %: ")
    assert str(lost).endswith("8 samples x 10 wordings): s4, s3")
    assert held(each=1.0, min_each=0.5)[0].met
    assert not held(each=1.0, min_each=0.51)[0].met
    (of_many,) = held(answered([0] * 14), each=0.5)
    assert str(of_many).endswith(": s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 4 more")
    assert len(of_many.failing) == 14


@each(
    "bounds, message",
    [
        ({"min_class_f1": {"c": 0.5}}, "no label is called 'c'; there are a, b"),
        ({"min_each": 0.5}, "give each too"),
        ({"min_class_f1": {"a": 7}}, "a number from 0 to 1 is expected"),
        ({"min_f1": True}, "min_f1 must be a number, not True"),
        ({}, r"nothing to check: .*min_macro_f1, min_class_f1, .*each or pinned$"),
        (
            {"max_sensitivity": 0.001, "use_ci_bound": True, "rephrasings": 1},
            r"S can't be checked under one wording.*rephrasings=2",
        ),
        ({"max_sensitivity": 0.001, "use_ci_bound": True, "alarm": True}, "give one"),
    ],
)
def test_bounds_that_can_not_be_asked_are_said_before_a_model_is(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        psopt.check(TASK, model="openai/nobody-is-asked", **bounds)
    assert "\n" not in str(raised.value)


@each("option, name", [("min_f1", "f1"), ("max_sensitivity", "sensitivity"), ("max_na_rate", "na_rate")])
def test_the_bad_end_is_harder_and_the_good_end_easier_than_the_estimate(option: str, name: str) -> None:
    with_na = Predictions(
        np.where(PREDICTIONS.array == [[0], [1]] * 4, PREDICTIONS.array, len(LABELS)), PREDICTIONS.samples, LABELS
    )
    scores: Any = score(with_na, intervals=True)
    low, high = scores.ci[name]
    is_most = option.startswith("max")
    bad, good = (high, low) if is_most else (low, high)
    just_kept = {option: getattr(scores, name)}
    assert held(with_na, **just_kept)[0].met
    assert not held(with_na, **just_kept, use_ci_bound=True)[0].met
    assert held(with_na, **{option: bad}, use_ci_bound=True)[0].met
    assert held(with_na, **{option: good}, alarm=True)[0].met
    beyond = good - 0.001 if is_most else good + 0.001
    assert not held(with_na, **{option: beyond}, alarm=True)[0].met


def test_each_bound_is_said_with_its_interval_and_size() -> None:
    low, high = SCORES.ci["f1"]
    interval = f"{100 * low:.1f} to {100 * high:.1f}, 8 samples x 10 wordings"
    assert str(held(min_f1=0.5)[0]) == f"ok: F1 80.0 >= 50 (95 %: {interval})"
    sure = str(held(min_f1=0.9, use_ci_bound=True)[0])
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


@each("value, said", [(0.7 - 2e-16, "ok: macro-F1 70.0 >= 70"), (0.6999, "missed: macro-F1 69.99 < 70")])
def test_a_bound_is_met_though_a_mean_of_fractions_falls_short_by_a_rounding_error(value: float, said: str) -> None:
    assert str(Threshold("min_macro_f1", bound=0.7, value=value)) == said


class Knowing:
    """A model that knows the answers, but for text 7, and for text 8 under all wordings but the first."""

    name = "knowing"

    def predict(self, prompts: Any, texts: Sequence[str], _: object = None) -> Any:
        answers = np.array([[int(text.split()[1]) % 2] * len(prompts) for text in texts], dtype=np.int64)
        for row, text in zip(answers, texts, strict=True):
            first_wrong = {"text 7": 0, "text 8": 1}.get(text, len(prompts))
            row[first_wrong:] = 1 - row[first_wrong:]
        return answers


def task(*pinned: int) -> Task:
    rows = [{"id": f"s{i}", "text": f"text {i}", "label": "ab"[i % 2], "pinned": str(i in pinned)} for i in range(60)]
    return Task.from_records({**row, "split": ("train", "val", "test")[i % 3]} for i, row in enumerate(rows))


def test_pinned_samples_of_any_split_must_be_right_under_every_wording_and_are_in_no_score() -> None:
    result = psopt.check(task(1, 7, 8, 9), model=Knowing(), rephrasings=4)
    (threshold,) = result.thresholds
    assert not result.met
    assert (threshold.option, threshold.value, threshold.n_samples) == ("pinned", 0.5, 4)
    assert [(sample.id, sample.right) for sample in threshold.failing] == [("s7", 0.0), ("s8", 0.25)]
    assert str(threshold) == "missed: pinned samples right under all wordings 50.0 < 100: s7, s8"
    assert psopt.check(task(1, 9), model=Knowing(), rephrasings=4).met
    alone = psopt.check(task(), model=Knowing(), rephrasings=4, samples=10, min_f1=0)
    beside = psopt.check(task(7), model=Knowing(), rephrasings=4, samples=10, min_f1=0)
    assert alone.scores.to_dict() == beside.scores.to_dict()
    assert [threshold.option for threshold in beside.thresholds] == ["min_f1", "pinned"]


def test_the_gate_looks_at_what_the_data_pin_and_at_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[set[str], set[str]]] = []

    def watched(baseline: Predictions, nominees: Any, *, pinned: set[str], **options: Any) -> Any:
        seen.append((pinned, {sample.id for sample in baseline.samples}))
        return gate(baseline, nominees, pinned=pinned, **options)

    monkeypatch.setattr("psopt.api._finishing.gate", watched)
    small: Any = {"trials": 3, "rounds": 1, "rephrasings": 2, "heldout": 2, "test_samples": 8, "cache_dir": tmp_path}
    pinned_too = task(2, 7, 56)  # of test are those whose number is 2 more than a multiple of three
    psopt.optimize(pinned_too, model="sim/wobble=0.5,accuracy=0.6", pinned=["s5"], out=tmp_path / "run", **small)
    ((pinned, samples),) = seen
    assert pinned == {"s2", "s5", "s56"}
    assert pinned <= samples
    assert len(samples) == 8
