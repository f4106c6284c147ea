"""`psopt check --fresh`: does a run's prompt still answer fresh traffic as it did when it was measured?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.api._check import DRIFT, Threshold
from psopt.api._classify import Classifier
from psopt.errors import InputError
from psopt.evaluation import Shift, Split, shifts
from psopt.runs import REPHRASINGS, PromptSource, RunDirectory, read_predictions
from psopt.settings import AnsweringOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.models import OnProgress
    from psopt.models.chat import LMConfig
    from psopt.search_spaces import Prompt
    from psopt.tasks import InputColumns

_NAMES = {"sensitivity": "S", "posix": "POSIX", "label_shares": "label shares"}
_FEWEST = 2  # wordings, and texts
_MOST_LABELS = 3  # a line names the shares of those that changed most


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
        return f"{name} {moved} {p_value}"
    if shift.measure == "posix":
        return f"{name} {shift.before:.2f} -> {shift.after:.2f} nats {p_value}"
    return f"{name} {100 * shift.before:.1f} -> {100 * shift.after:.1f} {p_value}"
