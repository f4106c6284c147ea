"""From a prompt, its rephrasings and samples to predictions: the grid that every number is computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from psopt.errors import InputError
from psopt.metrics import (
    PairedDifference,
    hard_predictions,
    paired_test,
    prediction_counts,
    prediction_distribution,
    sample_consistency,
    sample_sensitivity,
)
from psopt.models import has_explanations, has_metric_scores, has_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.models import Model, OnProgress
    from psopt.search_spaces import Family, Prompt, PromptFormat
    from psopt.tasks import Sample

_REPLICATES = 1000
_ROUNDING = 1e-12  # as in `psopt.metrics.paired_test`: summation order must not decide


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model answered to N samples under Q rephrasings of one prompt.

    Attributes
    ----------
    array : (N, Q) int
        Indices into `labels`; ``len(labels)`` is N/A.
    samples : tuple of Sample
        The N samples, in the array's order.
    labels : tuple of str
        The C - 1 labels; N/A is the last of the C classes.
    probabilities : (N, Q, C) float or None
        What the model gave each class, where it was asked for that; `array` then holds the most probable ones.
    families : tuple of str
        The family of each of the Q rephrasings; empty where they are all of one.
    merits : (N, Q) float or None
        What each answer is worth, in [0, 1], where something else than the right class decides that.
    rephrasings : tuple of str
        The Q texts; empty where only the answers are known.
    no_labels : tuple of NoLabel
        The answers that are N/A and what they said, where the model can tell.
    """

    array: NDArray[np.int64]
    samples: tuple[Sample, ...]
    labels: tuple[str, ...]
    probabilities: NDArray[np.float64] | None = None
    families: tuple[Family, ...] = ()
    merits: NDArray[np.float64] | None = None
    rephrasings: tuple[str, ...] = ()
    no_labels: tuple[NoLabel, ...] = ()

    @property
    def n_classes(self) -> int:
        """C, with N/A."""
        return len(self.labels) + 1

    @property
    def truth(self) -> NDArray[np.int64]:
        """The samples' labels as (N,) indices.

        Raises
        ------
        ValueError
            If a sample has no label.
        """
        return np.array([self.labels.index(sample.label) for sample in self.samples])

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each class was predicted for each sample: (N, C) int."""
        return prediction_counts(self.array, self.n_classes)

    @property
    def scored(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What every score, interval and test is of: the probabilities where there are any, else the answers."""
        return self.array if self.probabilities is None else self.probabilities

    @property
    def p_tau(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What S and C_y are computed from: the counts, or with probabilities their means over rephrasings, (N, C)."""
        return self.counts if self.probabilities is None else prediction_distribution(self.probabilities)

    @property
    def sensitivities(self) -> NDArray[np.float64]:
        """S of each sample: (N,) in [0, 1]."""
        return sample_sensitivity(self.p_tau)

    @property
    def consistencies(self) -> NDArray[np.float64]:
        """Mean consistency of each sample with its class: (N,) in [0, 1]; 1 where it is alone in its class."""
        return np.nan_to_num(sample_consistency(self.p_tau, self.truth), nan=1.0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right: (N, Q)."""
        return np.asarray(self.array == self.truth[:, None])

    @property
    def resample(self) -> Literal["both", "samples"]:
        """What a bootstrap draws anew: samples, and rephrasings where there are several."""
        return "both" if self.array.shape[1] > 1 else "samples"

    def under(self, columns: Sequence[int]) -> Predictions:
        """The predictions under some of the rephrasings."""
        soft = None if self.probabilities is None else self.probabilities[:, columns]
        families = tuple(self.families[column] for column in columns) if self.families else ()
        merits = None if self.merits is None else self.merits[:, columns]
        texts = tuple(self.rephrasings[column] for column in columns) if self.rephrasings else ()
        return replace(
            self,
            array=self.array[:, columns],
            probabilities=soft,
            families=families,
            merits=merits,
            rephrasings=texts,
            no_labels=self._no_labels_under(columns),
        )

    def _no_labels_under(self, columns: Sequence[int]) -> tuple[NoLabel, ...]:
        return tuple(
            replace(missed, rephrasing=place)
            for place, column in enumerate(columns)
            for missed in self.no_labels
            if missed.rephrasing == column
        )

    @property
    def is_labelled(self) -> bool:
        """Whether every sample has a label."""
        return all(sample.label is not None for sample in self.samples)


def compare_paired(first: Predictions, second: Predictions, seed: int = 42) -> dict[str, PairedDifference]:
    """Test the difference of two prompts on the same samples and rephrasings, second minus first.

    What is tested is what is scored: probabilities where both have them, and in the place of F1 the mean of merits
    where answers have such. Keys are ``f1``, ``sensitivity``, ``consistency``; see `psopt.metrics.paired_test`.
    """
    differences = paired_test(
        first.scored, second.scored, first.truth, first.n_classes, resample=first.resample, seed=seed
    )
    if first.merits is None or second.merits is None:
        return differences
    return {**differences, "f1": _paired_means(first.merits, second.merits, seed)}


def _paired_means(first: NDArray[np.float64], second: NDArray[np.float64], seed: int) -> PairedDifference:
    """The same test for a mean over samples and rephrasings, both drawn anew."""
    differences = second - first
    rng = np.random.default_rng(seed)
    n_samples, n_rephrasings = differences.shape
    rows = rng.integers(n_samples, size=(_REPLICATES, n_samples))
    columns = rng.integers(n_rephrasings, size=(_REPLICATES, n_rephrasings))
    drawn = np.array([differences[row][:, column].mean() for row, column in zip(rows, columns, strict=True)])
    mean = float(differences.mean())
    low, high = (float(bound) for bound in np.percentile(drawn, [2.5, 97.5]))
    hits = int((np.abs(drawn - drawn.mean()) >= abs(mean) - _ROUNDING).sum())
    return PairedDifference(mean, low, high, (1 + hits) / (1 + _REPLICATES))


def evaluate(
    model: Model,
    prompt: Prompt,
    rephrasings: Sequence[str],
    samples: Sequence[Sample],
    on_progress: OnProgress | None = None,
    *,
    soft: bool = False,
    forms: Sequence[PromptFormat] = (),
) -> Predictions:
    """Let a model answer every sample under every rephrasing of a prompt's description, if `soft` in probabilities.

    Raises
    ------
    InputError
        If the model gives no probabilities.
    """
    forms = forms or [prompt.form] * len(rephrasings)
    prompts = [prompt.described_as(text, form) for text, form in zip(rephrasings, forms, strict=True)]
    families = tuple(form.family for form in forms)
    texts = [sample.text for sample in samples]
    if not soft:
        array = model.predict(prompts, texts, on_progress)
        merits = model.metric_scores(prompts, texts) if has_metric_scores(model) else None
        return Predictions(
            array,
            tuple(samples),
            prompt.labels,
            families=families,
            merits=merits,
            rephrasings=tuple(rephrasings),
            no_labels=no_labels(model, prompts, texts, array),
        )
    if not has_probabilities(model):
        raise InputError(f"model {model.name} gives no probabilities: leave --logprobs out")
    probabilities = model.predict_proba(prompts, texts, on_progress)
    array = hard_predictions(probabilities)
    return Predictions(
        array,
        tuple(samples),
        prompt.labels,
        probabilities,
        families,
        rephrasings=tuple(rephrasings),
        no_labels=no_labels(model, prompts, texts, array),
    )


def no_labels(
    model: Model, prompts: Sequence[Prompt], texts: Sequence[str], array: NDArray[np.int64]
) -> tuple[NoLabel, ...]:
    """Return the predictions that are N/A, with what was answered; none where the model can't tell."""
    if not has_explanations(model) or not (array == len(prompts[0].labels)).any():
        return ()
    return model.no_labels(prompts, texts, array)
