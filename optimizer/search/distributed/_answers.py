"""The answers on val, as they stand with their trial: no worker has to ask for them again."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.search.distributed._study_keys import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import optuna
    from numpy.typing import NDArray
    from psopt.evaluation import PartialAnswers, Predictions
    from psopt.search.distributed._stored_study import StoredStudy


def write_answers(study: StoredStudy, number: int, predictions: Predictions | PartialAnswers) -> None:
    """Store with a trial, out of sight, what was answered on val: the whole grid, or what there is of it."""
    content: dict[str, Any] = {"shape": list(predictions.array.shape), "int16": _packed(predictions.array, np.int16)}
    if predictions.probabilities is not None:
        content["probabilities"] = {
            "shape": list(predictions.probabilities.shape),
            "float64": _packed(predictions.probabilities, np.float64),
        }
    study.set_hidden_trial_attr(number, ANSWERS, content)


def read_answers(trial: optuna.trial.FrozenTrial) -> tuple[NDArray[np.int64], NDArray[np.float64] | None] | None:
    """Return what `write_answers` stored, answers (-1 where there are none) and probabilities (there NaN), or None."""
    content = trial.system_attrs.get(ANSWERS)
    if content is None:
        return None
    answers = _unpacked(content["int16"], np.int16, content["shape"]).astype(np.int64)
    probabilities = content.get("probabilities")
    if probabilities is None:
        return answers, None
    return answers, _unpacked(probabilities["float64"], np.float64, probabilities["shape"])


def _packed(array: NDArray[Any], kind: type[np.generic]) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())).decode()


def _unpacked(packed: str, kind: type[np.generic], shape: Sequence[int]) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=kind).reshape(shape)
