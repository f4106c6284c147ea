"""The task of a run's settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks import load_task

if TYPE_CHECKING:
    from psopt.runs._settings import RunSettings
    from psopt.tasks import Task


def task_of(settings: RunSettings) -> Task:
    """Load a run's data, by names that are relative to the folder where the run was started.

    Raises
    ------
    DataError
        If they can't be used; of files that are gone it is said where they were.
    """
    is_file = bool(Path(settings.dataset).suffix)
    for name in (settings.dataset if is_file else None, settings.task_file, settings.test_file):
        _check_there(name, settings)
    return load_task(
        str(settings.located(settings.dataset) if is_file else settings.dataset),
        text_column=settings.text_column,
        label_column=settings.label_column,
        task_file=settings.located(settings.task_file),
        test_file=settings.located(settings.test_file),
        seed=settings.seed,
        strict_data=settings.strict_data,
    )


def _check_there(name: str | None, settings: RunSettings) -> None:
    elsewhere = settings.folder and Path(settings.folder) != Path.cwd()
    if name is not None and elsewhere and not Path(str(settings.located(name))).exists():
        raise DataError(
            f"{name} is neither where the run was started ({settings.folder}), nor here: put it back, or go where it is"
        )
