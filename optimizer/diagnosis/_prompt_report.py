"""How a prompt fares: its scores and its diagnosis side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psopt.evaluation import na_examples, na_kinds, readable_sensitivity, sensitivity_limit

if TYPE_CHECKING:
    from psopt.diagnosis._diagnosis import Diagnosis
    from psopt.evaluation import Predictions, Scores
    from psopt.search_spaces import Prompt


@dataclass(frozen=True, eq=False)
class PromptReport:
    """How a prompt fares on samples under rephrasings.

    Attributes
    ----------
    prompt : Prompt
    predictions : Predictions
        (N, Q): what was answered.
    sensitivity : float
        S_tau in [0, 1]; it needs no labels.
    na_rate : float
        Share of answers that name no label.
    scores : Scores or None
        F1, C and the rest, with intervals; None without labels.
    diagnosis : Diagnosis
        Failure cases, and slices of them with a topic.
    """

    prompt: Prompt
    predictions: Predictions
    sensitivity: float
    na_rate: float
    scores: Scores | None
    diagnosis: Diagnosis

    def __repr__(self) -> str:
        """The scores and the size: answers would fill screens."""
        n_samples, n_rephrasings = self.predictions.array.shape
        quality = "" if self.scores is None else f", {self.scores.quality_name} {self.scores.f1:.3f}"
        of = f"{n_samples} samples x {n_rephrasings} rephrasings"
        return f"<PromptReport {self.prompt.id}: S {self.sensitivity:.3f}{quality}, of {of}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        n_samples, n_rephrasings = self.predictions.array.shape
        size = {"n_samples": n_samples, "n_rephrasings": n_rephrasings, "labelled": self.scores is not None}
        wordings = {"rephrasings_diversity": self.predictions.diversity}
        return {"prompt": self.prompt.to_dict(), **size, **wordings, **self.measured(), **self.diagnosis.to_dict()}

    def measured(self) -> dict[str, Any]:
        """Return the scores as plain JSON data, without labels those that need none."""
        if self.scores is not None:
            return self.scores.to_dict()
        readable = readable_sensitivity(self.predictions)
        return {
            "sensitivity": self.sensitivity,
            "sensitivity_limit": sensitivity_limit(self.predictions),
            **({} if readable is None else {"sensitivity_readable": readable}),
            "na_rate": self.na_rate,
            "na_kinds": na_kinds(self.predictions),
            "na_examples": {kind: asdict(example) for kind, example in na_examples(self.predictions).items()},
        }
