"""Does a test of a given number of answers show more with more samples, or under more wordings?

    python experiments/samples_or_wordings.py minilm smollm2 [--sets trec dbpedia]

Grids of answers are the population: of `minilm` under twenty of psopt's own wordings, asked here; of any other model,
those that `real_grids.py` has kept, under thirty wordings of TREC. Samples and wordings are drawn from them, each with
replacement, and pairs of prompts are tested as the gate tests a nominee: F1 is not lower by a point, S not higher by a
point, and one of them is better, each at 5 %.

Expected: S needs wordings and F1 samples, so that a gain in F1 is shown more often with more wordings where it is
large, and with more samples where it is small.

Each grid is saved when its draws are made and not drawn from again. Ten minutes on one core.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_rules import from_letters
from _lm_sets import classes_of, lm_task
from psopt.evaluation import evaluate
from psopt.metrics import compare_scores
from psopt.models import ModelProvider
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import STRATEGIES, seed_prompt

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.tasks import Task

    Grid = NDArray[np.int64]

_SHAPES = ((25, 4), (20, 5), (17, 6), (50, 4), (40, 5), (33, 6), (83, 4), (66, 5), (55, 6), (41, 8))
_N_DRAWS = 200
_N_TEXTS = 500
_KEPT = Path(__file__).parent / "results" / "real_grids.json"
_OF_KEPT = (("simple, batch", "1-shot, batch"), ("detail, batch", "1-shot, batch"), ("simple, batch", "detail, batch"),
            ("detail, none", "1-shot, batch"), ("1-shot, none", "1-shot, batch"))  # fmt: skip


def main() -> None:
    """Draw from the grids of each model and set."""
    words = lm_parser(__doc__, ("trec", "dbpedia")).parse_args()
    setting = f"{_N_DRAWS} draws a cell: how often a test shows that F1 and S are no worse, and one of them better."
    kept = KeptResults(words.results, "samples_or_wordings", "pairs", setting)
    for name in words.models:
        for dataset in words.sets if name == "minilm" else ("trec",):
            if not kept.has(model=name, dataset=dataset):
                task = lm_task(dataset, words.data)
                kept.add(*_of_minilm(task) if name == "minilm" else _of_kept(name, task))


def _of_minilm(task: Task) -> list[dict[str, Any]]:
    """Every pair of strategies, the better one second, on TREC's test, or on all samples of a smaller set."""
    samples = task.test if len(task.test) >= _N_TEXTS else task.samples[:_N_TEXTS]
    model = ModelProvider().answering("minilm", task)
    wordings = rephrasings_for(task, 10, 10)
    both = [*wordings.search, *wordings.heldout]
    grids = {name: evaluate(model, seed_prompt(task, name, seed=0), both, samples).array for name in STRATEGIES}
    truth = classes_of(samples, task)
    ranked = sorted(STRATEGIES, key=lambda name: (grids[name] == truth[:, None]).mean())
    return [_drawn("minilm", task, pair, [grids[name] for name in pair], truth) for pair in combinations(ranked, 2)]


def _of_kept(name: str, task: Task) -> list[dict[str, Any]]:
    columns = [row for row in json.loads(_KEPT.read_text("utf-8"))["columns"] if row["model"] == name]

    def grid(of: str) -> Grid:
        strategy, prior = of.split(", ")
        return from_letters([row[prior] for row in columns if row["strategy"] == strategy])

    return [_drawn(name, task, pair, list(map(grid, pair)), classes_of(task.test, task)) for pair in _OF_KEPT]


def _drawn(model: str, task: Task, pair: tuple[str, str], grids: list[Grid], truth: Grid) -> dict[str, Any]:
    """How often each size of a test shows it, with F1 and S alone beside."""
    n_classes = len(task.labels) + 1
    shares = {}
    for n, q in _SHAPES:
        rng = np.random.default_rng([n, q])
        shown = []
        for _ in range(_N_DRAWS):
            rows, columns = rng.integers(len(truth), size=n), rng.integers(grids[0].shape[1], size=q)
            before, after = (grid[np.ix_(rows, columns)] for grid in grids)
            tests = compare_scores(before, after, truth[rows], n_classes)
            f1, s = tests["f1"], tests["sensitivity"]
            not_worse = f1.p_above(-0.01) < 0.05, s.p_below(0.01) < 0.05
            is_better = f1.p_above() < 0.05 or s.p_below() < 0.05
            shown.append((all(not_worse) and is_better, *not_worse))
        shares[f"{n} x {q}"] = np.mean(shown, axis=0).round(3).tolist()
    f1_of = [round(float((grid == truth[:, None]).mean()), 3) for grid in grids]
    return {"model": model, "dataset": task.name, "pair": " -> ".join(pair), "f1": f1_of, "shown": shares}


if __name__ == "__main__":
    main()
