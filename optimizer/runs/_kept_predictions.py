"""What a run's prompts answered, read back from its directory."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import AnswerType, texts_from_bytes, unpacked
from psopt.errors import InputError
from psopt.evaluation import Predictions
from psopt.runs._directory import MANIFEST, SAMPLES
from psopt.settings import model_names
from psopt.tasks import Sample

if TYPE_CHECKING:
    from psopt.evaluation import Split
    from psopt.runs._directory import RunDirectory


def read_predictions(directory: RunDirectory, prompt_id: str, split: Split) -> Predictions:
    """Return what all models of a run answered to val under the search rephrasings, or to test under the held-out ones.

    Raises InputError if the run has not kept it, or a file is damaged.
    """
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
    cure = f"write it anew with `psopt resume {directory.path}`, which asks for no answer twice"
    try:
        samples = directory.read_json(SAMPLES)
        labels = tuple(samples["labels"])
        with np.load(path, allow_pickle=False) as arrays:
            answers = arrays[split].astype(np.int64)
            if "answers" in arrays:
                answers = unpacked(answers, texts_from_bytes(arrays["answers"]), len(labels))
            ids = arrays[f"{split}_ids"].tolist()
            same = arrays.get(f"{split}_same")
            probabilities, merits = arrays.get(f"{split}_probabilities"), arrays.get(f"{split}_merits")
        by_id = {sample["id"]: Sample(**sample) for sample in samples[split]}
        answered = tuple(by_id[name] for name in ids)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} can't be read, or holds no answers on {split}: {cure}") from error
    return Predictions(
        answers,
        answered,
        labels,
        probabilities,
        metric_scores=merits,
        answers=AnswerType.from_dict(samples.get("answers")),
        same=None if same is None else same.astype(np.int64),
    )
