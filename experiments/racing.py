"""How many calls does the search need for its front? The plain search against racing, and against asking less.

    PSOPT_DATA_DIR=... python experiments/racing.py [--only trec] [--seeds 0 1 2 3 4] [--jobs 2]

TREC, three data sets of ours (`_texts.py`), and sim without and with trade-offs; 40 candidates, 500 samples of train
and of val under 10 wordings, the front on 500 of test. A seed draws train and val from one pool, and seeds the search.
All models here compute whole grids, so what an arm asks for is counted as if it were paid, and everything that it did
not ask for is known too: whether a stop was wrong, and what its front is worth on all of val. "Gain" is the hypervolume
beyond the seed prompt's, the stricter measure; "plain, drawn anew" is the plain search with another seed of its own,
and tells how far two searches of the same price lie apart. Expected: racing alone a fifth of the calls, everything a
tenth, at 99 % of the hypervolume.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import optuna
from _paid import PaidModel, RememberedTexts, TradingModel
from _setting import HERE, rounded
from _texts import TASKS
from ablation import REFERENCE, hypervolume
from psopt.api import plan_run
from psopt.evaluation import Evaluator, compare_paired, score
from psopt.models import ModelProvider
from psopt.models.sim import SimulatedModel
from psopt.rephrasings import RephrasingOptions, RephrasingSet, freeze_rephrasings
from psopt.runs import DataOptions, RunSettings
from psopt.runs.planning import AskedSizes, PlanOptions
from psopt.search import Search, SearchOptions, SearchProblem, StoredStudy, knee, scoring_order
from psopt.search._front import Candidate, pareto_front
from psopt.search._sampler import make_sampler
from psopt.search.distributed import RetryPolicy, retrying
from psopt.search_spaces import seed_prompt
from psopt.tasks import Task, load_task, subset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psopt.evaluation import Predictions
    from psopt.models import Model
    from psopt.runs.planning import Effort
    from psopt.search import RaceMode
    from psopt.search_spaces import Prompt

DATASETS = ("trec", *TASKS, "sim", "sim with trade-offs")
PLAIN = "plain"
_DATA_SEED = 0  # of the pools and the wordings: texts are embedded once, whatever the seed of a search
_ANEW = 1000  # added to a seed for another draw


@dataclass(frozen=True)
class Arm:
    """A way to search.

    Attributes
    ----------
    race : str
    without : tuple of str
        Parts that are taken away; see `PARTS`.
    anew : bool
        Whether the search is seeded otherwise than the others.
    effort : str or None
        An effort whose sizes are planned; None searches at full size.
    """

    race: RaceMode
    without: tuple[str, ...] = ()
    anew: bool = False
    effort: Effort | None = None


PARTS: dict[str, Callable[[Search], None]] = {}
"""What asks less besides racing: how each is taken from a search that has not begun."""
ARMS = {
    PLAIN: Arm("off"),
    "plain, drawn anew": Arm("off", anew=True),
    "racing": Arm("on", tuple(PARTS)),
    "racing, strict": Arm("strict", tuple(PARTS)),
    **({"everything": Arm("on")} if PARTS else {}),
    **{f"everything but {part}": Arm("on", (part,)) for part in PARTS},
    "--effort light": Arm("on", effort="light"),
}


@dataclass(frozen=True)
class Sizes:
    """How large it all is; `jobs` processes share the seeds."""

    trials: int = 40
    samples: int = 500
    rephrasings: int = 10
    jobs: int = 2


@dataclass(frozen=True, eq=False)
class Field:
    """What all arms of a seed have in common.

    Attributes
    ----------
    task : Task
        With the seed's train and val.
    model : Model
    rephrasings : RephrasingSet
    grids : dict
        Whole grids, kept for all arms.
    seed : int
    """

    task: Task
    model: Model
    rephrasings: RephrasingSet
    grids: dict[Any, Any]
    seed: int

    @property
    def samples(self) -> dict[Any, Any]:
        """The samples of the splits."""
        return {"train": self.task.train, "val": self.task.val, "test": self.task.test}

    def evaluator(self) -> Evaluator:
        """One that has asked nothing so far."""
        return Evaluator(PaidModel(self.model, self.samples, self.grids), self.rephrasings, self.samples)


@cache
def pooled(dataset: str, sizes: Sizes) -> tuple[Task, RephrasingSet]:
    """A data set whose train is the pool that seeds draw from, and the wordings of its description."""
    name = dataset if dataset in TASKS else "trec"
    task = TASKS[name]() if name in TASKS else load_task(name, seed=_DATA_SEED)
    order = np.random.default_rng(_DATA_SEED).permutation(len(task.train) + len(task.val))
    pool = tuple((*task.train, *task.val)[index] for index in order)
    test = task.test[: sizes.samples]
    if name in TASKS:  # they have no test set of their own that would have to stay as it is
        everything = (*pool, *task.test)
        pool, test = everything[: -sizes.samples], everything[-sizes.samples :]
    task = replace(task, train=pool[: 2 * sizes.samples], val=(), test=test)
    q = sizes.rephrasings
    wordings = freeze_rephrasings(task, seed_prompt(task), q, q, _DATA_SEED, RephrasingOptions(), models=_provider())
    return task, wordings


@cache
def minilm(dataset: str, sizes: Sizes) -> Any:
    """The embedding model, its vectors kept for all seeds; it sees texts from the centre of the pool."""
    model = _provider().answering("minilm", pooled(dataset, sizes)[0])
    model.encoder = RememberedTexts(model.encoder)
    return model


def _provider() -> ModelProvider:
    return ModelProvider()


def field_of(dataset: str, seed: int, sizes: Sizes) -> Field:
    """Draw a seed's train and val from the pool, and make its model."""
    task, rephrasings = pooled(dataset, sizes)
    order = np.random.default_rng([seed, 18]).permutation(len(task.train))
    half = len(order) // 2
    train, val = (tuple(task.train[index] for index in sorted(part)) for part in (order[:half], order[half:]))
    task = replace(task, train=train, val=val)
    model: Model
    if dataset.startswith("sim"):
        made = TradingModel if "trade" in dataset else SimulatedModel
        model = made(f"seed={seed}", task)
    else:
        model = minilm(dataset, sizes)
    return Field(task, model, rephrasings, {}, seed)


def planned(field: Field, options: SearchOptions, effort: Effort) -> tuple[Field, SearchOptions]:
    """A part of a field, and how it is searched, as planned for an effort."""
    task = field.task
    settings = RunSettings(data=DataOptions(task.name), model="paid", search=options)
    plan = plan_run(task, settings, PlanOptions(effort, AskedSizes()), model=field.evaluator().model)
    size = plan.sizes
    train, val, test = (
        subset(samples, n, seed=field.seed)
        for samples, n in ((task.train, size.train), (task.val, size.val), (task.test, size.test))
    )
    wordings = replace(
        field.rephrasings,
        search=field.rephrasings.search[: size.rephrasings],
        heldout=field.rephrasings.heldout[: size.heldout],
        search_forms=field.rephrasings.search_forms[: size.rephrasings],
        heldout_forms=field.rephrasings.heldout_forms[: size.heldout],
    )
    part = replace(field, task=replace(task, train=train, val=val, test=test), rephrasings=wordings)
    trials = min(size.trials, options.trials)
    return part, replace(options, trials=trials, rounds=size.rounds)


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
    search = Search.resume(study, problem)
    for part in arm.without:
        PARTS[part](search)
    search.run()
    return search


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an arm has found, and what it has asked for."""

    search: Search
    front: tuple[Candidate, ...]
    knee: Candidate
    calls: dict[str, int]
    fates: dict[str, int]

    @classmethod
    def of(cls, search: Search) -> Outcome:
        """Put the front to the final test, and count."""
        front = search.front
        evaluator = search.problem.evaluator
        model: Any = evaluator.model
        for candidate in scoring_order(search.baseline, front, search.shortest):
            evaluator.predictions(candidate.prompt, "test")
        calls = {split: model.asked(split) for split in ("val", "train", "test")}
        return cls(search, front, knee(front, search.baseline), calls, _fates(search, model))

    def val(self, prompt: Prompt) -> Predictions:
        """A prompt's predictions on all of val; they cost nothing here."""
        return self.search.problem.evaluator.predictions(prompt, "val")


def _fates(search: Search, model: PaidModel) -> dict[str, int]:
    """What was asked on val, by what became of the candidates."""
    fate_of = {candidate.id: f"stopped at {candidate.rung}" for candidate in search.stopped}
    fate_of |= {candidate.id: "whole grid, not on the front" for candidate in search.candidates}
    fate_of |= {candidate.id: "audited" for candidate in search.candidates if candidate.audit}
    fate_of |= {candidate.id: "on the front" for candidate in search.front}
    fate_of[search.baseline.id] = "baseline"
    fates: Counter[str] = Counter()
    for (split, prompt_id), n in model.cells.items():
        if split == "val":
            fates[fate_of.get(prompt_id, "other")] += n
    return dict(fates.most_common())


def stopped_wrongly(outcome: Outcome) -> list[str]:
    """Which stopped candidates would be on the front, had everybody been evaluated in whole."""
    search = outcome.search
    whole = [
        Candidate(stopped.trial, stopped.prompt, stopped.edits, score(outcome.val(stopped.prompt)))
        for stopped in search.stopped
    ]
    front = {candidate.id for candidate in pareto_front([*search.candidates, *whole], search.least_f1)}
    return [candidate.id for candidate in whole if candidate.id in front]


def row_of(outcome: Outcome, plain: Outcome) -> dict[str, Any]:
    """An arm's numbers beside the plain search's."""
    search, start = outcome.search, _scores(plain.search.baseline.val)
    volumes = [hypervolume([_scores(score(plain.val(c.prompt))) for c in arm.front]) for arm in (outcome, plain)]
    n_search = [arm.calls["val"] + arm.calls["train"] for arm in (outcome, plain)]
    n_all = [n + arm.calls["test"] for n, arm in zip(n_search, (outcome, plain), strict=True)]
    least = hypervolume([start])
    wrong = stopped_wrongly(outcome)
    audits = [candidate.audit for candidate in search.candidates if candidate.audit]
    # counted already: from now on both are put to all of test
    on_test = [plain.search.problem.evaluator.predictions(arm.knee.prompt, "test") for arm in (plain, outcome)]
    against = compare_paired(*on_test) if plain.knee.id != outcome.knee.id else {}
    return {
        "calls": outcome.calls,
        "share": n_search[0] / n_search[1],
        "share_with_test": n_all[0] / n_all[1],
        "hypervolume": volumes[0] / volumes[1],
        "gain": (volumes[0] - least) / (volumes[1] - least) if volumes[1] > least else 1.0,
        "front": len(outcome.front),
        "candidates": search.n_done,
        "stopped": len(search.stopped),
        "stopped_wrongly": len(wrong),
        "audits": len(audits),
        "audits_wrong": audits.count("wrong"),
        "fates": outcome.fates,
        "knee_val": _scores(outcome.knee.val),
        "knee_test": _scores(score(on_test[1])),
        "against_plain": {name: [test.difference, test.low, test.high, test.p_value] for name, test in against.items()},
    }


def _scores(scores: Any) -> dict[str, float]:
    return {name: getattr(scores, name) for name in REFERENCE}


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
    for name, arm in ARMS.items():
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
    """`compare_paired`, each pair once: arms have candidates in common, and a bootstrap takes long."""
    pairs: dict[tuple[bytes, bytes, int], Any] = {}

    def compare(first: Predictions, second: Predictions, seed: int = 42) -> Any:
        key = (first.array.tobytes(), second.array.tobytes(), seed)
        if key not in pairs:
            pairs[key] = compare_paired(first, second, seed)
        return pairs[key]

    return compare


def main(datasets: list[str], seeds: list[int], sizes: Sizes, results: Path) -> None:
    """Run data set by data set; each one's rows take the place of those that the results had of it."""
    for dataset in datasets:
        rows = _rows_of(dataset, seeds, sizes)
        _save(rows, dataset, seeds, sizes, results)


def _rows_of(dataset: str, seeds: list[int], sizes: Sizes) -> list[dict[str, Any]]:
    of_seed = partial(rows_of_seed, dataset, sizes)
    if sizes.jobs == 1:
        return [row for seed in seeds for row in of_seed(seed)]
    if not dataset.startswith("sim"):
        _embed(dataset, seeds[0], sizes)
    # not forked: a process that has begun to embed leaves locked threads to its children
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
    kept[dataset] = rows
    source = "simulated on trec" if dataset.startswith("sim") else pooled(dataset, sizes)[0].info.source
    if dataset in TASKS:
        source = "ours"
    sources = {**before["setting"]["sources"], dataset: source}
    setting = {
        "models": ["minilm", "sim"],
        "sources": {name: sources[name] for name in DATASETS if name in sources},
        **{field.name: getattr(sizes, field.name) for field in fields(sizes) if field.name != "jobs"},
        "seeds": seeds,
    }
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        rounded({"setting": setting, "rows": [*itertools.chain(*kept.values())]}), indent=1, ensure_ascii=False
    )
    path.write_text(text + "\n", "utf-8")
    print(f"racing, {dataset}: written to {path}", flush=True)


SMALL = {"messages": Sizes(3, 20, 2, jobs=1), "sim": Sizes(8, 100, 3, jobs=1)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--jobs", type=int, default=2, help="Processes; each takes a seed at a time.")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--small", action="store_true", help="A few samples and seed 0 only, to see that it runs.")
    words = parser.parse_args()
    if words.small:
        for dataset, sizes in SMALL.items():
            main([dataset], [0], sizes, words.results)
    else:
        main(words.only, words.seeds, Sizes(jobs=words.jobs), words.results)
