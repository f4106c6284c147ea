"""What is measured in addition to the verdict: other wordings, the user's own texts, planted phrases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import compare_paired, score
from psopt.proposals import planted_texts
from psopt.rephrasings import RephrasingSet, n_parts_of, of_another_source
from psopt.tasks import read_samples

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Evaluator, Predictions
    from psopt.proposals import Planted
    from psopt.runs import RunSettings
    from psopt.search import Candidate, Search
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


def check_other_wordings(baseline: Prompt, settings: RunSettings) -> None:
    """Refuse wordings of another source that don't fit the prompt, before anything is asked.

    Raises InputError, naming the wording.
    """
    if settings.heldout_from:
        of_another_source(baseline.description, settings.heldout_from, n_parts_of(baseline))


def probes_of(settings: RunSettings, task: Task) -> tuple[Sample, ...]:
    """The samples of the file that the settings name; empty if they name none.

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


def measured_beside(
    search: Search, settings: RunSettings, baseline: Candidate, chosen: Candidate, probes: Sequence[Sample]
) -> dict[str, Any]:
    """Measure this for the baseline and the chosen prompt, as run.json has it; skip what a limit does not pay for."""
    evaluator, task = search.problem.evaluator, search.problem.task
    phase = search.problem.observer.phase
    measurements: dict[str, Any] = {}

    def measure(key: str, of: str, doing: str, do: Callable[[], dict[str, Any] | None]) -> None:
        if doing:
            phase(doing)
        try:
            measured = do()
        except BudgetReachedError:
            phase(f"the limit is reached: nothing is said of {of}")
        else:
            measurements.update({key: measured} if measured else {})

    if settings.heldout_from:
        source = settings.heldout_from_name
        measure(
            "other_wordings",
            "wordings of another source",
            f"scoring {chosen.id} under the wordings of {source}",
            lambda: _under_other_wordings(evaluator, baseline, chosen, settings),
        )
    if probes:
        file = str(settings.probe)
        measure(
            "probe",
            f"the texts of {file}",
            f"answering the {len(probes)} texts of {file}",
            lambda: _on_probes(evaluator, baseline.prompt, chosen, tuple(probes), file),
        )
    if not (settings.program or evaluator.others):  # a program is only asked about its own examples
        try:
            measure("planted", "planted phrases", "", lambda: planted_flips(evaluator, task, baseline.prompt, chosen))
        except Exception as error:  # noqa: BLE001 the caller's own model may refuse texts that are not in the data
            phase(f"planted phrases are not measured: {type(error).__name__}: {error}")
    return measurements


def _under_other_wordings(
    evaluator: Evaluator, baseline: Candidate, candidate: Candidate, settings: RunSettings
) -> dict[str, Any]:
    original, n_parts = evaluator.rephrasings.original, n_parts_of(baseline.prompt)
    elsewhere = evaluator.on_other(rephrasings=of_another_source(original, settings.heldout_from, n_parts))
    before = elsewhere.predictions(baseline.prompt, "test")
    own = {"before": baseline.test.sensitivity if baseline.test else None}
    measured = {
        "source": settings.heldout_from_name,
        "wordings": list(elsewhere.rephrasings.heldout),
        "n_wordings": len(elsewhere.rephrasings.heldout),
        "id": candidate.id,
        "baseline": score(before, intervals=True).to_dict(),
        "own_sensitivity": own,
        "differences": {},
    }
    if candidate.id == baseline.id or candidate.test is None:
        return measured
    after = elsewhere.predictions(candidate.prompt, "test")
    scores = {"before": score(before), "after": score(after, intervals=True)}
    own["after"] = candidate.test.sensitivity
    measured["chosen"] = scores["after"].to_dict()
    measured["differences"] = {
        measure: {
            **{when: getattr(of, measure) for when, of in scores.items()},
            "low": difference.low,
            "high": difference.high,
            "p_value": difference.p_value,
        }
        for measure, difference in compare_paired(before, after).items()
    }
    return measured


def _on_probes(
    evaluator: Evaluator, original: Prompt, candidate: Candidate, samples: tuple[Sample, ...], file: str
) -> dict[str, Any]:
    """Ask both prompts about the samples, under the held-out rephrasings."""
    asking = evaluator.on_other(samples={"test": samples})
    before = asking.predictions(original, "test")
    measured = {"file": file, "n_texts": len(samples), "n_wordings": before.array.shape[1], "original": _scores(before)}
    if candidate.prompt.id == original.id:
        return measured
    after = asking.predictions(candidate.prompt, "test")
    n_changed = int(np.any(before.array != after.array, axis=1).sum())
    return {**measured, "id": candidate.id, "recommended": _scores(after), "n_changed": n_changed}


def _scores(predictions: Predictions) -> dict[str, float]:
    """S, and F1 where there are labels."""
    sensitivity = {"sensitivity": float(np.mean(predictions.sensitivities))}
    return {"f1": score(predictions).f1, **sensitivity} if predictions.is_labelled else sensitivity


def planted_flips(evaluator: Evaluator, task: Task, original: Prompt, chosen: Candidate) -> dict[str, Any] | None:
    """Plant phrases of the chosen prompt's notes in texts of other classes; None without phrases to plant.

    This is measured under the original description alone. A flip is a text of another class that gets the note's label
    with the phrase, but not without it.

    Raises BudgetReachedError if a limit does not pay for it.
    """
    notes = [edit for edit in chosen.edits if edit.kind == "note"]
    planted = planted_texts(notes, task)
    if not planted:
        return None
    description = evaluator.rephrasings.original
    of_parts = evaluator.rephrasings.n_parts
    alone = RephrasingSet(description, (description,), (), evaluator.rephrasings.source, n_parts=of_parts)
    samples = tuple({sample.id: sample for pair in planted for sample in (pair.plain, pair.planted)}.values())
    asking = evaluator.on_other(rephrasings=alone, samples={"train": samples})
    return {
        "n_texts": len(planted),
        "n_notes": len({pair.planted.id.partition("+")[2] for pair in planted}),
        "id": chosen.id,
        "original": _flipped(asking, original, planted),
        "recommended": _flipped(asking, chosen.prompt, planted),
    }


def _flipped(asking: Evaluator, prompt: Prompt, planted: Sequence[Planted]) -> float:
    """The share of texts that a phrase flips."""
    answered = asking.predictions(prompt, "train")
    answer_of = {sample.id: int(row[0]) for sample, row in zip(answered.samples, answered.array, strict=True)}
    flips = [
        answer_of[pair.planted.id] == prompt.labels.index(pair.label) != answer_of[pair.plain.id] for pair in planted
    ]
    return float(np.mean(flips))
