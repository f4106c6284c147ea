"""What the gate finds out about one nominee: whether it is no worse than the baseline, and better in something."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import compare_classes, compare_paired, holm, pooled, quality_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from psopt.evaluation import Objectives, Predictions, Scores
    from psopt.metrics import PairedDifference


_ENOUGH = 5  # test samples of a class: with fewer, a whole class may be lost by chance. Chosen, not measured
ALPHA = 0.05
"""How often the gate may recommend a prompt that is truly worse: Fisher's convention."""
MARGIN_OF_S = 0.01  # like F1's by default: nobody would notice a point of either. Chosen, not measured
_MEASURES = ("f1", "sensitivity", "consistency", "macro_f1")
BOTH = ("f1", "sensitivity")
F1_ALONE = ("f1",)


@dataclass(frozen=True, slots=True)
class _ClassLoss:
    """A class whose F1 is lower by the margin or more."""

    label: str
    n: int  # its test samples
    # Its F1; if answers are scored, the mean score of its samples
    before: float
    after: float
    is_sure: bool  # whether a one-sided test confirms it, at Holm's level over all classes with five samples or more


def _class_losses(
    baseline: Predictions, nominee: Predictions, margin: float
) -> tuple[tuple[_ClassLoss, ...], tuple[float, float] | None]:
    """Return the classes that lose, the worst first, and macro-F1 of both prompts; None if answers are scored."""
    classes = compare_classes(baseline, nominee)
    enough = [of_class for of_class in classes if of_class.n >= _ENOUGH]
    judged = holm([of_class.paired.p_below() for of_class in enough], ALPHA)
    surely = {of_class.label for of_class, (is_worse, _) in zip(enough, judged, strict=True) if is_worse}
    losses = [
        _ClassLoss(of_class.label, of_class.n, of_class.before, of_class.after, of_class.label in surely)
        for of_class in classes
        if _falls(of_class.after - of_class.before, margin)
    ]
    losses.sort(key=lambda loss: (not loss.is_sure, loss.after - loss.before))
    is_scored = baseline.quality is not None and baseline.label_rows is None
    if is_scored or not classes:
        return tuple(losses), None
    before, after = np.mean([(of_class.before, of_class.after) for of_class in classes], axis=0).tolist()
    return tuple(losses), (before, after)


def _falls(difference: float | None, margin: float) -> bool:
    """Whether a score is lower by the margin or more; a rounding error does not count."""
    return difference is not None and difference <= -max(margin, 1e-9)


@dataclass(frozen=True, slots=True)
class OneSided:
    """A nominee's difference from the baseline in one measure, nominee minus baseline, and its one-sided p-values."""

    difference: float  # with its two-sided 95 % interval
    low: float
    high: float
    not_worse: float  # the p-value of "worse by the margin or more"
    better: float  # the p-value of "no better"
    is_thin: bool  # whether so few samples differ that unseen ones decide (see `psopt.metrics.PairedDifference`)
    before: float  # the baseline's value
    after: float  # the nominee's

    @classmethod
    def of(cls, paired: PairedDifference, margin: float, before: float, after: float, *, is_cost: bool) -> OneSided:
        """For a measure of which higher values are better or, if it `is_cost`, lower ones."""
        if is_cost:
            p_values = paired.p_below(margin), paired.p_below()
        else:
            p_values = paired.p_above(-margin), paired.p_above()
        of = paired.difference, paired.low, paired.high
        return cls(*of, *p_values, paired.thin is not None, before, after)


@dataclass(frozen=True, slots=True)
class NomineeTest:
    """A nominee against the baseline, on test under held-out wordings."""

    id: str
    f1: OneSided
    sensitivity: OneSided
    consistency: float | None  # the difference in C, which is not tested; None if C is not defined
    estimate: MeasuredGain  # from test and, if its scores were given, val (see `MeasuredGain.with_val`)
    # Ids of pinned samples that, under some wording, the baseline answers correctly and the nominee does not
    lost: tuple[str, ...] = ()
    passed: bool = False
    level: float = 0.0  # what `p_value` was compared with
    decisive: tuple[str, ...] = BOTH  # the measures tested: F1 alone if S of the baseline means nothing
    losses: tuple[_ClassLoss, ...] = ()  # the classes that are worse by the margin or more, sure ones first
    macro_f1: tuple[float, float] | None = None  # before and after; None if a metric or closeness decides
    is_harmful: bool = False  # whether a class is surely worse, or macro-F1 lower by the margin or more: it is barred
    # With several models, which must all pass: the test with each, by its name. The differences above are those of the
    # models with the least certain results.
    of_models: dict[str, NomineeTest] = field(default_factory=dict)

    @property
    def is_barred(self) -> bool:
        """Whether it fails whatever its F1 and S, because a pinned sample or a class is lost."""
        return bool(self.lost) or self.is_harmful

    @property
    def p_value(self) -> float:
        """The p-value of "worse by a margin in F1 or in S, or better in neither": the largest of three, uncorrected.

        All three must pass (an intersection-union test: Berger, Technometrics 1982). With several models, "not worse"
        must pass with each, and "better" with one of them in one measure: Simes' p-value (Biometrika 1986) corrects for
        the number of chances. One and the same sample moves F1 and S together, which is the dependence that it allows.
        """
        tests = self.of_models.values() or (self,)
        chances = sorted(itertools.chain.from_iterable(test.p_better for test in tests))
        simes = min(len(chances) * p_value / rank for rank, p_value in enumerate(chances, start=1))
        return max(self.p_not_worse, simes)

    @property
    def p_better(self) -> tuple[float, ...]:
        """The p-values of "no better" in each decisive measure: one measure is enough."""
        return tuple(getattr(self, measure).better for measure in self.decisive)

    @property
    def p_not_worse(self) -> float:
        """The p-value of "worse by a margin in a decisive measure", uncorrected."""
        if self.of_models:
            return max(test.p_not_worse for test in self.of_models.values())
        return float(max(getattr(self, measure).not_worse for measure in self.decisive))

    @property
    def is_likely(self) -> bool:
        """Whether by the estimate F1 is no lower and F1 - S + C (or F1 alone) higher, with every model."""
        if self.of_models:
            return all(test.is_likely for test in self.of_models.values())
        if self.is_barred:
            return False
        gain = self.estimate.f1 if self.decisive == F1_ALONE else self.estimate.total
        return self.estimate.f1 >= 0 and gain > 0

    def with_steadiness_of(self, other: NomineeTest) -> NomineeTest:
        """Return it with the S and C of another test, of the models with which the original prompt's mean something."""
        estimate = replace(
            self.estimate, sensitivity=other.estimate.sensitivity, consistency=other.estimate.consistency
        )
        return replace(self, sensitivity=other.sensitivity, consistency=other.consistency, estimate=estimate)

    def to_dict(self) -> dict[str, Any]:
        data = {**asdict(self), "p_value": self.p_value}
        del data["of_models"]
        if self.of_models:
            data["of_models"] = {name: test.to_dict() for name, test in self.of_models.items()}
        return data


def compare_nominee(
    nominee_id: str,
    baseline: Predictions,
    nominee: Predictions,
    margin: float,
    pinned: Collection[str] = (),
    on_val: MeasuredGain | None = None,
    decisive: tuple[str, ...] = BOTH,
    *,
    by_estimate: bool = False,
) -> NomineeTest:
    """Compare a nominee with the baseline on the same samples and wordings; with several models, in their mean."""
    paired = compare_paired(baseline, nominee)
    consistency = paired["consistency"].difference if "consistency" in paired else None
    of_all = pooled(baseline), pooled(nominee)
    losses, macro = _class_losses(*of_all, margin)
    on_test = MeasuredGain(
        paired["f1"].difference,
        paired["sensitivity"].difference,
        consistency,
        len(baseline.samples),
        _difference(*macro) if macro else None,
    )
    estimate = on_test.with_val(on_val)
    decisive_gain = estimate if by_estimate else on_test
    (f1_before, s_before), (f1_after, s_after) = _means(baseline), _means(nominee)
    return NomineeTest(
        nominee_id,
        OneSided.of(paired["f1"], margin, f1_before, f1_after, is_cost=False),
        OneSided.of(paired["sensitivity"], MARGIN_OF_S, s_before, s_after, is_cost=True),
        consistency,
        estimate,
        _lost(*of_all, pinned),
        decisive=decisive,
        losses=losses,
        macro_f1=macro,
        is_harmful=any(loss.is_sure for loss in losses) or _falls(decisive_gain.macro_f1, margin),
    )


def _means(predictions: Predictions) -> tuple[float, float]:
    """F1 and S, each in the mean of the models."""
    of_models = [(quality_of(answers), answers.sensitivities.mean()) for answers in predictions.each]
    f1, sensitivity = np.mean(of_models, axis=0).tolist()
    return f1, sensitivity


def with_every_model(tests: Mapping[str, NomineeTest]) -> NomineeTest:
    """Combine the tests with each of several models, which must all pass; the least certain results are shown."""
    each = list(tests.values())
    f1 = max((test.f1 for test in each), key=lambda tested: (tested.not_worse, -tested.difference))
    stable = max((test.sensitivity for test in each), key=lambda tested: (tested.not_worse, tested.difference))
    known = (test.macro_f1 for test in each if test.macro_f1 is not None)
    macro = min(known, key=lambda pair: pair[1] - pair[0], default=None)
    consistencies = [test.consistency for test in each if test.consistency is not None]
    losses: list[_ClassLoss] = []
    for name, test in tests.items():
        losses += [replace(loss, label=f"{loss.label} ({name})") for loss in test.losses]
    return NomineeTest(
        each[0].id,
        f1,
        stable,
        min(consistencies, default=None),
        min((test.estimate for test in each), key=lambda estimate: estimate.total),
        tuple(dict.fromkeys(itertools.chain.from_iterable(test.lost for test in each))),
        decisive=BOTH if any(test.decisive == BOTH for test in each) else F1_ALONE,
        losses=tuple(losses),
        macro_f1=macro,
        is_harmful=any(test.is_harmful for test in each),
        of_models=dict(tests),
    )


def _lost(baseline: Predictions, nominee: Predictions, pinned: Collection[str]) -> tuple[str, ...]:
    worse = np.any(baseline.right & ~nominee.right, axis=1).tolist()
    samples = zip(baseline.samples, worse, strict=True)
    return tuple(sample.id for sample, is_worse in samples if is_worse and sample.id in pinned)


VAL_WEIGHT = 0.5
"""The weight of a val sample relative to a test sample: val has chosen the prompt, so its gain is partly luck.

What other weights would do is in docs/decisions.md, as measured by ``make promise``.
"""


@dataclass(frozen=True, slots=True)
class MeasuredGain:
    """A nominee's differences from the baseline, nominee minus baseline, and how many samples they come from."""

    f1: float
    sensitivity: float
    consistency: float | None  # None if C is not defined
    n_samples: int
    macro_f1: float | None = None  # None if a metric or closeness decides, or it is unknown

    @classmethod
    def between(cls, before: Objectives, after: Objectives, n_samples: int) -> MeasuredGain:
        """The differences of scores on the same samples and wordings; estimated ones have no macro-F1."""
        values = {name: (getattr(before, name, None), getattr(after, name, None)) for name in _MEASURES}
        differences: dict[str, Any] = {name: _difference(*of_both) for name, of_both in values.items()}
        return cls(n_samples=n_samples, **differences)

    @classmethod
    def of_each(cls, before: Scores, after: Scores, n_samples: int) -> dict[str, MeasuredGain]:
        """The differences with each of several models, by its name, and those of all, or of the only one, by ""."""
        gains = {
            name: cls.between(of_model, after.per_model[name], n_samples) for name, of_model in before.per_model.items()
        }
        return {**gains, "": cls.between(before, after, n_samples)}

    @property
    def total(self) -> float:
        """The difference in F1 - S + C."""
        return self.f1 - self.sensitivity + (self.consistency or 0.0)

    def with_val(self, val: MeasuredGain | None) -> MeasuredGain:
        """The mean of this gain, measured on test, and val's: weighted by samples, each of val with `VAL_WEIGHT`."""
        if val is None:
            return self
        share = VAL_WEIGHT * val.n_samples / (VAL_WEIGHT * val.n_samples + self.n_samples)
        means: dict[str, Any] = {}
        for name in _MEASURES:
            of_test, of_val = getattr(self, name), getattr(val, name)
            means[name] = None if of_test is None or of_val is None else (1 - share) * of_test + share * of_val
        return MeasuredGain(n_samples=self.n_samples + val.n_samples, **means)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
