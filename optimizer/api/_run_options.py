"""What a run is asked to do, from the keywords of a verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.settings import DataOptions, RunOptions, SizeOptions, built, check_keywords, leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.tasks import Task


def run_options(task: Task, keywords: Mapping[str, Any], **facts: Any) -> tuple[RunOptions, SizeOptions]:
    """What a run is asked to do, and how large it is to be; `facts` go before the keywords.

    Raises InputError if there is no such option, or it is one of the data, which are loaded.
    """
    check_keywords(keywords, RunOptions, SizeOptions)
    for leaf in leaves(DataOptions):
        if leaf.key in keywords:
            raise InputError(f"{leaf.key} says how data are read, and the task is read already: see psopt.load_task")
    run = built(RunOptions, {**keywords, "dataset": task.name, **facts})
    return run, built(SizeOptions, keywords)
