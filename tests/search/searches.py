"""Small searches, for tests of what they do with their trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
from psopt.evaluation import Evaluator
from psopt.rephrasings import RephrasingSet
from psopt.search import Search, SearchProblem, open_study
from psopt.search_spaces import seed_prompt
from psopt.settings import SearchOptions
from psopt.tasks import Task

HELD_OUT = ("Do sort.", "Sort please!!")


def make_evaluator(task: Task, model: Any, *wordings: str) -> Any:
    """Evaluate under these wordings; without any, under the task's description and another."""
    wordings = wordings or (task.description, "Sort it by what it asks.")
    rephrasings = RephrasingSet(wordings[0], wordings, HELD_OUT, "rules")
    return Evaluator(model, rephrasings, {"train": task.train, "val": task.val, "test": task.test})


def make_search(
    storage: str | Path,
    task: Task,
    evaluator: Any,
    *,
    resume: bool = True,
    worker: str = "",
    own: int | None = None,
    **options: Any,
) -> Any:
    """A search whose study lies in a storage, or in a folder; one that is there is gone on with."""
    url = f"sqlite:///{storage / 'study.db'}" if isinstance(storage, Path) else storage
    settings = SearchOptions(**options)
    study = open_study(url, "toy", settings.sampler, settings.seed, resume=resume)
    problem = SearchProblem(task, seed_prompt(task), evaluator, settings)
    return Search(study, problem, worker=worker, most_own=own)


def complete(search: Any) -> list[Any]:
    """The trials of a search that have values."""
    return [trial for trial in search.study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
