"""Are intervals and tests valid on a language model's real answers?

    python experiments/real_grids.py smollm2 [gguf/PATH ..] [--writer gguf/PATH]

All test questions of TREC under thirty wordings of the task, for each of the three strategies, with the label prior and
without: ten wordings are psopt's own, ten are people's, ten a writer's. These grids are the population. Data sets are
drawn from it, samples and wordings each with replacement, so that draws are independent and the truth is known: the
mean over all draws. S is measured at the drawn number of wordings.

We count how often a 95 % interval holds the truth, and how often that of the paired difference of two prompts misses
the true difference, which is the error of a test at the 5 % level.

S under the ten wordings of each kind shows how much psopt's own understate S under people's.

Expected: F1 and C covered in at least 90 % in every cell; S in less where one wording in ten differs from the rest.

Each column of a grid is saved when it is done and not asked again. SmolLM2 takes an hour on one core.
"""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import psopt
from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_rules import as_letters, from_letters, scored_answers
from _lm_sets import classes_of, lm_task, wordings_by_people
from psopt.metrics import compare_scores, score_intervals
from psopt.rephrasings import RephrasingOptions, rephrasings_for
from psopt.search_spaces import STRATEGIES, render, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.tasks import Task

    Grid = NDArray[np.int64]
    Grids = dict[tuple[str, str], Grid]

_DATASET = "trec"
_N_EACH = 10  # wordings of a kind
_N_PRIOR = 30  # texts
_SIZES = tuple((n, q) for n in (100, 200, 300) for q in (5, 10))
_N_DRAWS = 300
_PRIORS = ("none", "batch")
_BY = ("psopt", "people", "writer")
_POOLS = ("all", "people")  # which draws are from
_SCORES = ("f1", "sensitivity", "consistency")
_WORDINGS = Path(__file__).parent / "wordings" / "trec_people.json"


class Draw(NamedTuple):
    """Samples and wordings of a population, by their places in it."""

    samples: NDArray[np.int64]
    wordings: NDArray[np.int64]

    def of(self, grid: Grid) -> Grid:
        """Their answers, (N, Q)."""
        return grid[np.ix_(self.samples, self.wordings)]


def main() -> None:
    """Ask for the missing columns, and count coverage and errors over draws from them."""
    parser = lm_parser(__doc__, (_DATASET,))
    parser.add_argument("--writer", help="the model that writes ten of the wordings; none are its without one")
    words = parser.parse_args()
    setting = (
        f"TREC's test questions; ten wordings of psopt's own, of people's and of a writer's each; priors on {_N_PRIOR} "
        f"train texts; {_N_DRAWS} draws a cell."
    )
    kept = KeptResults(words.results, "real_grids", "columns", setting)
    task = lm_task(_DATASET, words.data)
    truth = classes_of(task.test, task)
    wordings = _wordings(task, words.writer, words.data, kept)
    for name in words.models:
        _ask(name, task, wordings, kept)
        grids = {pool: _grids(Path(name).stem, kept, pool) for pool in ("all", *_BY)}
        for part, found in (("by", _by_whose(grids, truth, task)), ("cells", _cells(grids, truth, task))):
            kept.content.setdefault(part, {})[Path(name).stem] = found
        kept.add()


def _wordings(task: Task, writer: str | None, data: Path, kept: KeptResults) -> list[tuple[str, str]]:
    """Each wording with its origin; a writer's are written once."""
    own = rephrasings_for(task, _N_EACH, 1).search
    people = (*wordings_by_people(_DATASET, data, _N_EACH), *json.loads(_WORDINGS.read_text("utf-8"))["texts"])
    if writer and "written" not in kept.content:
        half = _N_EACH // 2  # a small writer has fewer than ten of one kind; the held-out ones are of another
        options = RephrasingOptions(rephraser=writer)
        by_writer = psopt.rephrase(task, rephrasings=1 + half, heldout=half, rephrasing=options)
        kept.content["written"] = [*by_writer.search[1:], *by_writer.heldout]
        kept.add()
    texts_by = zip(_BY, (own, people, kept.content.get("written", ())), strict=True)
    return [(by, text) for by, texts in texts_by for text in texts[:_N_EACH]]


def _ask(name: str, task: Task, wordings: list[tuple[str, str]], kept: KeptResults) -> None:
    """All columns of a model."""
    answer = scored_answers(name, task, len(task.test))
    texts = [sample.text for sample in (*task.test, *subset(task.train, _N_PRIOR, seed=0))]
    for strategy in STRATEGIES:
        prompt = seed_prompt(task, strategy, seed=0)
        for by, wording in wordings:
            column = {"model": Path(name).stem, "strategy": strategy, "by": by, "wording": wording}
            if not kept.has(**column):
                worded = prompt.described_as(wording)
                found = answer([render(worded, text) for text in texts])
                kept.add({**column, **{prior: as_letters(found[prior]) for prior in _PRIORS}})
                print(strategy, by, wording, flush=True)


def _grids(model: str, kept: KeptResults, pool: str) -> Grids:
    """Of a pool of wordings, the answers (N, Q) by strategy and prior."""
    rows = [row for row in kept.rows if row["model"] == model and pool in ("all", row["by"])]
    return {
        (strategy, prior): from_letters([row[prior] for row in rows if row["strategy"] == strategy])
        for strategy in STRATEGIES
        for prior in _PRIORS
    }


def _by_whose(pools: dict[str, Grids], truth: Grid, task: Task) -> list[dict[str, Any]]:
    """F1, S and C under each kind's wordings, by prompt."""
    return [
        {"by": by, "of": f"{strategy}, {prior}", "figures": figures_of(grid, truth, task)}
        for by in _BY
        for (strategy, prior), grid in pools[by].items()
    ]


def _cells(pools: dict[str, Grids], truth: Grid, task: Task) -> list[dict[str, Any]]:
    """Coverage of intervals and of paired differences, by pool of wordings, size and prompt."""
    n_classes = len(task.labels) + 1
    cells = []
    for pool, (n, q) in product(_POOLS, _SIZES):
        grids = pools[pool]
        size = {"pool": pool, "n": n, "q": q}
        draws = list(_draws(len(truth), next(iter(grids.values())).shape[1], n, q))
        for (strategy, prior), grid in grids.items():
            intervals = [score_intervals(draw.of(grid), truth[draw.samples], n_classes) for draw in draws]
            bounds = [[tuple(interval[name]) for name in _SCORES] for interval in intervals]
            cells.append({**size, "of": f"{strategy}, {prior}", **_held(bounds)})
        for first, second in combinations(STRATEGIES, 2):
            before, after = grids[first, "batch"], grids[second, "batch"]
            tests = [compare_scores(draw.of(before), draw.of(after), truth[draw.samples], n_classes) for draw in draws]
            bounds = [[(test[name].difference, test[name].low, test[name].high) for name in _SCORES] for test in tests]
            cells.append({**size, "of": f"{first} against {second}", **_held(bounds)})
    return cells


def _held(bounds: list[list[tuple[float, ...]]]) -> dict[str, Any]:
    """For each score the truth, and the shares of draws in which it is inside the interval and above it.

    `bounds` holds an estimate and its interval for each draw and score.
    """
    estimates, low, high = np.array(bounds).transpose(2, 0, 1)
    truth = estimates.mean(axis=0)
    shares = {
        "truth": truth,
        "inside": ((low <= truth) & (truth <= high)).mean(axis=0),
        "above": (truth > high).mean(axis=0),
    }
    return {name: {of: round(float(row[place]), 4) for of, row in shares.items()} for place, name in enumerate(_SCORES)}


def _draws(n_samples: int, n_wordings: int, n: int, q: int) -> Iterator[Draw]:
    rng = np.random.default_rng([n, q])
    for _ in range(_N_DRAWS):
        yield Draw(rng.integers(n_samples, size=n), rng.integers(n_wordings, size=q))


if __name__ == "__main__":
    main()
