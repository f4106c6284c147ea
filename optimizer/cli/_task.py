"""The task of a command: where its data are as told, else as the prompt that it is given was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import PromptSource
    from psopt.settings import DataOptions
    from psopt.tasks import Task


def data_for(data: DataOptions, sources: Sequence[PromptSource]) -> DataOptions:
    """Where the data are: prompts name inputs, and were measured with answers, that are not told otherwise."""
    from psopt.runs import inputs_named

    if not data.inputs and data.text_column is None:
        data = replace(data, inputs=inputs_named(sources, data.dataset, data.task_file))
    if data.answers is None and not data.order and _is_own(data.dataset):
        measured = [source.measured.dataset for source in sources if source.measured]
        for dataset in measured:
            if "answers" in dataset:
                return replace(data, answers=dataset["answers"], order=tuple(dataset.get("order", ())))
    return data


def _is_own(dataset: str) -> bool:
    """Whether data are a file or on the hub: built-in ones say themselves what their answers are."""
    from psopt.tasks import is_hub_name

    return bool(Path(dataset).suffix) or is_hub_name(dataset)


def load_task(
    data: DataOptions, seed: int, sources: Sequence[PromptSource] = (), *, require_labels: bool, silent: bool
) -> Task:
    """Load the task with the inputs that prompts name, and say what is to be said of it."""
    from psopt.answers import AnswerType
    from psopt.runs import load_data

    task = load_data(data_for(data, sources), seed, require_labels=require_labels)
    if not silent:
        for note in filter(None, [task.info.note, AnswerType.of(task).note]):
            typer.echo(f"Note: {note}", err=True)
    return task
