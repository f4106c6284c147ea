"""How often phrases of a prompt's notes flip answers where they mean nothing, beside the original prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.proposals import planted_texts
from psopt.rephrasings import RephrasingSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Evaluator
    from psopt.proposals import Planted
    from psopt.search import Candidate
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


def planted_flips(evaluator: Evaluator, task: Task, original: Prompt, chosen: Candidate) -> dict[str, Any] | None:
    """Measure it under the description as it is, and say it as run.json's `planted`; None without phrases to plant.

    A flip is a text of another class that is answered with the note's label once the phrase is there, and not before.

    Raises
    ------
    BudgetReachedError
        If a limit does not pay for it.
    """
    notes = [edit for edit in chosen.edits if edit.kind == "note"]
    planted = [] if task.spec.is_open else planted_texts(notes, task)
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
