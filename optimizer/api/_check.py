"""`psopt.check`: is a prompt robust enough to ship? Thresholds for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from psopt.answers import F1
from psopt.api._measure import measure
from psopt.errors import InputError
from psopt.evaluation import MOST_NA, na_note, rests_on_na, score

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.api._measure import SplitChoice
    from psopt.api._prompts import AnyPrompt
    from psopt.evaluation import Scores
    from psopt.models import OnProgress
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions
    from psopt.runs import PromptOptions
    from psopt.tasks import Task

End = Literal["estimate", "bad", "good"]
"""Which of a score's figures must keep to its bound: the estimate, or an end of its 95 % interval."""

_BOUNDS = {"max_sensitivity": "sensitivity", "min_f1": "f1", "min_consistency": "consistency", "max_na_rate": "na_rate"}
RESTS_ON_NA = "rests_on_na"
_ONE_WORDING = (
    "S can't be checked under one wording: nothing can change there, S is 0 whatever the prompt; "
    "give --rephrasings 2 or more (10 is the default), or leave --max-sensitivity out"
)
_NO_CONSISTENCY = "C is not defined for these answers, which have no classes: leave --min-consistency out"
_NEED_ANSWERS = frozenset({"max_sensitivity", "min_consistency"})


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound, and what was measured.

    Attributes
    ----------
    option : str
        ``max_sensitivity``, ``min_f1``, ``min_consistency``, ``max_na_rate``, or ``rests_on_na``: that is missed where
        S or C are bounded, more answers than `MOST_NA` name no label, and no ``max_na_rate`` says how many may.
    bound : float
    value : float
        What must keep to the bound: the estimate, or an end of the interval.
    note : str
        What is said of ``rests_on_na``.
    estimate : float or None
        None of ``rests_on_na``, as the other figures.
    interval : (low, high) or None
        95 %.
    n_samples, n_rephrasings : int or None
        What it was measured on.
    measure : str
        What was measured, where it is not what the option is named for: ``closeness`` of ordered labels.
    """

    option: str
    bound: float
    value: float
    note: str = ""
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    n_samples: int | None = None
    n_rephrasings: int | None = None
    measure: str = ""

    @property
    def met(self) -> bool:
        """Whether the value keeps to the bound."""
        if self.option == RESTS_ON_NA:
            return self.value <= self.bound
        return self.value <= self.bound if self.option.startswith("max") else self.value >= self.bound

    def __str__(self) -> str:
        if self.option == RESTS_ON_NA:
            return f"{'ok' if self.met else 'missed'}: {self.note}"
        sign = ("<=" if self.met else ">") if self.option.startswith("max") else (">=" if self.met else "<")
        name = self.measure or _BOUNDS[self.option].replace("_", " ")
        return f"{'ok' if self.met else 'missed'}: {name} {self.value:.4f} {sign} {self.bound:g}{self._measured()}"

    def _measured(self) -> str:
        """What was measured, and on what."""
        if self.interval is None or self.estimate is None:
            return ""
        low, high = self.interval
        of = f" of {self.estimate:.4f}" if self.value != self.estimate else ""
        return f" (95 %{of}: {low:.4f} to {high:.4f}, {self.n_samples} samples x {self.n_rephrasings} wordings)"


def thresholds(scores: Scores, bounds: Mapping[str, float | None], *, end: End = "estimate") -> list[Threshold]:
    """Hold scores against bounds.

    Parameters
    ----------
    scores : Scores
        With intervals, if an end of theirs is asked for.
    bounds : dict of option to float or None
    end : "estimate", "bad" or "good"
        What must keep to the bound: the estimate; the bad end of the 95 % interval, so that a prompt that only just
        keeps to it passes in few cases; or its good end, so that one that only just does so fails in few.

    Raises
    ------
    InputError
        If no bound is given, or one of S where there is one wording.
    """
    given = _check_given(bounds)
    if "max_sensitivity" in given and scores.n_rephrasings == 1:
        raise InputError(_ONE_WORDING)
    if "min_consistency" in given and scores.consistency is None:
        raise InputError(_NO_CONSISTENCY)
    held = [_threshold(scores, option, bound, end) for option, bound in given.items()]
    if _NEED_ANSWERS & given.keys() and "max_na_rate" not in given and rests_on_na(scores.na_rate):
        held.append(Threshold(RESTS_ON_NA, MOST_NA, scores.na_rate, na_note(scores.na_rate, scores.na_kinds)))
    return held


def _check_given(bounds: Mapping[str, float | None]) -> dict[str, float]:
    """The bounds that are given; at least one must be."""
    given = {option: bound for option, bound in bounds.items() if bound is not None}
    if not given:
        names = ", ".join("--" + option.replace("_", "-") for option in _BOUNDS)
        raise InputError(f"nothing to check: give at least one of {names}")
    return given


def _threshold(scores: Scores, option: str, bound: float, end: End) -> Threshold:
    name = _BOUNDS[option]
    estimate = value = float(getattr(scores, name))
    interval = scores.ci.get(name)
    if interval is not None and end != "estimate":
        value = interval[1] if option.startswith("max") == (end == "bad") else interval[0]
    return Threshold(
        option,
        bound,
        value,
        estimate=estimate,
        interval=interval,
        n_samples=scores.n_samples,
        n_rephrasings=scores.n_rephrasings,
        measure=scores.quality_name if name == "f1" and scores.quality_name != F1 else "",
    )


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was measured, and how it keeps to each bound; and how much the rephrasings differ from each other."""

    scores: Scores
    thresholds: tuple[Threshold, ...]
    diversity: float | None = None

    @property
    def met(self) -> bool:
        """Whether all bounds are kept to."""
        return all(threshold.met for threshold in self.thresholds)


def check(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    max_sensitivity: float | None = None,
    min_f1: float | None = None,
    min_consistency: float | None = None,
    max_na_rate: float | None = None,
    use_ci_bound: bool = False,
    alarm: bool = False,
    rephrasings: int = 10,
    rephrasing: RephrasingOptions | None = None,
    split: SplitChoice = "test",
    samples: int = 500,
    strategy: str = "simple",
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> CheckResult:
    """Measure a prompt under rephrasings and hold it against bounds.

    Parameters
    ----------
    max_sensitivity, min_f1, min_consistency, max_na_rate : float, optional
        At least one; in [0, 1].
    use_ci_bound : bool
        Ask that the bad end of the 95 % interval keeps to the bounds, not just the estimate. A prompt exactly at a
        bound then passes in 2 % of the cases, at most in 4 % for F1 and C, and in 6 % for S (benchmarks/coverage.md).
    alarm : bool
        Ask it of the good end only: a prompt exactly at a bound fails in 2 %, one exactly at three bounds in 4 %, of
        the cases (5 and 7 % at most).
    task, prompt, prompt_options, model, rephrasings, rephrasing, split, samples, strategy, seed, lm, cache_dir
        See `measure`.
    on_progress
        See `measure`.

    Raises
    ------
    PsoptError
        If no bound is given, one of S for a single wording, or an argument or the task can't be used.
    """
    if use_ci_bound and alarm:
        raise InputError("use_ci_bound asks for the bad end of the interval, and alarm for the good one: give one")
    bounds = {
        "max_sensitivity": max_sensitivity,
        "min_f1": min_f1,
        "min_consistency": min_consistency,
        "max_na_rate": max_na_rate,
    }
    _check_given(bounds)
    if max_sensitivity is not None and rephrasings == 1:
        raise InputError(_ONE_WORDING)
    if min_consistency is not None and not task.spec.has_labels:
        raise InputError(_NO_CONSISTENCY)
    predictions = measure(
        task,
        prompt,
        model=model,
        prompt_options=prompt_options,
        rephrasings=rephrasings,
        rephrasing=rephrasing,
        split=split,
        samples=samples,
        strategy=strategy,
        seed=seed,
        lm=lm,
        cache_dir=cache_dir,
        on_progress=on_progress,
    )
    scores = score(predictions, intervals=True, seed=seed)
    end: End = "bad" if use_ci_bound else "good" if alarm else "estimate"
    return CheckResult(scores, tuple(thresholds(scores, bounds, end=end)), predictions.diversity)
