"""How much do psopt's own wordings understate S, compared with people's?

    python experiments/whose_words.py smollm2 [gguf/PATH ..] [--sets trec messages products ..]

The original prompt on val under wordings of several kinds, with the label prior removed: people's; those curated for a
built-in task; by rule, with the labels named in the sentence, and without; and mixtures of two kinds, half of each.
S is the mean over draws of six wordings of a kind, so that all have the same Q.

Expected: sentences that name the labels move answers as much as people's do, since people name them too; frames around
an unchanged instruction move them least.

Each wording's answers are saved when they are complete and not asked again. A set takes ten minutes on one core.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_rules import as_letters, from_letters, scored_answers
from _lm_sets import classes_of, enough, lm_task, wordings_by_people
from psopt.metrics import micro_f1, prediction_counts, sensitivity
from psopt.rephrasings import rephrase_by_rules, rephrasings_for
from psopt.search_spaces import render, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from psopt.tasks import Task

_N_HELD, _N_PRIOR = 80, 30
_N_EACH, _Q, _N_DRAWS = 8, 6, 40
_N_BY_RULE = 24  # per side: enough for all that name the labels
MIXED = (("curated", "labels named"), ("frames", "labels named"))


def main() -> None:
    """Ask under the missing wordings, and save S by kind."""
    words = lm_parser(__doc__, ("trec", "messages", "products")).parse_args()
    setting = (
        f"At most {_N_HELD} val samples, the prior on {_N_PRIOR} train texts; S of {_Q} wordings, the mean of "
        f"{_N_DRAWS} draws from {_N_EACH} of a kind."
    )
    kept = KeptResults(words.results, "whose_words", "columns", setting)
    for name in words.models:
        for dataset in words.sets:
            task = lm_task(dataset, words.data)
            _ask(name, task, dataset, words.data, kept)
            kept.content["cells"] = _cells(kept, task, name, dataset)
            kept.add()


def _kinds(task: Task, dataset: str, data: Path) -> dict[str, list[str]]:
    """Wordings of a task, by kind."""
    ruled = _by_rule(task)
    own = rephrasings_for(task, _N_EACH + 1, 1, seed=0)
    kinds = {
        "people": wordings_by_people(dataset, data, _N_EACH),
        "curated": list(own.search[1:]) if own.source == "builtin" else [],
        "labels named": [text for text in ruled if all(label in text for label in task.labels)],
        "frames": [text for text in ruled if not any(label in text for label in task.labels)],
    }
    return {kind: texts[:_N_EACH] for kind, texts in kinds.items() if texts}


def _by_rule(task: Task) -> list[str]:
    """Wordings by rule, alternating between both sides."""
    n = _N_BY_RULE
    both = rephrase_by_rules(
        task.description, task.noun, n, n, 0, protect=task.labels, labels=task.labels, asks_for_label=True
    )
    return [text for pair in zip(both.search[1:], both.heldout, strict=False) for text in pair]


def _ask(name: str, task: Task, dataset: str, data: Path, kept: KeptResults) -> None:
    held = subset(enough(task), _N_HELD, seed=0)
    texts = [sample.text for sample in (*held, *subset(task.train, _N_PRIOR, seed=0))]
    answer, prompt = scored_answers(name, task, len(held)), seed_prompt(task, seed=0)
    for kind, wordings in _kinds(task, dataset, data).items():
        for wording in wordings:
            column = {"model": Path(name).stem, "dataset": dataset, "kind": kind, "wording": wording}
            if not kept.has(**column):
                worded = prompt.described_as(wording)
                kept.add({**column, "answers": as_letters(answer([render(worded, text) for text in texts])["batch"])})
    print(name, dataset, flush=True)


def _cells(kept: KeptResults, task: Task, name: str, dataset: str) -> list[dict[str, Any]]:
    """The cells of other models and sets, and this one's."""
    cell = {"model": Path(name).stem, "dataset": dataset}
    others = [old for old in kept.content.get("cells", ()) if any(old[key] != value for key, value in cell.items())]
    columns: dict[str, list[str]] = {}
    for row in kept.rows:
        if row["model"] == cell["model"] and row["dataset"] == dataset:
            columns.setdefault(row["kind"], []).append(row["answers"])
    held = subset(enough(task), _N_HELD, seed=0)
    truth = classes_of(held, task)
    figures = {kind: _figures([of_kind], truth, len(task.labels)) for kind, of_kind in columns.items()}
    for first, second in MIXED:
        if first in columns and second in columns:
            mixed = _figures([columns[first], columns[second]], truth, len(task.labels))
            figures[f"{first}, {second}"] = mixed
    return [*others, {**cell, "n": len(held), "kinds": figures}]


def _figures(parts: list[list[str]], truth: Any, n_labels: int) -> list[float]:
    """F1 and S of draws of wordings, as many from each part."""
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(_N_DRAWS):
        columns = [
            part[int(place)]
            for part in parts
            for place in rng.choice(len(part), min(len(part), _Q // len(parts)), replace=False)
        ]
        grid = from_letters(columns)
        drawn.append((micro_f1(grid, truth), sensitivity(prediction_counts(grid, n_labels + 1))))
    return [round(float(figure), 3) for figure in np.mean(drawn, axis=0)]


if __name__ == "__main__":
    main()
