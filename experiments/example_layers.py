"""How many examples of each class help, and of which kind, as psopt chooses them?

    python experiments/example_layers.py smollm2 [gguf/PATH ..] [--sets trec ..] [--texts 80] [--wordings 2]

The calibrated original prompt under wordings by people, with examples as turns: none, the first layer that psopt
offers (one typical example of each class), the first two, and all four (two typical ones, a borderline one and one from
a weak spot), then twice and three times as many. They are chosen from 100 train texts; F1 (micro), S and C are of other
train texts (where there are too few, val's as well), so nothing is tuned on test. Calibration includes the label map of
200 train texts, as in a run.

Expected: no number is best on every set, so a search should try few examples and many.

Each cell is saved when it is done and not measured again. A cell takes 20 seconds to three minutes on one core.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_sets import lm_task, wordings_by_people
from psopt.evaluation import evaluate
from psopt.models import MOST_LABELLED, LabelledTexts, ModelProvider, calibrates
from psopt.proposals import EXAMPLE_LAYERS, examples_from_train
from psopt.search_spaces import CALIBRATE, apply_edits, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    import argparse

_N_TRAIN = 100
_LAYERS = {"none": 0, "1 typical": 1, "2 typical": 2, "4 of all kinds": 4, "8 of all kinds": 8, "12 of all kinds": 12}


def main() -> None:
    """Measure the missing cells."""
    parser = lm_parser(__doc__)
    parser.add_argument("--texts", type=int, default=80)
    parser.add_argument("--wordings", type=int, default=2)
    words = parser.parse_args()
    setting = (
        f"Examples from {_N_TRAIN} train texts, as turns; calibrated, with the label map of {MOST_LABELLED} texts."
    )
    kept = KeptResults(words.results, "example_layers", "cells", setting)
    for name in words.models:
        for dataset in words.sets:
            for layers in _LAYERS:
                cell = {"model": Path(name).stem, "dataset": dataset, "layers": layers}
                kept.measure(cell, _measured, name, dataset, layers, words)


def _measured(name: str, dataset: str, layers: str, words: argparse.Namespace) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, words.data)
    train = subset(task.train, _N_TRAIN, seed=0)
    chosen_from = {sample.id for sample in train}
    others = [sample for sample in task.train if sample.id not in chosen_from]
    texts = subset(others if len(others) >= words.texts else [*others, *task.val], words.texts, seed=1)
    wordings = wordings_by_people(dataset, words.data, words.wordings)
    calibrated = apply_edits(seed_prompt(task), [CALIBRATE])
    model = ModelProvider().answering(name, task)
    assert calibrates(model)  # noqa: S101  # it gives label probabilities
    labelled = subset(task.train, MOST_LABELLED, seed=0)
    labels = [task.labels.index(str(sample.label)) for sample in labelled]
    model = model.learning_from(LabelledTexts(calibrated, [sample.text for sample in labelled], labels))
    edits = []
    if n_layers := _LAYERS[layers]:
        diagnosed = evaluate(model, calibrated, wordings[:2], train)
        edits = examples_from_train(diagnosed, (EXAMPLE_LAYERS * 3)[:n_layers])
    answers = evaluate(model, apply_edits(calibrated, edits), wordings, texts)
    figures = figures_of(answers.array, answers.truth, task)
    sizes = {"n": len(texts), "wordings": len(wordings), "n_examples": len(edits)}
    return {**sizes, "figures": figures, "seconds": round(time.monotonic() - started)}


if __name__ == "__main__":
    main()
