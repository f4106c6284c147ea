"""What a run's answers say of new texts: which are left to a person, and whether fresh traffic has drifted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.api._check import DRIFT, Threshold
from psopt.api._classify import Classifier
from psopt.errors import InputError
from psopt.evaluation import (
    Kept,
    Predictions,
    Shift,
    Split,
    fewest_kept,
    is_steady,
    kept_from,
    level_for_error,
    level_for_rate,
    sequence,
    shifts,
    vote_is_right,
    votes,
)
from psopt.models.chat import LMConfig
from psopt.runs import REPHRASINGS, Measured, PromptSource, RunDirectory, client_options, read_predictions, read_source
from psopt.settings import AnsweringOptions, PromptOptions, model_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.api._classify import Classified
    from psopt.models import OnProgress
    from psopt.search_spaces import Prompt
    from psopt.tasks import InputColumns

_NAMES = {"sensitivity": "S", "posix": "POSIX", "label_shares": "label shares"}
_FEWEST = 2  # wordings, and texts
_MOST_LABELS = 3  # a line names the shares of those that changed most


@dataclass(frozen=True, slots=True)
class AskingRule:
    """Which answers are kept: all that are at least this steady."""

    rate: float | None  # the largest share of answers that is left to a person
    least: float | None  # the steadiness from which answers are kept; None if each file has its own, by `rate`
    target_f1: float | None = None  # the F1 that was asked for, of the answers that are kept
    # How right the kept answers are on the run's val, where the rule was set, and on its test under held-out wordings;
    # None without a run, and if answers are not single labels
    val: Kept | None = None
    test: Kept | None = None

    def to_person(self, answers: Sequence[Classified]) -> list[bool]:
        """Return which answers are left to a person; those without a label always are."""
        steady = np.array([answer.steadiness for answer in answers])
        least = self.least
        if least is None:
            least = level_for_rate(steady, self.rate or 0.0)
        return [not is_kept for is_kept in is_steady(steady, least).tolist()]

    @property
    def lines(self) -> list[str]:
        """What val and test show about it."""
        if self.val is None:
            return []
        lines = [f"On val, where this was set: {_kept_line(self.val)}."]
        if self.test is not None:
            lines.append(f"On test, under held-out wordings: {_kept_line(self.test)}.")
            if self.target_f1 is not None and self.test.f1 < self.target_f1:
                lines.append(f"Warning: on test it is below the {100 * self.target_f1:g} that were asked for.")
        return lines


def asking_rule(
    prompt: PromptSource | str | Path,
    n_wordings: int,
    *,
    rate: float | None = None,
    target_f1: float | None = None,
    model: str | None = None,
    lm: LMConfig | None = None,
) -> AskingRule:
    """Set the steadiness from which answers are kept; the others are left to a person.

    `prompt` is a run directory or one of its prompts; a prompt without a run allows only a `rate`, the largest share of
    answers to leave to a person. `target_f1` is the least F1 of the answers that are kept, in (0, 1), at 95 %
    confidence: by Clopper and Pearson's bound on val, along a fixed sequence of thresholds (see
    `psopt.evaluation.level_for_error`). Texts will be asked under `n_wordings`, on which steadiness depends. If another
    `model` will be asked than the run's, or in another way, the run's val shows nothing.

    Raises InputError if neither or both of `rate` and `target_f1` are given, there is one wording, the run's val was
    asked under fewer, or it does not show `target_f1` for any part of its answers.
    """
    if (rate is None) == (target_f1 is None):
        raise InputError("--abstain and --target-f1 are two ways to say what is left to a person: give one of them")
    if target_f1 is not None and not 0 < target_f1 < 1:
        raise InputError(f"--target-f1 {target_f1:g}: a number above 0 and below 1 is expected")
    if rate is not None and not 0 <= rate <= 1:
        raise InputError(f"--abstain {rate:g}: a number from 0 to 1 is expected")
    if n_wordings < 2:
        raise InputError("under one wording every answer is equally steady: give --wordings 2 or more, such as 5")
    source = read_source(prompt)
    if not _is_asked_as_measured(source, model, lm):
        if target_f1 is not None:
            raise InputError(
                "--target-f1 rests on the run's val answers: leave --model and all that changes answers as it was there"
            )
        source = replace(source, run=None)
    answered = _kept_answers(source, "val", n_wordings, model, is_needed=target_f1 is not None)
    if answered is None:
        return AskingRule(rate, None)
    steady = votes(answered).steadiness
    if not answered.answers.is_plain:
        if target_f1 is not None:
            raise InputError("--target-f1 is for single labels, which are right or wrong: give --abstain RATE")
        return AskingRule(rate, level_for_rate(steady, rate or 0.0))
    right = vote_is_right(answered)
    if target_f1 is None:
        on_val = kept_from(steady, right, level_for_rate(steady, rate or 0.0))
    else:
        on_val = level_for_error(steady, right, 1 - target_f1) or _nothing_shown(steady, right, target_f1)
    rule = AskingRule(rate, on_val.least, target_f1, on_val)
    if (on_test := _kept_answers(source, "test", n_wordings, model, is_needed=False)) is None:
        return rule
    return replace(rule, test=kept_from(votes(on_test).steadiness, vote_is_right(on_test), on_val.least))


def _is_asked_as_measured(source: PromptSource, model: str | None, lm: LMConfig | None) -> bool:
    """Whether the run's own model will be asked, wherever it is now, and its answers read, as the run did."""
    measured = source.measured
    if measured is None:
        return True
    if source.options != PromptOptions() or model not in {None, *model_names(measured.model)}:
        return False
    if lm is None:
        return True
    now, then = (Measured("", client=client_options(how)) for how in (lm, LMConfig(**measured.options)))
    return now.deciding == then.deciding


def _kept_answers(
    source: PromptSource, split: Split, n_wordings: int, model: str | None, *, is_needed: bool
) -> Predictions | None:
    """A model's answers to the run's prompt on a split, under `n_wordings`; None without them, an error if needed."""
    if source.run is None or source.prompt is None:
        if is_needed:
            raise InputError(
                f"--target-f1 needs labelled val answers, and prompt {source.path} lies in no run: give a run of "
                "`psopt optimize`, or --abstain RATE, which needs no labels"
            )
        return None
    try:
        answered = read_predictions(RunDirectory.open(source.run), source.prompt.id, split)
    except InputError:
        if is_needed:
            raise
        return None
    if n_wordings > answered.n_rephrasings:
        if split == "test":
            return None
        raise InputError(
            f"{source.run} has val answers under {answered.n_rephrasings} wordings, and steadiness hangs on their "
            f"number: give --wordings {answered.n_rephrasings} or less"
        )
    return answered.of_model(model or "").under(range(n_wordings))


def _nothing_shown(steady: NDArray[np.float64], right: NDArray[np.bool_], target_f1: float) -> Kept:
    """Raise InputError that says what the steadiest answers of val show, and what would help."""
    error = 1 - target_f1
    shown = sequence(steady, right, error)
    if not shown:
        raise InputError("--target-f1: no answer on val names a label")
    refusal = f"--target-f1: F1 {target_f1:g} can't be promised"
    if fewest_kept(error) > len(steady):
        raise InputError(
            f"{refusal} by {len(steady)} val samples: without an error it takes {fewest_kept(error)} that are kept"
        )
    raise InputError(
        f"{refusal} for any part of {len(steady)} val samples: {_kept_line(shown[0])}; ask for "
        f"{shown[0].least_f1:.2f} or less, or measure on more val samples"
    )


def _kept_line(part: Kept) -> str:
    of = f"{part.n_kept} of {part.n} answers kept"
    if not part.n_kept:
        return of
    return f"{of}, F1 {100 * part.f1:.1f}, surely at least {100 * part.least_f1:.1f}"


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the answers to fresh texts are from those of a run, under the same wordings."""

    split: Split  # of the run
    n_known: int
    n_fresh: int
    n_rephrasings: int
    shifts: tuple[Shift, ...]

    @property
    def met(self) -> bool:
        """Whether no measure has shifted."""
        return not any(shift.is_seen for shift in self.shifts)

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Each test as a bound on its p-value."""
        return tuple(
            Threshold(
                DRIFT,
                shift.level,
                shift.p_value,
                _line(shift),
                estimate=shift.p_value,
                n_samples=self.n_fresh,
                n_rephrasings=self.n_rephrasings,
                measure=_NAMES[shift.measure],
            )
            for shift in self.shifts
        )


def drift(
    source: PromptSource,
    texts: Sequence[str],
    columns: InputColumns,
    *,
    model: str,
    lm: LMConfig,
    n_wordings: int | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> Drift:
    """Ask a run's prompt about 2 or more fresh texts, and test whether S or the shares of the labels have changed.

    They are asked under as many wordings as test was, unless `n_wordings` is less. For the rest see `Classifier`.

    Raises PsoptError if it is not a prompt of a run that has kept its answers, or the model fails.
    """
    run, prompt = run_of_baseline(source)
    if source.rephrasings is None:
        raise InputError(f"{run} has lost its {REPHRASINGS}, the wordings that fresh texts are to be asked under")
    directory = RunDirectory.open(run)
    split: Split = "test"
    try:
        reference = read_predictions(directory, prompt.id, split)
    except InputError:  # it was not scored on test
        split = "val"
        reference = read_predictions(directory, prompt.id, split)
    reference = reference.of_model(model)
    if prompt.labels != reference.labels:
        raise InputError(
            f"--baseline: prompt {source.path} is for the labels {', '.join(prompt.labels)}, and its run's "
            f"answers have {', '.join(reference.labels)}"
        )
    n = min(n_wordings or reference.n_rephrasings, reference.n_rephrasings)
    if n < _FEWEST:
        raise InputError(f"under one wording S is 0 whatever the texts: {run} or --rephrasings has but one")
    if len(texts) < _FEWEST:
        raise InputError("of one fresh text no shift can be seen: give more, as many as the run has samples if you can")
    options = AnsweringOptions(wordings=n, cache_dir=cache_dir)
    classifier = Classifier(source, columns, options, model=model, lm=lm, sample_texts=texts, split=split)
    fresh = classifier.answered(texts, on_progress)
    return Drift(split, len(reference.samples), len(texts), n, tuple(shifts(reference.under(range(n)), fresh)))


def run_of_baseline(source: PromptSource) -> tuple[Path, Prompt]:
    """Return the run that a prompt is in, and the prompt; raises InputError if it is in none."""
    if source.run is None or source.prompt is None:
        raise InputError(
            f"--baseline {source.path} lies in no run: give a run of `psopt optimize`, or its prompts/ID.json"
        )
    return source.run, source.prompt


def _line(shift: Shift) -> str:
    """What has shifted, with its p-value.

    >>> _line(Shift("sensitivity", 0.1, 0.15, 0.2, 0.025, False))
    'S 10.0 -> 15.0 (p 0.2)'
    """
    p_value = f"(p {shift.p_value:.2g})"
    name = _NAMES[shift.measure]
    if shift.before is None or shift.after is None:
        before, after = shift.shares
        most = sorted(before, key=lambda label: -abs(after[label] - before[label]))[:_MOST_LABELS]
        moved = ", ".join(f"{label} {100 * before[label]:.0f} % -> {100 * after[label]:.0f} %" for label in most)
        return f"{name} by majority vote: {moved} {p_value}"
    if shift.measure == "posix":
        return f"{name} {shift.before:.2f} -> {shift.after:.2f} nats {p_value}"
    return f"{name} {100 * shift.before:.1f} -> {100 * shift.after:.1f} {p_value}"
