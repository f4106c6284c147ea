"""The samples written for this project in place of published data."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.tasks._builtin import find_builtin

if TYPE_CHECKING:
    from psopt.tasks._dataset import Builtin, TrainTest


def read_bundled(name: str) -> TrainTest:
    """Read (train, test) of the sample that psopt brings along for a built-in data set; nothing is downloaded.

    Raises
    ------
    UnknownNameError
        If there is no such data set.

    Examples
    --------
    >>> train, test = read_bundled("trec")
    >>> test[0].label
    'Number'
    """
    builtin = find_builtin(name)
    return builtin.read_bundled(bundled_folder(builtin))


def bundled_folder(builtin: Builtin) -> Path:
    """The folder with the sample and its ``task.toml``."""
    return Path(str(resources.files(builtin.package)))
