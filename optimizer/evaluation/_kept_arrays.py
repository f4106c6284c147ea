"""Answers as files of predictions keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import packed, texts_to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions


def kept_arrays(splits: Mapping[str, Predictions]) -> dict[str, NDArray[Any]]:
    """Return answers as files of predictions keep them: per split the (N, Q) array, and the samples' ids.

    Open answers are places among the texts that ``answers`` holds, JSON in UTF-8; N/A comes after the last.
    """
    arrays: dict[str, NDArray[Any]] = {}
    codes = {split: predictions.array for split, predictions in splits.items()}
    if any(predictions.answers.open is not None for predictions in splits.values()):
        places, texts = packed(np.concatenate([array.ravel() for array in codes.values()]))
        arrays["answers"] = texts_to_bytes(texts)
        parts = np.split(places, np.cumsum([array.size for array in codes.values()])[:-1])
        kept = {split: part.reshape(codes[split].shape) for split, part in zip(codes, parts, strict=True)}
    else:
        kept = {split: array.astype(np.int16) for split, array in codes.items()}
    for split, predictions in splits.items():
        arrays[split] = kept[split]
        arrays[f"{split}_ids"] = np.array([sample.id for sample in predictions.samples])
    return arrays
