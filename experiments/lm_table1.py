"""Tables 1 and 2 of Errica et al. on local language models: three strategies, with and without calibration.

    python experiments/lm_table1.py smollm2 [gguf/PATH ..] [--sets trec ..]

Val samples (`_lm_sets.enough`) under all available wordings by people, micro-F1, pooled C, S by ln C; 95 %
intervals are over samples and wordings. Calibrated: the label prior under each wording is removed, from 30 train
texts. Expected: near-constant answers have the lowest S and the highest C, and calibration reveals them.

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_rules import scored_answers
from _lm_sets import drawn_texts, lm_task, wordings_by_people
from psopt.evaluation import Predictions, score
from psopt.search_spaces import STRATEGIES, render, seed_prompt

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.tasks import Task

_N_HELD, _N_PRIOR, _MOST_WORDINGS = 60, 30, 10
MEASURES = ("sensitivity", "consistency", "f1")
SETS = ("trec", "cb", "rte", "dbpedia", "wos")


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__, SETS).parse_args()
    setting = f"At most {_N_HELD} val samples, wordings by people, priors on {_N_PRIOR} train texts, seed 0."
    kept = KeptResults(words.results, "lm_table1", "cells", setting)
    for name in words.models:
        for dataset in words.sets:
            task = lm_task(dataset, words.data)
            for strategy in STRATEGIES if task.definitions else ("simple", "1-shot"):
                cell = {"model": Path(name).stem, "dataset": dataset, "strategy": strategy}
                kept.measure(cell, _measured, name, task, dataset, strategy, words.data)


def _measured(name: str, task: Task, dataset: str, strategy: str, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    held, unlabelled, _ = drawn_texts(task, _N_HELD, _N_PRIOR)
    prompt = seed_prompt(task, strategy, seed=0)
    answer = scored_answers(name, task, len(held))
    wordings = wordings_by_people(dataset, data, _MOST_WORDINGS)
    answers: dict[str, list[NDArray[np.int64]]] = {}
    for wording in wordings:
        worded = prompt.described_as(wording)
        for prior, column in answer([render(worded, sample.text) for sample in (*held, *unlabelled)]).items():
            answers.setdefault(prior, []).append(column)
    figures = {}
    for prior, columns in answers.items():
        scores = score(Predictions(np.stack(columns, axis=1), tuple(held), task.labels), intervals=True)
        figures[prior] = {measure: [getattr(scores, measure), *scores.ci[measure]] for measure in MEASURES}
        figures[prior]["near_constant"] = scores.near_constant
    return {"n": len(held), "q": len(wordings), **figures, "seconds": round(time.monotonic() - started)}


if __name__ == "__main__":
    main()
