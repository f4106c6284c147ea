"""Searches of psopt itself on simulated models, from proposals to the gate, with the truth from their probabilities."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psopt
from _expected_scores import expected_of
from _paid import TradingModel
from _promise_cells import Cell, Tally
from psopt.models.sim import SimulatedModel
from psopt.search_spaces import Prompt
from psopt.tasks import load_task

if TYPE_CHECKING:
    from psopt.tasks import Sample, Task

SIZE = 100
_TRAIN, _TRIALS, _Q = 200, 20, 10
MODELS: dict[str, type[SimulatedModel]] = {"sim": SimulatedModel, "sim with trade-offs": TradingModel}


def run_searches(name: str, n_searches: int) -> Cell:
    """Search with one seed per run; train, val and test samples are drawn from all of TREC's each time."""
    cell = Cell(name, SIZE, ways={"always": Tally(), "likely": Tally(), "sure": Tally()})
    for seed in range(n_searches):
        task, rest = _drawn(seed)
        model = MODELS[name](f"seed={seed}", _pool())
        with tempfile.TemporaryDirectory() as folder:
            run = psopt.optimize(
                task, model=model, trials=_TRIALS, rephrasings=_Q, samples=_TRAIN, heldout=_Q, seed=seed,
                leave_one_out=0, out=Path(folder) / "run",
            )  # fmt: skip
            _count(cell, run, model, [sample.text for sample in rest])
    return cell


@cache
def _pool() -> Task:
    return load_task("trec", seed=0)


def _drawn(seed: int) -> tuple[Task, tuple[Sample, ...]]:
    """A seed's task, and the samples that are not in it: each text once."""
    pool = _pool()
    by_text = {sample.text: sample for sample in (*pool.train, *pool.val, *pool.test)}
    samples = list(by_text.values())
    order = np.random.default_rng([seed, 19]).permutation(len(samples))
    drawn = [samples[index] for index in order]
    ends = np.cumsum([_TRAIN, SIZE, SIZE])
    train, val, test, rest = (tuple(part) for part in np.split(np.array(drawn, dtype=object), ends))
    return replace(pool, train=train, val=val, test=test), rest


def _count(cell: Cell, run: psopt.Run, model: SimulatedModel, texts: list[str]) -> None:
    """Count what came of a search: the knee alone, what the gate passes as likely, what the run recommends."""
    cell.runs += 1
    knee = run.pick("knee")
    if knee.id != run.baseline.id:
        cell.optimism += knee.val.f1 - run.baseline.val.f1 - _gain(knee.prompt, run, model, texts)[0]
    handed_back: dict[str, Prompt] = {"always": knee.prompt, "sure": run.recommended.prompt}
    tests = run.recommendation.verdict.tests if run.recommendation else ()
    likely = next((test.id for test in tests if test.is_likely), None)
    if likely is not None:
        content = json.loads((run.path / "prompts" / f"{likely}.json").read_text("utf-8"))
        handed_back["likely"] = Prompt.from_dict(content)
    for way, prompt in handed_back.items():
        if prompt.id != run.baseline.id:
            cell.ways[way].add(*_gain(prompt, run, model, texts))


def _gain(prompt: Prompt, run: psopt.Run, model: SimulatedModel, texts: list[str]) -> tuple[float, float]:
    """True differences in F1 and in S, at the test's Q."""
    labels = model.true_labels(texts)
    before, after = (expected_of(model, of, texts, labels, _Q) for of in (run.baseline.prompt, prompt))
    return after.f1 - before.f1, after.sensitivity - before.sensitivity
