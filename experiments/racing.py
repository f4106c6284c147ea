"""How many calls does the search need for its front? The plain search against racing, and against asking less.

    PSOPT_DATA_DIR=... python experiments/racing.py [--only trec] [--arms racing ..] [--jobs 2]

TREC, three data sets of ours (`_texts.py`), and sim without and with trade-offs; 40 candidates, 500 samples of train
and of val under 10 wordings, the front on 500 of test. A seed draws train and val from one pool, and seeds the search.
All models here compute whole grids, so an arm's calls are counted as if they were paid, and what it did not ask is
known too: whether a stop was wrong, and what its front is worth on all of val. "Gain" is the hypervolume beyond the
original prompt's, the stricter measure; "plain, drawn anew" is the plain search with another seed, and shows how far
two searches of equal cost differ. Expected: racing alone needs a fifth of the calls, everything a tenth, at 99 % of the
hypervolume.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import optuna
from _racing_arms import ARMS, PLAIN, Arm
from _racing_fields import Field, Sizes, field_of, planned, pooled
from _setting import HERE, rounded
from _texts import TASKS
from ablation import hypervolume
from psopt.evaluation import compare_paired, objective_values, score
from psopt.search import Search, SearchProblem, knee, scoring_order
from psopt.search._front import Candidate, pareto_front
from psopt.search._study import make_sampler
from psopt.search.distributed import RetryPolicy, StoredStudy, retrying
from psopt.search_spaces import seed_prompt
from psopt.settings import SearchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _paid import PaidModel
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt

DATASETS = ("trec", *TASKS, "sim", "sim with trade-offs")
_ANEW = 1000  # added to a seed for another draw


def searched(field: Field, sizes: Sizes, arm: Arm) -> Search:
    """Search as an arm says, in a study in memory."""
    seed = field.seed + _ANEW if arm.anew else field.seed
    options = SearchOptions(trials=sizes.trials, seed=seed, race=arm.race)
    if arm.effort:
        field, options = planned(field, options, arm.effort)
    policy = RetryPolicy(None)
    storage = retrying(optuna.storages.InMemoryStorage(), policy)
    optuna.create_study(storage=storage, study_name="racing", directions=["maximize", "minimize", "maximize"])
    study = StoredStudy("racing", storage, make_sampler(options.sampler, options.seed), policy)
    problem = SearchProblem(field.task, seed_prompt(field.task), field.evaluator(), options)
    search = Search(study, problem)
    if arm.has_whole_diagnoses:
        search.diagnoses.is_partial = False
    search.run()
    return search


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an arm has found, and what it has asked."""

    search: Search
    front: tuple[Candidate, ...]
    knee: Candidate
    calls: dict[str, int]
    fates: dict[str, int]

    @classmethod
    def of(cls, search: Search) -> Outcome:
        """Run the final test on the front, and count."""
        front = search.state.front
        evaluator = search.problem.evaluator
        model: Any = evaluator.model
        for candidate in scoring_order(search.state.baseline, front, search.state.shortest):
            evaluator.predictions(candidate.prompt, "test")
        calls = {split: model.asked(split) for split in ("val", "train", "test")}
        return cls(search, front, knee(front, search.state.baseline), calls, _fates(search, model))

    def val(self, prompt: Prompt) -> Predictions:
        """A prompt's predictions on all of val; they cost nothing here."""
        return self.search.problem.evaluator.predictions(prompt, "val")


def _fates(search: Search, model: PaidModel) -> dict[str, int]:
    """What was asked on val, by what became of the candidates."""
    fate_of = {candidate.id: f"stopped at {candidate.rung}" for candidate in search.stopped}
    fate_of |= {candidate.id: "whole grid, not on the front" for candidate in search.candidates}
    fate_of |= {candidate.id: "audited" for candidate in (*search.candidates, *search.stopped) if candidate.audit}
    fate_of |= {candidate.id: "on the front" for candidate in search.state.front}
    fate_of[search.state.baseline.id] = "baseline"
    fates: Counter[str] = Counter()
    for (split, prompt_id), n in model.cells.items():
        if split == "val":
            fates[fate_of.get(prompt_id, "other")] += n
    return dict(fates.most_common())


def stopped_wrongly(outcome: Outcome) -> list[str]:
    """Which stopped candidates would be on the front, if all had been evaluated completely."""
    search = outcome.search
    whole = [
        Candidate(stopped.trial, stopped.prompt, stopped.edits, score(outcome.val(stopped.prompt)))
        for stopped in search.stopped
    ]
    front = {candidate.id for candidate in pareto_front([*search.candidates, *whole], search.state.least_f1)}
    return [candidate.id for candidate in whole if candidate.id in front]


def row_of(outcome: Outcome, plain: Outcome) -> dict[str, Any]:
    """An arm's numbers against the plain search's."""
    search, start = outcome.search, objective_values(plain.search.state.baseline.val)
    volumes = [
        hypervolume([objective_values(score(plain.val(c.prompt))) for c in arm.front]) for arm in (outcome, plain)
    ]
    n_search = [arm.calls["val"] + arm.calls["train"] for arm in (outcome, plain)]
    n_all = [n + arm.calls["test"] for n, arm in zip(n_search, (outcome, plain), strict=True)]
    least = hypervolume([start])
    wrong = stopped_wrongly(outcome)
    audits = [candidate.audit for candidate in (*search.candidates, *search.stopped) if candidate.audit]
    # counted already: from now on both are evaluated on all of test
    on_test = [plain.search.problem.evaluator.predictions(arm.knee.prompt, "test") for arm in (plain, outcome)]
    against = compare_paired(*on_test) if plain.knee.id != outcome.knee.id else {}
    return {
        "calls": outcome.calls,
        "share": n_search[0] / n_search[1],
        "share_with_test": n_all[0] / n_all[1],
        "hypervolume": volumes[0] / volumes[1],
        "gain": (volumes[0] - least) / (volumes[1] - least) if volumes[1] > least else 1.0,
        "front": len(outcome.front),
        "candidates": search.state.n_done,
        "stopped": len(search.stopped),
        "stopped_wrongly": len(wrong),
        "audits": len(audits),
        "audits_wrong": audits.count("wrong"),
        "fates": outcome.fates,
        "knee_val": objective_values(outcome.knee.val),
        "knee_test": objective_values(score(on_test[1])),
        "against_plain": {name: [test.difference, test.low, test.high, test.p_value] for name, test in against.items()},
    }


def rows_of_seed(dataset: str, sizes: Sizes, seed: int) -> list[dict[str, Any]]:
    """Every arm of a seed."""
    optuna_level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with mock.patch("psopt.search._shorten.compare_paired", _remembered()):
            return list(_rows(field_of(dataset, seed, sizes), dataset, sizes))
    finally:
        optuna.logging.set_verbosity(optuna_level)


def _rows(field: Field, dataset: str, sizes: Sizes) -> Iterator[dict[str, Any]]:
    plain: Outcome | None = None
    for name in dict.fromkeys([PLAIN, *(sizes.arms or ARMS)]):
        arm = ARMS[name]
        started = time.process_time()
        outcome = Outcome.of(searched(field, sizes, arm))
        plain = plain or outcome
        row = {"dataset": dataset, "arm": name, "seed": field.seed, **row_of(outcome, plain)}
        print(
            f"{dataset}, seed {field.seed}, {name}: {row['share']:.1%} of the calls, hypervolume "
            f"{row['hypervolume']:.1%}, gain {row['gain']:.1%}, {row['stopped_wrongly']} of {row['stopped']} stops "
            f"wrong, {time.process_time() - started:.0f} s",
            flush=True,
        )
        yield row


def _remembered() -> Callable[..., Any]:
    """`compare_paired`, each pair once: arms share candidates, and a bootstrap takes long."""
    pairs: dict[tuple[bytes, bytes, int], Any] = {}

    def compare(first: Predictions, second: Predictions, seed: int = 42) -> Any:
        key = (first.array.tobytes(), second.array.tobytes(), seed)
        if key not in pairs:
            pairs[key] = compare_paired(first, second)
        return pairs[key]

    return compare


def main(datasets: list[str], seeds: list[int], sizes: Sizes, results: Path) -> None:
    """Run data set by data set; the rows of each replace its old rows in the results."""
    for dataset in datasets:
        rows = _rows_of(dataset, seeds, sizes)
        _save(rows, dataset, seeds, sizes, results)


def _rows_of(dataset: str, seeds: list[int], sizes: Sizes) -> list[dict[str, Any]]:
    of_seed = partial(rows_of_seed, dataset, sizes)
    if sizes.jobs == 1:
        return [row for seed in seeds for row in of_seed(seed)]
    if not dataset.startswith("sim"):
        _embed(dataset, seeds[0], sizes)
    # not forked: children of a process that has begun to embed inherit locked threads
    with ProcessPoolExecutor(sizes.jobs, multiprocessing.get_context("spawn")) as pool:
        return [row for rows in pool.map(of_seed, seeds) for row in rows]


def _embed(dataset: str, seed: int, sizes: Sizes) -> None:
    """Leave the embeddings of all texts where every process finds them."""
    field = field_of(dataset, seed, sizes)
    evaluator = field.evaluator()
    for split in ("train", "val", "test"):
        evaluator.predictions(seed_prompt(field.task), split)  # type: ignore[arg-type]


def _save(rows: list[dict[str, Any]], dataset: str, seeds: list[int], sizes: Sizes, results: Path) -> None:
    path = results / "racing.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {"rows": [], "setting": {"sources": {}}}
    kept = {name: [row for row in before["rows"] if row["dataset"] == name] for name in DATASETS}
    others = [row for row in kept[dataset] if row["seed"] not in seeds]
    kept[dataset] = sorted([*others, *rows], key=lambda row: int(row["seed"]))
    source = "simulated on trec" if dataset.startswith("sim") else pooled(dataset, sizes)[0].info.source
    if dataset in TASKS:
        source = "ours"
    sources = {**before["setting"]["sources"], dataset: source}
    setting = {
        "models": ["minilm", "sim"],
        "sources": {name: sources[name] for name in DATASETS if name in sources},
        **{field.name: getattr(sizes, field.name) for field in fields(sizes) if field.name not in {"jobs", "arms"}},
        "seeds": sorted({int(row["seed"]) for row in itertools.chain(*kept.values())}),
    }
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        rounded({"setting": setting, "rows": [*itertools.chain(*kept.values())]}), indent=1, ensure_ascii=False
    )
    path.write_text(text + "\n", "utf-8")
    print(f"racing, {dataset}: written to {path}", flush=True)


SMALL = {
    "messages": Sizes(3, 20, 2, jobs=1, arms=("racing",)),
    "sim": Sizes(8, 100, 3, jobs=1, arms=("racing", "--effort light")),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=[], help="By default all.")
    parser.add_argument("--jobs", type=int, default=2, help="Processes; each takes a seed at a time.")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--small", action="store_true", help="A few samples and seed 0 only, to see that it runs.")
    words = parser.parse_args()
    if words.small:
        for dataset, sizes in SMALL.items():
            main([dataset], [0], sizes, words.results)
    else:
        main(words.only, words.seeds, Sizes(jobs=words.jobs, arms=tuple(words.arms)), words.results)
