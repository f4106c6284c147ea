"""What cannot be measured is an error that names the argument; see also the conformance suite, of all measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    RephrasingCurve,
    bootstrap_ci,
    class_intervals,
    mean_interval,
    noised_predictions,
    posix,
    prompt_sensi_score,
    rephrasing_curve,
    rephrasing_damage,
    score_intervals,
    sensitivity,
)

from tests.sweeps import each

ANSWERS = np.arange(160).reshape(80, 2) % 4
OF: dict[str, Any] = {"predictions": ANSWERS, "y": np.arange(80) % 3, "n_classes": 4}
EVEN = np.full((2, 2), 0.5)
NO_KERNEL = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]


def posix_of(log_probabilities: Any, lengths: Any) -> Any:
    return posix, {"log_probabilities": log_probabilities, "lengths": lengths}


def jackknifed(counts: Any) -> Any:
    return sensitivity, {"counts": counts, "correction": "jackknife"}


def alike(kernel: Any) -> Any:
    return sensitivity, {"counts": [[1, 1, 1]] * 5, "similarity": kernel}


@each(
    "function, arguments, message",
    [
        (rephrasing_damage, {"predictions": [[0], [1]], "y": [0, 1]}, "predictions has one rephrasing"),
        (prompt_sensi_score, {"scores": [[1], [0]]}, "^scores "),
        (*posix_of([[[-1.0, -5.0]]], [[2, 1]]), "^log_probabilities "),
        (*posix_of([[[1.0, -5.0], [-1.0, -1.0]]], [[2, 1]]), "^log_probabilities "),
        (*posix_of([[[-1.0, -5.0], [-1.0, -1.0]]], [[2]]), "^lengths "),
        (*jackknifed([[0.5, 0.5]]), "correction needs counts"),
        (*jackknifed([[1, 0]]), "it needs 2 or more"),
        *((score_intervals, {**OF, "groups": of}, "groups must hold 80") for of in ([0, 1], [0.5] * 80, [-1] * 80)),
        (score_intervals, {**OF, "wordings": "all"}, "wordings is 'all'"),
        *((class_intervals, {**OF, "labels": wrong}, "labels") for wrong in ([-1], [0, 0], ["a"])),
        (mean_interval, {"scores": EVEN, "weights": [[1.0]]}, "weights"),
        (mean_interval, {"scores": EVEN, "weights": [[-1.0, 1.0]] * 2}, "weights"),
        (mean_interval, {"scores": EVEN, "weights": [[np.inf, 1.0]] * 2}, "weights"),
        (bootstrap_ci, {**OF, "predictions": ANSWERS[:, :1]}, "predictions has one rephrasing"),
        (bootstrap_ci, {**OF, "predictions": np.full((80, 8, 3), 1 / 3)}, "predictions has 3 classes"),
        (bootstrap_ci, {**OF, "predictions": np.ones((80, 8, 4))}, "predictions holds floats"),
        (bootstrap_ci, {**OF, "n_replicates": 0}, "n_replicates is 0"),
        (bootstrap_ci, {**OF, "seed": -1}, "seed is -1; it must be an integer of 0 or more"),
        (rephrasing_curve, {**OF, "sizes": [3]}, "sizes holds 3"),
        (rephrasing_curve, {**OF, "confidence": 0}, "confidence is 0"),
        (RephrasingCurve(np.arange(2), {}, {}, {}).enough, {"score": "accuracy", "width": 0.1}, "score is 'accuracy'"),
        *((noised_predictions, {"predictions": ANSWERS, "n_classes": 4, "share": of}, "share is") for of in (-1, 1.1)),
        (noised_predictions, {"predictions": ANSWERS, "n_classes": 4, "share": float("nan")}, "share is"),
        (*alike(np.eye(2)), "must be"),
        (*alike(2 * np.eye(3) - 1), r"in \[0, 1\]"),
        (*alike([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]]), "symmetric"),
        (*alike(NO_KERNEL), "no kernel"),
        (*alike(np.ones((4, 3, 3))), r"5 samples and 3 classes it must be \(5, 3, 3\)"),
        (*alike([NO_KERNEL] * 5), "an eigenvalue is negative"),
    ],
)
def test_what_cannot_be_measured_is_an_error_that_says_why(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(**arguments)
