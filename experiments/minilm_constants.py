"""What minilm's constants do: each one varied alone, scored on TREC's train questions, never on its test set.

Run it with the real TREC: ``PSOPT_DATA_DIR=FOLDER python experiments/minilm_constants.py``. It prints
F1, S and C on val questions (a part of train_5500) under ten rephrasings: of the bare prompt, and of the prompt with
all edits proposed from train. The value in use has a star, and the one with highest F1 - S + C under all edits a plus.

The values in use were chosen this way with the edits of psopt 0.1's first weeks, and stayed when proposals changed: if
the model moved with each change of what it measures, results of different weeks could not be compared. So another value
may have the plus; the last column shows how far behind the one in use is.
"""

from __future__ import annotations

import psopt
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate, score
from psopt.models import cache_folder
from psopt.models.minilm import _model
from psopt.proposals import propose_edits
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import apply_edits, seed_prompt
from psopt.tasks import subset

TRIED = {
    "CENTRED_SHARE": (0.0, 0.5, 1.0),
    "DESCRIPTION_SHARE": (0.5, 0.75, 1.0),
    "DEFINITION_SHARE": (0.3, 0.5, 0.7),
    "QUOTE_BONUS": (0.0, 0.1, 0.2, 0.4),
    "TOPIC_FLOOR": (0.1, 0.15, 0.3),
    "EXAMPLE_WEIGHT": (0.0, 0.2, 0.4),
}


def main() -> None:
    task = psopt.load_task("trec", strict_data=True)
    train, val = subset(task.train, 500, seed=42), subset(task.val, 500, seed=42)
    rephrasings = rephrasings_for(task).search
    model = _model.MiniLM([sample.text for sample in task.train], cache_dir=cache_folder())
    bare = seed_prompt(task)
    on_train = evaluate(model, bare, rephrasings, train)
    edits = propose_edits(task, bare, on_train, diagnose_predictions(on_train, labelled=task.train))
    full = apply_edits(bare, edits)
    print("constant           value    bare F1/S/C         all edits F1/S/C    behind")
    for name, values in TRIED.items():
        in_use = getattr(_model, name)
        scores = {}
        for value in values:
            setattr(_model, name, value)
            scores[value] = [score(evaluate(model, prompt, rephrasings, val)) for prompt in (bare, full)]
        setattr(_model, name, in_use)
        gains = {
            value: of_full.f1 - of_full.sensitivity + of_full.consistency for value, (_, of_full) in scores.items()
        }
        best = max(gains, key=lambda value: gains[value])
        for value, pair in scores.items():
            cells = "   ".join(f"{part.f1:.3f} {part.sensitivity:.3f} {part.consistency:.3f}" for part in pair)
            mark = ("*" if value == in_use else "") + ("+" if value == best else "")
            print(f"{name:18s} {value:5.2f}{mark:2s}  {cells}   {gains[best] - gains[value]:.3f}")


if __name__ == "__main__":
    main()
