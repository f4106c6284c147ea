"""What the arms of a seed share: samples, wordings, a model and its whole grids; or a planned part of these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from _paid import PaidModel, RememberedTexts, TradingModel
from _texts import TASKS
from psopt.api import plan_run
from psopt.evaluation import Evaluator
from psopt.models import ModelProvider
from psopt.models.sim import SimulatedModel
from psopt.rephrasings import RephrasingOptions, RephrasingSet, freeze_rephrasings
from psopt.runs import RunSettings
from psopt.search_spaces import seed_prompt
from psopt.settings import DataOptions, SizeOptions
from psopt.tasks import Task, load_task, subset

if TYPE_CHECKING:
    from psopt.models import Model
    from psopt.settings import Effort, SearchOptions

_DATA_SEED = 0  # for the pools and the wordings: texts are embedded once, whatever the search's seed


@dataclass(frozen=True)
class Sizes:
    """All sizes; `jobs` processes share the seeds; `arms` are those besides the plain search, by default all."""

    trials: int = 40
    samples: int = 500
    rephrasings: int = 10
    jobs: int = 2
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Field:
    """What all arms of a seed share.

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
        """A new one that has asked nothing yet."""
        return Evaluator(PaidModel(self.model, self.samples, self.grids), self.rephrasings, self.samples)


@cache
def pooled(dataset: str, sizes: Sizes) -> tuple[Task, RephrasingSet]:
    """A data set whose train is the pool that seeds draw from, and the wordings of its description."""
    name = dataset if dataset in TASKS else "trec"
    task = TASKS[name]() if name in TASKS else load_task(name, seed=_DATA_SEED)
    order = np.random.default_rng(_DATA_SEED).permutation(len(task.train) + len(task.val))
    pool = tuple((*task.train, *task.val)[index] for index in order)
    test = task.test[: sizes.samples]
    if name in TASKS:  # they have no test set of their own that must stay unchanged
        everything = (*pool, *task.test)
        pool, test = everything[: -sizes.samples], everything[-sizes.samples :]
    task = replace(task, train=pool[: 2 * sizes.samples], val=(), test=test)
    q = sizes.rephrasings
    wordings = freeze_rephrasings(task, seed_prompt(task), q, q, _DATA_SEED, RephrasingOptions(), models=_provider())
    return task, wordings


@cache
def minilm(dataset: str, sizes: Sizes) -> Any:
    """The embedding model, its vectors kept for all seeds; it sees texts relative to the centre of the pool."""
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
    plan = plan_run(task, settings, SizeOptions(effort), model=field.evaluator().model)
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
    return part, replace(options, trials=min(size.trials, options.trials), rounds=size.rounds)
