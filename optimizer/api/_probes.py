"""How what a run hands back fares on texts that the user has written to test it, beside the original prompt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError
from psopt.evaluation import score
from psopt.tasks import read_samples

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator, Predictions
    from psopt.runs import RunSettings
    from psopt.search import Candidate
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


def probes_of(settings: RunSettings, task: Task) -> tuple[Sample, ...]:
    """The samples of the file that the settings name; none where they name none.

    Raises InputError or DataError if there is no such file, or it can't be used.
    """
    if settings.probe is None:
        return ()
    data = settings.data
    places = [Path(settings.probe), Path(data.folder) / settings.probe]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(f"--probe {settings.probe}: there is no such file")
    return read_samples(path, task, inputs=data.inputs, text_column=data.text_column, label_column=data.label_column)


def on_probes(
    evaluator: Evaluator, original: Prompt, chosen: Candidate, samples: tuple[Sample, ...], file: str
) -> dict[str, Any]:
    """Put both prompts to the samples under the held-out rephrasings, and say it as run.json's `probe`.

    Raises BudgetReachedError if a limit does not pay for it.
    """
    asking = evaluator.on_other(samples={"test": samples})
    before = asking.predictions(original, "test")
    measured = {"file": file, "n_texts": len(samples), "n_wordings": before.array.shape[1], "original": _scores(before)}
    if chosen.prompt.id == original.id:
        return measured
    after = asking.predictions(chosen.prompt, "test")
    n_changed = int(np.any(before.array != after.array, axis=1).sum())
    return {**measured, "id": chosen.id, "recommended": _scores(after), "n_changed": n_changed}


def _scores(predictions: Predictions) -> dict[str, float]:
    """S, and F1 where there are labels."""
    sensitivity = {"sensitivity": float(np.mean(predictions.sensitivities))}
    return {"f1": score(predictions).f1, **sensitivity} if predictions.is_labelled else sensitivity
