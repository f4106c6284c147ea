"""Scores against bounds: which figure must meet which bound, and which bounds can be asked of these answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from psopt.answers import F1
from psopt.errors import InputError
from psopt.evaluation import MOST_NA, Predictions, Reruns, Scores, na_note, rests_on_na
from psopt.metrics import mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.tasks import Task


End = Literal["estimate", "bad", "good"]
"""Which of a score's figures must meet its bound: the estimate, or an end of its 95 % interval."""
ClassBounds = float | Mapping[str, float]
"""The least F1 of every class, or of those that are named."""

_ROUNDING = 1e-9  # a mean of fractions may miss a bound that it meets exactly
_OF_CLASSES = {"min_consistency": "C", "min_macro_f1": "macro-F1", "min_class_f1": "F1 of a class"}
_NEED_ANSWERS = frozenset({"max_sensitivity", "min_consistency"})


def check_bounds(bounds: Mapping[str, float | ClassBounds | None], task: Task, n_rephrasings: int) -> None:
    """Refuse bounds that can't be checked, before any model is asked; at least one must be given.

    Raises InputError, with one line that names the bound and how to fix it.
    """
    active_bounds = {option: bound for option, bound in bounds.items() if bound is not None and bound != {}}
    if not active_bounds:
        *names, last = map(_flag, OPTIONS)
        raise InputError(f"nothing to check: give at least one of {', '.join(names)} or {last}")
    if "max_sensitivity" in active_bounds and n_rephrasings == 1:
        raise InputError(
            "S can't be checked under one wording: nothing can change there, S is 0 whatever the prompt; "
            "give --rephrasings 2 or more (10 is the default), or leave --max-sensitivity out"
        )
    for option in _OF_CLASSES:
        if option in active_bounds and not task.spec.has_labels:
            raise _without_classes(option)
    of_classes = active_bounds.get(MIN_CLASS_F1)
    if isinstance(of_classes, Mapping) and (unknown := [label for label in of_classes if label not in task.labels]):
        raise InputError(f"--min-class-f1: no label is called {unknown[0]!r}; there are {', '.join(task.labels)}")


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _without_classes(option: str) -> InputError:
    name = _OF_CLASSES[option]
    return InputError(f"{name} is not defined for these answers, which have no classes: leave {_flag(option)} out")


def thresholds(
    scores: Scores,
    bounds: Mapping[str, float | ClassBounds | None],
    *,
    end: End = "estimate",
    beyond: Reruns | None = None,
) -> list[Threshold]:
    """Compare scores with bounds, of which only ``min_class_f1`` may be a dict of label to float.

    What must meet them is the estimate; the ``bad`` end of the 95 % interval, so that a prompt that only just meets a
    bound rarely passes; or the ``good`` end, so that such a prompt rarely fails. With `beyond`, what asking again
    changes, ``max_sensitivity`` bounds S beyond that.

    Raises InputError if a bounded score is not defined: C or macro-F1 without classes, or F1 of a label that was
    neither right nor answered anywhere.
    """
    active_bounds = {option: bound for option, bound in bounds.items() if bound is not None}
    held: list[Threshold] = []
    for option, bound in active_bounds.items():
        if option == MIN_CLASS_F1:
            held += _of_classes(scores, bound, end)
        elif isinstance(bound, Mapping):
            raise InputError(f"{option} is one number; only min_class_f1 takes one for each label")
        else:
            held.append(_of_measure(scores, option, bound, end, beyond))
    if _NEED_ANSWERS & active_bounds.keys() and "max_na_rate" not in active_bounds and rests_on_na(scores.na_rate):
        held.append(Threshold(RESTS_ON_NA, MOST_NA, scores.na_rate, na_note(scores.na_rate, scores.na_kinds)))
    return held


def each_threshold(predictions: Predictions, each: float, least: float, *, end: End = "estimate") -> Threshold:
    """Compare the share of samples that are right under at least the share `each` of wordings with the least one."""
    failing = _failing(predictions, each)
    keeps = _shares_right(predictions) >= each
    share = mean_interval(keeps[:, None])
    return _threshold(
        MIN_EACH, least, share.estimate, share.bounds, end, predictions, len(keeps), each=each, failing=failing
    )


def pinned_threshold(predictions: Predictions) -> Threshold:
    """Check that the answers to pinned samples are right under every wording."""
    n_samples, failing = len(predictions.samples), _failing(predictions, 1.0)
    share = (n_samples - len(failing)) / n_samples
    return _threshold(PINNED, 1.0, share, None, "estimate", predictions, n_samples, failing=failing)


def _shares_right(predictions: Predictions) -> NDArray[np.float64]:
    """The share of its wordings under which each sample is right: (N,)."""
    return np.asarray(predictions.n_right / np.maximum(predictions.asked.sum(axis=1), 1))


def _failing(predictions: Predictions, each: float) -> tuple[FailingSample, ...]:
    """The samples that are right under a smaller share of wordings, the worst first."""
    shares = zip(_shares_right(predictions).tolist(), predictions.samples, strict=True)
    failing = [FailingSample(str(sample.id), str(sample.label), share) for share, sample in shares if share < each]
    return tuple(sorted(failing, key=lambda sample: sample.right))


def _threshold(
    option: str,
    bound: float,
    estimate: float,
    interval: tuple[float, float] | None,
    end: End,
    measured_on: Scores | Predictions,
    n_samples: int | None,
    **more: Any,
) -> Threshold:
    """A bound, and the figure that must meet it."""
    value = estimate
    if interval is not None and end != "estimate":
        low, high = interval
        value = high if option.startswith("max") == (end == "bad") else low
    return Threshold(
        option,
        bound,
        value,
        estimate=estimate,
        interval=interval,
        n_samples=n_samples,
        n_rephrasings=measured_on.n_rephrasings,
        varied=measured_on.varied,
        **more,
    )


def _of_measure(scores: Scores, option: str, bound: float, end: End, beyond: Reruns | None) -> Threshold:
    """The threshold of a measure; for S minus that of reruns, if these are given."""
    n_samples = scores.n_samples
    if beyond is not None and option == "max_sensitivity":
        return _threshold(option, bound, beyond.beyond, beyond.ci, end, scores, n_samples, measure=BEYOND_RERUNS)
    name = MEASURES[option]
    estimate = getattr(scores, name)
    if estimate is None or np.isnan(estimate):
        raise _without_classes(option)
    measure = ""
    if name == "f1" and scores.quality_name != F1:
        measure = scores.quality_name
    return _threshold(option, bound, float(estimate), scores.ci.get(name), end, scores, n_samples, measure=measure)


def _of_classes(scores: Scores, bound: ClassBounds, end: End) -> list[Threshold]:
    """One threshold per class: for all that have an F1, or for those that are named."""
    if not scores.per_class:
        raise _without_classes(MIN_CLASS_F1)
    if not isinstance(bound, Mapping):
        bound = {label: bound for label, of_class in scores.per_class.items() if of_class.f1 is not None}
    held = []
    for label, least in bound.items():
        of_class = scores.per_class.get(label)
        if of_class is None or of_class.f1 is None:
            raise InputError(
                f"--min-class-f1: {label!r} has no F1, for no sample has this label and no answer names it; "
                "leave it out, or check more samples (--samples, --split)"
            )
        interval = of_class.ci.get("f1")
        held.append(_threshold(MIN_CLASS_F1, least, of_class.f1, interval, end, scores, of_class.n, label=label))
    return held


OPTIONS = ("max_sensitivity", "min_f1", "min_macro_f1", "min_class_f1", "min_consistency", "max_na_rate", "each", "pin")
MEASURES = {
    "max_sensitivity": "sensitivity",
    "min_f1": "f1",
    "min_macro_f1": "macro_f1",
    "min_consistency": "consistency",
    "max_na_rate": "na_rate",
}
MIN_CLASS_F1 = "min_class_f1"
MIN_EACH = "min_each"
PINNED = "pinned"
BEYOND_RERUNS = "sensitivity beyond reruns"
RESTS_ON_NA = "rests_on_na"
DRIFT = "drift"
_ON_SCREENS = {
    "sensitivity": "S",
    BEYOND_RERUNS: "S beyond reruns",
    "f1": "F1",
    "macro f1": "macro-F1",
    "consistency": "C",
    "na rate": "N/A",
}
_MOST_NAMED = 10  # samples that a line names; nobody reads more


@dataclass(frozen=True, slots=True)
class FailingSample:
    """A sample that loses its right answer under too many wordings."""

    id: str
    label: str  # what is right
    right: float  # the share of wordings under which it is answered correctly, in [0, 1]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound, and what was measured."""

    # ``max_sensitivity``, ``min_f1``, ``min_macro_f1``, ``min_class_f1`` (one for each class), ``min_consistency``,
    # ``max_na_rate``, ``min_each``, ``pinned``, ``drift`` (a p-value, which is missed up to the bound), or
    # ``rests_on_na``, which is missed if S or C are bounded, more answers than `MOST_NA` name no label, and no
    # ``max_na_rate`` says how many may
    option: str
    bound: float
    value: float  # what must meet the bound: the estimate, or an end of the interval
    note: str = ""  # the text for ``rests_on_na`` and ``drift``
    estimate: float | None = None  # None for ``rests_on_na``, like the other figures
    interval: tuple[float, float] | None = None  # 95 %; for ``min_each`` over samples, under just these wordings
    # What it was measured on
    n_samples: int | None = None
    n_rephrasings: int | None = None
    varied: str = "wordings"  # what it was asked under: wordings, changed texts, or both
    # What was measured, if it is not what the option is named after: ``closeness`` of ordered labels, or S beyond
    # reruns
    measure: str = ""
    label: str = ""  # the class of ``min_class_f1``
    each: float | None = None  # for ``min_each``, the share of wordings under which a sample must stay right
    # For ``min_each`` and ``pinned``, all samples that don't, worst first; there may be some even if the bound is met
    failing: tuple[FailingSample, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the value meets the bound."""
        if self.option == DRIFT:
            return self.value > self.bound
        lead = self.bound - self.value if self._is_most else self.value - self.bound
        return lead >= -_ROUNDING

    @property
    def _is_most(self) -> bool:
        return self.option.startswith("max") or self.option == RESTS_ON_NA

    @property
    def name(self) -> str:
        """What is bounded, in words: JUnit's name for it."""
        names = {
            RESTS_ON_NA: "answers that name no label",
            DRIFT: f"drift of {self.measure}",
            MIN_CLASS_F1: f"f1 of {_printable(self.label)}",
            PINNED: f"pinned samples right under all {self.varied}",
            MIN_EACH: f"samples right under {100 * (self.each or 0):g} % of {self.varied}",
        }
        return names.get(self.option) or self.measure or MEASURES[self.option].replace("_", " ")

    @property
    def title(self) -> str:
        """What is bounded, as screens and tables show it."""
        if self.option == MIN_CLASS_F1:
            return f"F1 of {_printable(self.label)}"
        return _ON_SCREENS.get(self.name, self.name)

    def __str__(self) -> str:
        verdict = "ok" if self.met else "missed"
        if self.option in {RESTS_ON_NA, DRIFT}:
            return f"{verdict}: {self.note}"
        sign = ("<=" if self.met else ">") if self._is_most else (">=" if self.met else "<")
        line = f"{verdict}: {self.title} {self.percent(self.value)} {sign} {100 * self.bound:g}{self._measured()}"
        if self.failing and not self.met:
            line += f": {self._named()}"
        return line

    def percent(self, share: float) -> str:
        """A share in percent: to one decimal, or to as many as distinguish it from the bound.

        >>> Threshold("max_sensitivity", bound=0.1, value=0.1002).percent(0.1002)
        '10.02'
        """
        bound = 100 * self.bound
        for decimals in (1, 2, 3):
            text = f"{100 * share:.{decimals}f}"
            if float(text) != bound or abs(share - self.bound) <= _ROUNDING:
                break
        return text

    def _measured(self) -> str:
        """What was measured, in percent, and on what."""
        if self.interval is None or self.estimate is None:
            return ""
        low, high = self.interval
        interval = f"{100 * low:.1f} to {100 * high:.1f}"
        name = "95 %"
        if self.value != self.estimate:
            name += f" of {100 * self.estimate:.1f}"
        varied = "wording" if self.n_rephrasings == 1 else self.varied
        return f" ({name}: {interval}, {self.n_samples} samples x {self.n_rephrasings} {varied})"

    def _named(self) -> str:
        """The first of the samples that fail."""
        names = ", ".join(_printable(sample.id) for sample in self.failing[:_MOST_NAMED])
        n_more = len(self.failing) - _MOST_NAMED
        return f"{names} and {n_more:,} more" if n_more > 0 else names


def _printable(text: str) -> str:
    """A user's text as part of one line, without characters that move a terminal's cursor; its spaces stay."""
    return "".join(character if character.isprintable() else " " for character in text)
