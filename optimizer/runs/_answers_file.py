"""What a run's prompt was answered, from predictions/ID.npz."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import texts_from_bytes
from psopt.errors import InputError
from psopt.evaluation import NA

if TYPE_CHECKING:
    from psopt.runs._directory import RunDirectory


def read_answers(directory: RunDirectory, prompt_id: str) -> dict[str, str]:
    """Return the class that each val sample was answered under the prompt's own wording, by the sample's id.

    Raises InputError if the run has not kept them.
    """
    path = directory.path / "predictions" / f"{prompt_id}.npz"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            names = arrays["labels"].tolist()
            if "answers" in arrays:
                names = [*texts_from_bytes(arrays["answers"]), NA]
            answers = arrays["val"][:, 0].tolist()  # the first rephrasing is the original
            ids = arrays["val_ids"].tolist()
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} can't be read, so there are no answers to compare with: write it anew with "
            f"`psopt resume {directory.path}`, which asks for no answer twice"
        ) from error
    return {sample_id: names[answer] for sample_id, answer in zip(ids, answers, strict=True)}
