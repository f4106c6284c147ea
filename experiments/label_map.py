"""What does a map from evidence to labels, learnt from labelled train texts, add to taking out the label prior?

    python experiments/label_map.py hf/smollm2.gguf [hf/qwen05.gguf ..] [--sets trec ..]

Under two wordings by people, F1 (micro), S and C of val samples: as the model has it, with the label prior taken out
(batch), with the map of the original prompt without edits under the first wording (shared, as psopt does it), and with
a map of the prompt's own. Edits: none, the task's definitions, one example a class. Expected: the shared map does as
well as a prompt's own, since what it corrects is the model's.

Each cell is saved when it is done, and not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_rules import label_scores
from _lm_sets import NAMES, enough, lm_task, wordings_by_people
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.models import load_model
from psopt.models._label_map import fit_label_map, scores_by
from psopt.models.hf._shared_prefix import score_behind_prefix
from psopt.search_spaces import Edit, Provenance, apply_edits, render, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models.hf import HFModel
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

    Floats = NDArray[np.float64]

_N_PRIOR, _N_LABELLED, _N_VAL, _N_WORDINGS = 30, 100, 120, 2
_WAYS = ("none", "batch", "shared map", "own map")


def main() -> None:
    """Measure the cells that are not there yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sets", nargs="+", default=NAMES)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    words = parser.parse_args()
    words.results.mkdir(parents=True, exist_ok=True)
    file = words.results / "label_map.json"
    results: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {"cells": []}
    results["setting"] = {
        "words": f"Priors on {_N_PRIOR} train texts, maps on at most {_N_LABELLED} labelled ones, at most {_N_VAL} val "
        f"samples, {_N_WORDINGS} wordings by people; GGUF files in single precision."
    }
    done = {(cell["model"], cell["dataset"]) for cell in results["cells"]}
    for name in words.models:
        for dataset in words.sets:
            if (Path(name).stem, dataset) not in done:
                results["cells"] += _cells(name, dataset, words.data)
                file.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def _cells(name: str, dataset: str, data: Path) -> list[dict[str, Any]]:
    """A row for each kind of edit; that without edits comes first, and lends its map to the others."""
    task = lm_task(dataset, data)
    model: Any = load_model(name, task, cache_dir=None)
    train, val = subset(task.train, _N_LABELLED, seed=0), subset(enough(task), _N_VAL, seed=0)
    truth = np.array([task.labels.index(str(sample.label)) for sample in (*train, *val)])
    wordings = wordings_by_people(dataset, data, _N_WORDINGS)
    rows = []
    shared: Floats | None = None
    for kind, prompt in _prompts(task, train).items():
        started = time.monotonic()
        columns: dict[str, list[Any]] = {way: [] for way in _WAYS}
        for wording in wordings:
            scores = _scores(model, prompt.described_as(wording), (*train, *val))
            evidence = _evidence(scores, scores[:_N_PRIOR].mean(axis=0))
            own = fit_label_map(evidence[: len(train)], truth[: len(train)])
            shared = own if shared is None else shared
            of_val = evidence[len(train) :]
            for way, left in zip(
                _WAYS, (scores[len(train) :], of_val, scores_by(shared, of_val), scores_by(own, of_val)), strict=True
            ):
                columns[way].append(left.argmax(axis=1))
        seconds = round(time.monotonic() - started)
        rows.append({"model": Path(name).stem, "dataset": dataset, "kind": kind, "n": len(val), "train": len(train)})
        rows[-1] |= {"seconds": seconds, **{way: _figures(columns[way], truth[len(train) :], task) for way in _WAYS}}
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _figures(columns: Sequence[Any], truth: NDArray[np.int64], task: Task) -> dict[str, float]:
    grid = np.stack(columns, axis=1)
    counts = prediction_counts(grid, len(task.labels) + 1)
    return {
        "f1": round(float(micro_f1(grid, truth)), 3),
        "sensitivity": round(float(sensitivity(counts)), 3),
        "consistency": round(float(consistency(counts, truth)), 3),
    }


def _prompts(task: Task, train: Sequence[Sample]) -> dict[str, Prompt]:
    """The original prompt, with its task's definitions, and with an example a class that is not of the map's texts."""
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
    """Log-probabilities among the labels, (n, C), by the mean of their tokens'."""
    scorer = model.scorer
    conversations = [render(prompt, sample.text) for sample in samples]
    prompts, tree = scorer._tokenizer.scored(conversations, prompt.labels)
    steps = np.empty((len(samples), len(tree.nodes)))
    for indices, scored in score_behind_prefix(scorer._network, prompts, tree, scorer._limit):
        steps[indices] = scored
    scores = label_scores(tree, steps, "mean")
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def _evidence(scores: Floats, prior: Floats) -> Floats:
    left = scores - prior
    return np.asarray(left - left.mean(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
