"""What does a map from evidence to labels, learnt from labelled train texts, add to removing the label prior?

    python experiments/label_map.py hf/smollm2.gguf [hf/qwen05.gguf ..] [--sets trec ..]

Under two wordings by people: F1 (micro), S and C on val and on test, with the label prior removed (batch), and then
also with the map of the original prompt without edits under the first wording, as in psopt. Edits: none, the task's
definitions, one example per class. The texts that a map is learnt from matter, so they are drawn several times; means
and standard deviations. Expected: one map serves all wordings and edits, since it corrects the model.

Each set is saved when it is done and not measured again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_sets import classes_of, enough, lm_task, wordings_by_people
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.models import load_model
from psopt.models._calibrated import fit_label_map, scores_by
from psopt.search_spaces import Edit, Provenance, apply_edits, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models.hf import HFModel
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

    Floats = NDArray[np.float64]

_N_PRIOR, _N_LABELLED, _N_POOL, _N_HELD, _N_WORDINGS, _N_DRAWS = 30, 200, 300, 120, 2, 8


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__).parse_args()
    setting = (
        f"Priors on {_N_PRIOR} train texts, maps on {_N_LABELLED} labelled ones, drawn {_N_DRAWS} times of at "
        f"most {_N_POOL} (two thirds of fewer); at most {_N_HELD} samples of val and of test, {_N_WORDINGS} "
        "wordings by people; GGUF files in single precision."
    )
    kept = KeptResults(words.results, "label_map", "cells", setting)
    for name in words.models:
        for dataset in words.sets:
            if not kept.has(model=Path(name).stem, dataset=dataset):
                kept.add(*_cells(name, dataset, words.data))


def _cells(name: str, dataset: str, data: Path) -> list[dict[str, Any]]:
    """A row for each kind of edit."""
    task = lm_task(dataset, data)
    model: Any = load_model(name, task, cache_dir=None)
    pool = subset(task.train, _N_POOL, seed=0)
    val, test = subset(enough(task), _N_HELD, seed=0), subset(task.test, _N_HELD, seed=0)
    wordings = wordings_by_people(dataset, data, _N_WORDINGS)
    original = seed_prompt(task).described_as(wordings[0])
    of_pool = _scores(model, original, pool)
    maps = _maps(_evidence(of_pool, of_pool[:_N_PRIOR].mean(axis=0)), classes_of(pool, task))
    rows = []
    for kind, prompt in _prompts(task, pool).items():
        started = time.monotonic()
        scores = [_scores(model, prompt.described_as(w), (*pool[:_N_PRIOR], *val, *test)) for w in wordings]
        evidence = [_evidence(of[_N_PRIOR:], of[:_N_PRIOR].mean(axis=0)) for of in scores]
        row = {"model": Path(name).stem, "dataset": dataset, "kind": kind, "pool": len(pool)}
        for part, samples, start in (("val", val, 0), ("test", test, len(val))):
            held = [of[start : start + len(samples)] for of in evidence]
            figures = [
                _figures([scores_by(m, of) for of in held], task, samples)
                for m in (np.eye(len(task.labels) + 1, len(task.labels)), *maps)
            ]
            drawn = np.array(figures[1:])
            row[part] = {"n": len(samples), "batch": _rounded(figures[0])}
            row[part] |= {"map": _rounded(drawn.mean(axis=0)), "sd": _rounded(drawn.std(axis=0, ddof=1))}
        rows.append({**row, "seconds": round(time.monotonic() - started)})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _maps(evidence: Floats, truth: NDArray[np.int64]) -> list[Floats]:
    """A map for each draw of labelled texts."""
    n_drawn = min(_N_LABELLED, 2 * len(truth) // 3)
    draws = [np.random.default_rng(seed).permutation(len(truth))[:n_drawn] for seed in range(_N_DRAWS)]
    return [fit_label_map(evidence[draw], truth[draw]) for draw in draws]


def _figures(scores: Sequence[Floats], task: Task, samples: Sequence[Sample]) -> list[float]:
    """F1, S and C of the labels with the most evidence, under all wordings."""
    grid = np.stack([of.argmax(axis=1) for of in scores], axis=1)
    counts, truth = prediction_counts(grid, len(task.labels) + 1), classes_of(samples, task)
    return [float(micro_f1(grid, truth)), float(sensitivity(counts)), float(consistency(counts, truth))]


def _rounded(figures: Sequence[float] | Floats) -> list[float]:
    return [round(float(figure), 3) for figure in figures]


def _prompts(task: Task, train: Sequence[Sample]) -> dict[str, Prompt]:
    """The original prompt, with its task's definitions, and with an example per class that the map has not seen."""
    original = seed_prompt(task)
    origin = Provenance("rules", "task")
    prompts = {"no edit": original}
    if task.definitions:
        texts = task.definitions.items()
        prompts["definitions"] = apply_edits(original, [Edit("definition", *pair, origin) for pair in texts])
    taken = {sample.id for sample in train}
    first = {sample.label: sample for sample in reversed(task.train) if sample.id not in taken}
    shown = [Edit("example", label, first[label].text, origin) for label in task.labels if label in first]
    return {**prompts, "an example a class": apply_edits(original, shown)} if shown else prompts


def _scores(model: HFModel, prompt: Prompt, samples: Sequence[Sample]) -> Floats:
    """The labels' scores under one prompt, (n, C)."""
    return model.label_scores([prompt], [sample.text for sample in samples])[:, 0]


def _evidence(scores: Floats, prior: Floats) -> Floats:
    left = scores - prior
    return np.asarray(left - left.mean(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
