"""Answers that name no label, counted by kind, and the warning for a score that depends on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import NO_LABEL_CURES
from psopt.metrics import sensitivity
from psopt.models import NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation._predictions import Predictions


MOST_NA = 0.2  # chosen, not measured: with one answer in five unread, no wording can be judged
_SAMPLES_LISTED = 20  # ids per kind: short enough to read


@dataclass(frozen=True, slots=True)
class NaExample:
    """Answers of one kind that name no label."""

    said: str  # one of them, shortened
    samples: tuple[str, ...]  # the ids of the affected samples, at most twenty


def na_kinds(predictions: Predictions) -> dict[str, int]:
    """Count the answers that name no label by kind, most frequent first."""
    return dict(Counter(missed.kind for missed in predictions.no_labels).most_common())


def na_examples(predictions: Predictions) -> dict[str, NaExample]:
    """For each kind of answer that names no label, give one example, and list the affected samples."""
    examples = {}
    for kind in na_kinds(predictions):
        of_kind = [missed for missed in predictions.no_labels if missed.kind == kind]
        ids = dict.fromkeys(predictions.samples[missed.sample].id for missed in of_kind)
        answer = next((missed.said for missed in of_kind if missed.said), "")
        examples[kind] = NaExample(answer, tuple(ids)[:_SAMPLES_LISTED])
    return examples


def whose(scores: Mapping[str, Any]) -> str:
    """Say of which model a combined measure is, in words that follow its name; empty for one model."""
    return {"worst": " of the worst model", "mean": " of the models, in the mean"}.get(scores.get("over", ""), "")


def na_note(na_rate: float, kinds: Mapping[str, int], of: str = "") -> str:
    """Say how many answers name no label, and what helps; empty if few do.

    >>> na_note(0.34, {"cut off": 3, "empty": 1})
    'S is unreliable: 34 % of the answers name no label (3 cut off, 1 empty); raise --max-tokens'
    """
    if na_rate <= MOST_NA:
        return ""
    note = f"S is unreliable: {100 * na_rate:.0f} % of the answers{of} name no label"
    if kinds:
        note += f" ({', '.join(f'{n} {kind}' for kind, n in kinds.items())})"
    cure = NO_LABEL_CURES.get(next(iter(kinds), ""))  # of the most frequent kind
    return f"{note}; {cure}" if cure else note


def na_lines(scores: Mapping[str, Any]) -> list[str]:
    """Say how many answers are N/A (of `Scores.to_dict`), how unreliable S is, with a count and an example per kind.

    >>> scores = {"sensitivity": 0.21, "sensitivity_readable": 0.04, "na_rate": 0.1, "na_kinds": {"no JSON": 6}}
    >>> na_lines(scores)  # doctest: +NORMALIZE_WHITESPACE
    ['10.0 % of the answers are N/A',
     'S among the answers that were read: 4.0 %, in place of 21.0 %', 'N/A, no JSON: 6']
    """
    kinds = scores.get("na_kinds", {})
    examples = scores.get("na_examples", {})
    na_rate, of = scores["na_rate"], whose(scores)
    lines = [na_note(na_rate, kinds, of) or (f"{100 * na_rate:.1f} % of the answers{of} are N/A" if na_rate else "")]
    readable = scores.get("sensitivity_readable")
    if readable is not None:
        whole = scores["sensitivity"]
        lines.append(f"S among the answers that were read: {100 * readable:.1f} %, in place of {100 * whole:.1f} %")
    for kind, n in kinds.items():
        lines.append(f"N/A, {kind}: {n}")
        if answer := examples.get(kind, {}).get("said"):
            lines[-1] += f", such as {answer!r}"
    return [line for line in lines if line]


_LEAST = 2  # readable answers per sample: one alone cannot differ from another


def readable_sensitivity(predictions: Predictions) -> float | None:
    """Return S over readable answers alone, normalised as S is; None if all are, or every sample has too few."""
    is_read = predictions.is_read
    rows = np.flatnonzero(is_read.sum(axis=1) >= _LEAST)
    if is_read[predictions.asked].all() or not len(rows):
        return None
    if predictions.probabilities is not None:
        mass = np.where(is_read[rows][:, :, None], predictions.probabilities[rows], 0.0).sum(axis=1)
        mass[:, len(predictions.labels)] = 0.0
        return sensitivity(mass / mass.sum(axis=1, keepdims=True), similarity=predictions.answers.similarity)
    read = replace(predictions, array=np.where(is_read, predictions.array, NOT_ASKED))
    if predictions.same is not None:
        read = replace(read, same=np.where(is_read, predictions.same, NOT_ASKED))
    read = read.of_samples(rows)
    return sensitivity(read.p_tau, similarity=read.similarity)
