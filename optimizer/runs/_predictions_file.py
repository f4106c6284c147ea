"""predictions/ID.npz: what a run's models answered, written and read."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import AnswerType, packed, unpacked
from psopt.errors import InputError
from psopt.evaluation import NA, Predictions
from psopt.runs._directory import MANIFEST, SAMPLES
from psopt.settings import model_names
from psopt.tasks import Sample

if TYPE_CHECKING:
    from psopt.evaluation import Split
    from psopt.runs._directory import RunDirectory
    from psopt.search_spaces import Prompt

# What reading a damaged file raises: found by changing and cutting bytes of one
_UNREADABLE = (OSError, LookupError, ValueError, TypeError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
_LONGEST_KIND = 16  # characters: a NumPy array of strings silently cuts longer ones


def write_predictions(
    directory: RunDirectory, prompt: Prompt, splits: dict[str, Predictions], ending: str = ""
) -> None:
    """Write predictions/ID.npz: per split the N x Q array and the samples' ids; and the label names.

    With several models, the second's are in ID-2.npz, and so on: `ending` says whose they are.

    If probabilities or a metric's scores are what is scored, they are stored too: ``test_probabilities`` (N x Q x C)
    and ``test_merits`` (N x Q); ``test_same`` (N x Q) numbers open answers where a model or a function decides which
    are the same. Open answers are indices into the texts in ``answers`` (JSON in UTF-8, as bytes), with N/A after the
    last. If some answers name no label, SPLIT_na_kinds is the N x Q array of their kinds, empty for the others.
    """
    arrays: dict[str, Any] = {"labels": np.array([*prompt.labels, NA])}
    codes: dict[str, Any] = {split: predictions.array for split, predictions in splits.items()}
    if any(predictions.answers.open is not None for predictions in splits.values()):
        places, texts = packed(np.concatenate([array.ravel() for array in codes.values()]))
        # an array of strings would give each text the room of the longest
        arrays["answers"] = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
        parts = np.split(places, np.cumsum([array.size for array in codes.values()])[:-1])
        codes = {split: part.reshape(codes[split].shape) for split, part in zip(codes, parts, strict=True)}
    else:
        codes = {split: array.astype(np.int16) for split, array in codes.items()}
    for split, predictions in splits.items():
        arrays[split] = codes[split]
        arrays[f"{split}_ids"] = np.array([sample.id for sample in predictions.samples])
        same = None if predictions.same is None else predictions.same.astype(np.int16)
        scored = {"probabilities": predictions.probabilities, "merits": predictions.metric_scores, "same": same}
        arrays |= {f"{split}_{name}": array for name, array in scored.items() if array is not None}
        if predictions.no_labels:
            kinds = arrays[f"{split}_na_kinds"] = np.full(codes[split].shape, "", dtype=f"<U{_LONGEST_KIND}")
            for missed in predictions.no_labels:
                kinds[missed.sample, missed.rephrasing] = missed.kind
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    directory.write_bytes(f"predictions/{prompt.id}{ending}.npz", content.getvalue())


def read_predictions(directory: RunDirectory, prompt_id: str, split: Split) -> Predictions:
    """Return all answers of a run's models on val or test; InputError if there are none, or a file is damaged."""
    run = directory.read_json(MANIFEST)
    first, *further = model_names(run["model"])
    own = _of_one_model(directory, f"{prompt_id}.npz", split)
    if not further:
        return own
    others = (
        replace(_of_one_model(directory, f"{prompt_id}-{place}.npz", split), model=name)
        for place, name in enumerate(further, 2)
    )
    return replace(own, model=first, others=tuple(others), over=run["settings"]["over"])


def _of_one_model(directory: RunDirectory, file: str, split: Split) -> Predictions:
    path = directory.path / "predictions" / file
    try:
        samples = directory.read_json(SAMPLES)
        labels = tuple(samples["labels"])
        with np.load(path, allow_pickle=False) as arrays:
            answers = arrays[split].astype(np.int64)
            if "answers" in arrays:
                answers = unpacked(answers, json.loads(arrays["answers"].tobytes()), len(labels))
            ids = arrays[f"{split}_ids"].tolist()
            same = arrays.get(f"{split}_same")
            probabilities, merits = arrays.get(f"{split}_probabilities"), arrays.get(f"{split}_merits")
        by_id = {sample["id"]: Sample(**sample) for sample in samples[split]}
        answered = tuple(by_id[name] for name in ids)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{path} can't be read, or holds no answers on {split}: {directory.how_to_write_anew}"
        ) from error
    if same is not None:
        same = same.astype(np.int64)
    answer_type = AnswerType.from_dict(samples.get("answers"))
    return Predictions(answers, answered, labels, probabilities, metric_scores=merits, answers=answer_type, same=same)
