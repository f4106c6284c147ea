"""The section of RESULTS.md on what edits do to language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_rules import PRIORS, SCORES, from_letters
from _tables import table
from psopt.metrics import compare_scores, score_intervals

if TYPE_CHECKING:
    Results = dict[str, Any]

_HEAD = """Each cell is F1 / S / C with the 95 % interval of F1; *calibrated* is batch calibration, labels by mean
log-probability. The last column is how edits change the F1 of the calibrated original prompt, on the same samples.
Edits were drawn once per set, from a diagnosis of the calibrated smollm2.
"""
_RULES = """The same cells by how labels are scored and the prior removed: means of F1 / S over all cells of a set.
*classes* is batch with the class shares among the unlabelled texts, so it needs labels.
"""


def lm_edits(results: Results) -> str:
    """By model and set, every kind of edit; then ways to score and to calibrate."""
    head = ("model", "set", "N x Q", "edits", "uncalibrated", "calibrated", "edits' effect on F1")
    rules = [f"{score}, {prior}" for score in SCORES for prior in PRIORS]
    parts = [_HEAD, table(head, [_row(results, cell) for cell in results["cells"]]), _RULES]
    groups = dict.fromkeys((cell["model"], cell["dataset"]) for cell in results["cells"])
    parts.append(table(("model", "set", "cells", *rules), [_means(results, group, rules) for group in groups]))
    return "\n".join(parts)


def _row(results: Results, cell: Results) -> tuple[str, ...]:
    truth, n_classes = _truth(results, cell["dataset"])
    calibrated = from_letters(cell["answers"]["mean, batch"])
    bare = next(
        other
        for other in results["cells"]
        if (other["model"], other["dataset"], other["kind"]) == (cell["model"], cell["dataset"], "no edit")
    )
    effect = ""
    if bare is not cell:
        before = from_letters(bare["answers"]["mean, batch"])
        difference = compare_scores(before, calibrated, truth, n_classes)["f1"]
        effect = f"{difference.difference:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})"
    size = f"{calibrated.shape[0]} x {calibrated.shape[1]}"
    shown = [_scores(from_letters(cell["answers"][f"mean, {prior}"]), truth, n_classes) for prior in ("none", "batch")]
    return (cell["model"], cell["dataset"], size, cell["kind"], *shown, effect)


def _scores(answers: Any, truth: Any, n_classes: int) -> str:
    found = score_intervals(answers, truth, n_classes)
    f1 = found["f1"]
    values = f"{f1.estimate:.3f} / {found['sensitivity'].estimate:.3f} / {found['consistency'].estimate:.3f}"
    return f"{values} ({f1.low:.2f} to {f1.high:.2f})"


def _means(results: Results, group: tuple[str, str], rules: list[str]) -> tuple[str, ...]:
    cells = [cell for cell in results["cells"] if (cell["model"], cell["dataset"]) == group]
    truth, n_classes = _truth(results, group[1])
    shown = []
    for rule in rules:
        found = [score_intervals(from_letters(cell["answers"][rule]), truth, n_classes) for cell in cells]
        f1, sensitivity = (np.mean([scores[name].estimate for scores in found]) for name in ("f1", "sensitivity"))
        shown.append(f"{f1:.3f} / {sensitivity:.3f}")
    return (*group, str(len(cells)), *shown)


def _truth(results: Results, dataset: str) -> tuple[Any, int]:
    of_set = results["sets"][dataset]
    return from_letters([of_set["truth"]])[:, 0], len(of_set["labels"]) + 1
