"""A task is loaded as its options say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks import is_hub_name, load_task

if TYPE_CHECKING:
    from psopt.settings import DataOptions
    from psopt.tasks import Task


def load_data(data: DataOptions, seed: int, *, require_labels: bool = True) -> Task:
    """Load the task; `seed` decides how samples without a split are split.

    Raises
    ------
    DataError
        If the data can't be used; of files that are gone it is said where they were.
    """
    is_file = bool(Path(data.dataset).suffix) and not is_hub_name(data.dataset)
    return load_task(
        str(_located(data.dataset, data.folder) if is_file else data.dataset),
        inputs=data.inputs,
        text_column=data.text_column,
        label_column=data.label_column,
        task_file=_located(data.task_file, data.folder),
        test_file=_located(data.test_file, data.folder),
        answers=data.answers,
        order=data.order,
        seed=seed,
        strict_data=data.strict_data,
        require_labels=require_labels,
        skip_empty=data.skip_empty,
        pinned_column=data.pinned_column,
    )


def _located(name: str | None, folder: str) -> str | None:
    """A file of the data: where it was when the run was started, or as it is named here."""
    if name is None or not folder or Path(folder) == Path.cwd():
        return name
    for path in (Path(folder) / name, Path(name)):
        if path.exists():
            return str(path)
    raise DataError(f"{name} is neither where the run was started ({folder}), nor here: put it back, or go where it is")
