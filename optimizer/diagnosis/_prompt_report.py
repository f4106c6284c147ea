"""How a prompt performs: its scores and its diagnosis together."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from psopt.answers import answers_line
from psopt.diagnosis._slices import class_consistencies, distinct_slices
from psopt.diagnosis._suspects import Suspects
from psopt.errors import InputError, import_extra
from psopt.evaluation import (
    answer_shares,
    family_scores,
    flipped,
    na_examples,
    na_kinds,
    readable_sensitivity,
    sensitivity_limit,
)
from psopt.metrics import mean_interval
from psopt.notebooks import card, line, table

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import NDArray
    from psopt.diagnosis._diagnosis import Diagnosis
    from psopt.evaluation import AnswerShares, Predictions, Reruns, Scores
    from psopt.search_spaces import Prompt

# What fits on one screen of a notebook.
_GROUPS_SHOWN = 8
_SAMPLES_SHOWN = 8


@dataclass(frozen=True, eq=False)
class PromptReport:
    """How a prompt performs on samples under rephrasings.

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
        Failure cases, and slices of them that share a topic.
    draw : callable or None
        The function that draws `figure`; None if the report was built without it.
    suspects : Suspects
        Samples that are always given the same answer, never the label.
    reruns : Reruns or None
        S of asking again, next to S, if requested.
    """

    prompt: Prompt
    predictions: Predictions
    sensitivity: float
    na_rate: float
    scores: Scores | None
    diagnosis: Diagnosis
    draw: Callable[[PromptReport], go.Figure] | None = None
    suspects: Suspects = field(default_factory=Suspects)
    reruns: Reruns | None = None

    def __repr__(self) -> str:
        """The scores and the size: answers would fill screens."""
        n_samples, n_rephrasings = self.predictions.array.shape
        measures = [f"S {self.sensitivity:.3f}"]
        if self.scores is not None:
            measures.append(f"{self.scores.quality_name} {self.scores.f1:.3f}")
        measures.append(f"of {n_samples} samples x {n_rephrasings} rephrasings")
        return f"<PromptReport {self.prompt.id}: {', '.join(measures)}>"

    def _repr_html_(self) -> str:
        """The measures, the groups of weak samples and the weakest samples, for notebooks."""
        title = repr(self)[1:-1]
        parts: list[str] = []
        if self.scores is not None:
            title = f"Diagnosis of prompt {self.prompt.id}"
            parts.append(self.scores._repr_html_())
        groups = [
            (of.topic, of.label, of.predicted, len(of.samples), round(of.severity, 1))
            for of in distinct_slices(self.diagnosis.slices)[:_GROUPS_SHOWN]
        ]
        if groups:
            parts.append(table(("group", "label", "taken for", "samples", "severity"), groups))
        weak = [
            (case.id, case.text, case.label, case.sensitivity, answers_line(case.answers))
            for case in self.diagnosis.failure_cases.get("sensitivity", ())[:_SAMPLES_SHOWN]
        ]
        parts.append(table(("id", "text", "label", "S", "answers"), weak) if weak else line("No answer changes."))
        return card(title, *parts)

    def figure(self) -> go.Figure:
        """Return a plotly figure of the samples: S against mean consistency, or a histogram of S."""
        if self.draw is None:
            raise InputError("this report was put together without what draws it: psopt.diagnose makes one that has it")
        return self.draw(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per sample.

        Columns are ``id``, ``text``, ``label``; ``sensitivity`` and ``consistency``, in [0, 1]; ``share_right``, the
        share of its answers that are right (for open answers their mean score); ``answers``, how often each answer was
        given; ``share_LABEL`` for each label, the share of the wordings that gave it; ``share_na``; and ``weak``,
        whether the diagnosis names it: among the most severe failure cases of a view, or in a group.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        predictions, samples = self.predictions, self.predictions.samples
        named = {case.id for case in itertools.chain(*self.diagnosis.failure_cases.values())}
        named.update(*(failing.samples for failing in self.diagnosis.slices))
        unstable, alike = predictions.sensitivities.tolist(), class_consistencies(predictions)
        right = predictions.share_right.tolist() if predictions.is_labelled else [None] * len(samples)
        shares: dict[str, list[float]] = {}
        if predictions.answers.open is None:
            p_tau = predictions.p_tau / predictions.p_tau.sum(axis=1, keepdims=True)
            shares = {f"share_{label}": p_tau[:, place].tolist() for place, label in enumerate(predictions.labels)}
        share_na = (predictions.is_na.sum(axis=1) / predictions.asked.sum(axis=1)).tolist()
        rows = [
            {
                "id": sample.id,
                "text": str(sample.text),
                "label": sample.label,
                "sensitivity": unstable[index],
                "consistency": alike[index],
                "share_right": right[index],
                "answers": predictions.answers_to(index),
                **{name: values[index] for name, values in shares.items()},
                "share_na": share_na[index],
                "weak": sample.id in named,
            }
            for index, sample in enumerate(samples)
        ]
        return import_extra("pandas", "diagnosis.to_frame()", "pandas").DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        n_samples, n_rephrasings = self.predictions.array.shape
        flips = self.flips
        data = {
            "prompt": self.prompt.to_dict(),
            "n_samples": n_samples,
            "n_rephrasings": n_rephrasings,
            "labelled": self.scores is not None,
            "rephrasings_diversity": self.predictions.diversity,
            "flipped": None if flips is None else float(flips.mean()),
            **self.measured(),
            **self.diagnosis.to_dict(),
            "suspects": self.suspects.to_dict(),
        }
        if self.reruns is not None:
            data["reruns"] = self.reruns.to_dict()
        return data

    @property
    def flips(self) -> NDArray[np.bool_] | None:
        """Which samples get another answer under some wording than under the original: (N,); None without that."""
        predictions = self.predictions
        if predictions.n_rephrasings < 2 or predictions.rephrasings[:1] != (self.prompt.description,):
            return None
        return flipped(predictions)

    @property
    def flips_line(self) -> str:
        """How many samples flip, in words with the sampling interval; empty if unknown."""
        flips = self.flips
        if flips is None:
            return ""
        share = 100 * flips.mean()
        interval = mean_interval(flips[:, None], wordings="fixed")
        of = f"{flips.sum()} of {len(flips)} samples"
        percentages = f"{share:.0f} %, 95 % interval {100 * interval.low:.0f}–{100 * interval.high:.0f}"
        n_others, noun = self.predictions.n_rephrasings - 1, self.predictions.varied.replace("wordings", "rewordings")
        under = "the other one" if n_others == 1 else f"some of {n_others} {noun}"
        return f"Flips: {of} ({percentages}) are answered otherwise under {under} than under the original"

    @property
    def shares(self) -> AnswerShares | None:
        """How often each label is answered and is right; None for answers other than single labels."""
        return answer_shares(self.predictions) if self.scores is None else self.scores.shares

    def measured(self) -> dict[str, Any]:
        """Return the scores as plain JSON data; without labels only those that need none."""
        if self.scores is not None:
            return self.scores.to_dict()
        measured: dict[str, Any] = {}
        if self.shares is not None:
            measured["answer_shares"] = self.shares.answer_shares
        measured["sensitivity"] = self.sensitivity
        measured["sensitivity_limit"] = sensitivity_limit(self.predictions)
        measured["per_family"] = {name: asdict(scores) for name, scores in family_scores(self.predictions).items()}
        readable = readable_sensitivity(self.predictions)
        if readable is not None:
            measured["sensitivity_readable"] = readable
        measured["na_rate"] = self.na_rate
        measured["na_kinds"] = na_kinds(self.predictions)
        measured["na_examples"] = {kind: asdict(example) for kind, example in na_examples(self.predictions).items()}
        return measured
