"""`psopt.check`: is a prompt robust enough to ship? Its scores against bounds, and which bounds can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import F1
from psopt.api._measure import measurements
from psopt.api._progress import reading
from psopt.errors import InputError
from psopt.evaluation import MOST_NA, Predictions, Reruns, Scores, na_note, score
from psopt.metrics import mean_interval
from psopt.search.gating import check_pinned
from psopt.settings import BoundOptions, MeasureOptions, PromptOptions, built, group_given
from psopt.text import counted, one_line, shortened_list

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.models import OnProgress
    from psopt.tasks import Sample, Task


_MIN_CLASS_F1 = "min_class_f1"
# By option: the attribute of `Scores`, and what screens call it
_MEASURES = {
    "max_sensitivity": ("sensitivity", "S"),
    "min_f1": ("f1", "F1"),
    "min_macro_f1": ("macro_f1", "macro-F1"),
    _MIN_CLASS_F1: ("f1", "F1 of a class"),
    "min_consistency": ("consistency", "C"),
    "max_na_rate": ("na_rate", "N/A"),
}
_OF_CLASSES = ("min_consistency", "min_macro_f1", _MIN_CLASS_F1)
_MIN_EACH = "min_each"
_PINNED = "pinned"
_BEYOND_RERUNS = "sensitivity beyond reruns"
RESTS_ON_NA = "rests_on_na"
DRIFT = "drift"
_MOST_NAMED = 10  # samples that a line names; nobody reads more
_ROUNDING = 1e-9  # a mean of fractions may miss a bound that it meets exactly


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
            _MIN_CLASS_F1: f"f1 of {one_line(self.label)}",
            _PINNED: f"pinned samples right under all {self.varied}",
            _MIN_EACH: f"samples right under {100 * (self.each or 0):g} % of {self.varied}",
        }
        return names.get(self.option) or self.measure or _MEASURES[self.option][0].replace("_", " ")

    @property
    def title(self) -> str:
        """What is bounded, as screens and tables show it."""
        if self.option == _MIN_CLASS_F1:
            return f"F1 of {one_line(self.label)}"
        if self.measure == _BEYOND_RERUNS:
            return "S beyond reruns"
        return self.name if self.measure or self.option not in _MEASURES else _MEASURES[self.option][1]

    def __str__(self) -> str:
        verdict = "ok" if self.met else "missed"
        if self.option in {RESTS_ON_NA, DRIFT}:
            return f"{verdict}: {self.note}"
        sign = ("<=" if self.met else ">") if self._is_most else (">=" if self.met else "<")
        line = f"{verdict}: {self.title} {self.percent(self.value)} {sign} {100 * self.bound:g}{self._measured()}"
        if self.failing and not self.met:
            line += f": {shortened_list([one_line(sample.id) for sample in self.failing], _MOST_NAMED)}"
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
        if self.interval is None or self.estimate is None:
            return ""
        low, high = self.interval
        interval = f"{100 * low:.1f} to {100 * high:.1f}"
        name = "95 %"
        if self.value != self.estimate:
            name += f" of {100 * self.estimate:.1f}"
        varied = "wording" if self.n_rephrasings == 1 else self.varied
        return f" ({name}: {interval}, {counted(self.n_samples or 0, 'sample')} x {self.n_rephrasings} {varied})"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was measured, and whether each bound is met."""

    scores: Scores
    thresholds: tuple[Threshold, ...]
    diversity: float | None = None  # how much the rephrasings differ from each other
    reruns: Reruns | None = None  # what asking again changes, if that was asked for

    @property
    def met(self) -> bool:
        """Whether all bounds are met."""
        return all(threshold.met for threshold in self.thresholds)


def check(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    bounds: BoundOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> CheckResult:
    """Measure a prompt under rephrasings and compare its scores with bounds.

    Raises PsoptError if no bound is given, S is bounded under a single wording, or an argument or the task can't be
    used.

    Parameters
    ----------
    task, prompt, model, prompt_options, strategy, options, on_progress, progress
        See `measure`.
    bounds : BoundOptions, optional
        The bounds that it must meet.
    **settings
        Bounds by name, such as ``max_sensitivity=.1``, ``min_class_f1={"billing": .8}``, ``each=.8``, ``pinned=["17"]``
        or ``use_ci_bound=True`` (see `BoundOptions`); and the settings of `measure`.
    """
    (measurement,), model = measurements(
        task, [prompt], model, options, settings, strategy, prompt_options, BoundOptions
    )
    asked_of_it = built(BoundOptions, settings, group_given("bounds", bounds, BoundOptions))
    task, options = measurement.task, measurement.options
    if asked_of_it.beyond_reruns and not options.rephrasing.repeats:
        raise InputError("--beyond-reruns needs what asking again changes: add --vary repeat")
    to_keep = pinned_samples(task, asked_of_it.pinned)
    check_bounds(asked_of_it, task, options.rephrasings, has_pinned=bool(to_keep))
    measurement = replace(measurement, pinned=to_keep)
    with reading(on_progress, progress) as on_reading:
        answered, reruns = measurement.predict_again(model, on_reading)
    predictions = measurement.of_samples(answered)
    scores = score(predictions, intervals=True)
    held = thresholds(asked_of_it, scores, predictions, reruns)
    if to_keep:
        ids, n_pinned = {sample.id for sample in to_keep}, len(to_keep)
        failing = _failing(answered.of_samples(np.array([sample.id in ids for sample in answered.samples])), 1.0)
        share = (n_pinned - len(failing)) / n_pinned
        held.append(_held(asked_of_it, scores, _PINNED, 1.0, share, None, n_samples=n_pinned, failing=failing))
    return CheckResult(scores, tuple(held), predictions.diversity, reruns)


def pinned_samples(task: Task, named: Collection[str] = ()) -> tuple[Sample, ...]:
    """The samples that are pinned in the data, and those that are named; raises InputError for an id that none has."""
    check_pinned(named, task.samples, "samples")
    return tuple(sample for sample in task.samples if sample.pinned or sample.id in named)


def check_bounds(options: BoundOptions, task: Task, n_rephrasings: int, *, has_pinned: bool) -> None:
    """Refuse bounds that can't be checked, before any model is asked; at least one must be given. Raises InputError."""
    active_bounds = _active(options)
    if not (active_bounds or has_pinned or options.each is not None):
        *names, last = map(_flag, (*_MEASURES, "each", "pin"))
        raise InputError(f"nothing to check: give at least one of {', '.join(names)} or {last}")
    if "max_sensitivity" in active_bounds and n_rephrasings == 1:
        raise InputError(
            "S can't be checked under one wording: nothing can change there, S is 0 whatever the prompt; "
            "give --rephrasings 2 or more (10 is the default), or leave --max-sensitivity out"
        )
    for option in _OF_CLASSES:
        if option in active_bounds and not task.spec.has_labels:
            _, name = _MEASURES[option]
            raise InputError(
                f"{name} is not defined for these answers, which have no classes: leave {_flag(option)} out"
            )
    of_classes = active_bounds.get(_MIN_CLASS_F1)
    if isinstance(of_classes, Mapping) and (unknown := [label for label in of_classes if label not in task.labels]):
        raise InputError(f"--min-class-f1: no label is called {unknown[0]!r}; there are {', '.join(task.labels)}")


def _active(asked: BoundOptions) -> dict[str, Any]:
    """The bounds on scores that are set, by option; that on F1 of classes may be one for each."""
    bounds = {option: getattr(asked, option) for option in _MEASURES}
    return {option: bound for option, bound in bounds.items() if bound is not None and bound != {}}


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def thresholds(
    options: BoundOptions, scores: Scores, predictions: Predictions, reruns: Reruns | None = None
) -> list[Threshold]:
    """Compare what was measured with each bound; ``max_sensitivity`` may bound S beyond that of `reruns`.

    What must meet a bound is the estimate; with `use_ci_bound` the bad end of its 95 % interval, so that a prompt that
    only just meets the bound rarely passes; with `alarm` the good end, so that such a prompt rarely fails.

    Raises InputError if F1 of a class is bounded that was neither right nor answered anywhere.
    """
    held: list[Threshold] = []
    for option, bound in _active(options).items():
        if option == _MIN_CLASS_F1:
            held += _of_classes(scores, bound, options)
        elif option == "max_sensitivity" and options.beyond_reruns and reruns is not None:
            held.append(_held(options, scores, option, bound, reruns.beyond, reruns.ci, measure=_BEYOND_RERUNS))
        else:
            name, _ = _MEASURES[option]
            measure = scores.quality_name if name == "f1" and scores.quality_name != F1 else ""
            figures = (getattr(scores, name), scores.ci.get(name))
            held.append(_held(options, scores, option, bound, *figures, measure=measure))
    is_about_answers = options.max_sensitivity is not None or options.min_consistency is not None
    if is_about_answers and options.max_na_rate is None and (note := na_note(scores.na_rate, scores.na_kinds)):
        held.append(Threshold(RESTS_ON_NA, MOST_NA, scores.na_rate, note))
    if options.each is not None:
        share = mean_interval((predictions.right.mean(axis=1) >= options.each)[:, None])
        of_samples = {"each": options.each, "failing": _failing(predictions, options.each)}
        least = 1.0 if options.min_each is None else options.min_each
        held.append(_held(options, scores, _MIN_EACH, least, share.estimate, share.bounds, **of_samples))
    return held


def _failing(predictions: Predictions, each: float) -> tuple[FailingSample, ...]:
    """The samples that are right under a smaller share of wordings, the worst first."""
    shares = zip(predictions.right.mean(axis=1).tolist(), predictions.samples, strict=True)
    failing = [FailingSample(str(sample.id), str(sample.label), share) for share, sample in shares if share < each]
    return tuple(sorted(failing, key=lambda sample: sample.right))


def _held(
    options: BoundOptions,
    scores: Scores,
    option: str,
    bound: float,
    estimate: float,
    interval: tuple[float, float] | None,
    **more: Any,
) -> Threshold:
    value = estimate
    if interval is not None and (options.use_ci_bound or options.alarm):
        low, high = interval
        value = high if option.startswith("max") == options.use_ci_bound else low
    measured_on = {"n_samples": scores.n_samples, "n_rephrasings": scores.n_rephrasings, "varied": scores.varied}
    return Threshold(option, bound, value, estimate=estimate, interval=interval, **{**measured_on, **more})


def _of_classes(scores: Scores, bound: Any, options: BoundOptions) -> list[Threshold]:
    """One threshold per class: for all that have an F1, or for those that are named."""
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
        figures = (of_class.f1, of_class.ci.get("f1"))
        held.append(_held(options, scores, _MIN_CLASS_F1, least, *figures, n_samples=of_class.n, label=label))
    return held
