"""Values of dataclasses, including scores, read back from run.json and front.json."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from psopt.answers import packed, texts_to_bytes
from psopt.evaluation._scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions
    from pydantic import TypeAdapter


T = TypeVar("T")


def read_data(kind: type[T], data: Mapping[str, Any]) -> T:
    """Build a dataclass from `asdict`'s data as stored in JSON; fields that a later version has added are ignored.

    Raises ValueError if the data are damaged.
    """
    reader: TypeAdapter[T] = _reader(kind)  # type: ignore[arg-type]  # mypy treats no class as hashable
    return reader.validate_python(dict(data))


@functools.cache
def _reader(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # importing takes .1 s, and most commands read nothing

    return TypeAdapter(kind)


def scores_from_dict(data: Mapping[str, Any]) -> Scores:
    """Build scores from `Scores.to_dict`'s data.

    Raises ValueError if the data are damaged.
    """
    shares = data if "answer_shares" in data else None
    return read_data(Scores, {**data, "ci": data.get("ci") or {}, "shares": shares})


def kept_arrays(splits: Mapping[str, Predictions]) -> dict[str, NDArray[Any]]:
    """Return answers in the form stored in files of predictions: per split the (N, Q) array and the samples' ids.

    Open answers are indices into the texts in ``answers``, JSON in UTF-8; N/A comes after the last.
    """
    arrays: dict[str, NDArray[Any]] = {}
    codes = {split: predictions.array for split, predictions in splits.items()}
    if any(predictions.answers.open is not None for predictions in splits.values()):
        places, texts = packed(np.concatenate([array.ravel() for array in codes.values()]))
        arrays["answers"] = texts_to_bytes(texts)
        parts = np.split(places, np.cumsum([array.size for array in codes.values()])[:-1])
        grids = {split: part.reshape(codes[split].shape) for split, part in zip(codes, parts, strict=True)}
    else:
        grids = {split: array.astype(np.int16) for split, array in codes.items()}
    for split, predictions in splits.items():
        arrays[split] = grids[split]
        arrays[f"{split}_ids"] = np.array([sample.id for sample in predictions.samples])
    return arrays
