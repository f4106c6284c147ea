"""From a built-in data set to the fields of a task, by its own files or by the sample that psopt brings along."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._assemble import assemble
from psopt.tasks._builtin import find_builtin
from psopt.tasks._download import DownloadError, download
from psopt.tasks._origin import Origin, find_local, where_looked
from psopt.tasks._samples import Placed
from psopt.tasks._splits import make_splits
from psopt.tasks._taskfile import read_task_file

if TYPE_CHECKING:
    from psopt.tasks._assemble import TaskFields
    from psopt.tasks._dataset import Builtin, TrainTest


def read_builtin(builtin: Builtin, *, seed: int, strict: bool) -> TaskFields:
    """Read a built-in task: local files, else downloaded ones, else (unless `strict`) the bundled sample.

    Raises DataError if local files can't be used, or, if `strict`, none are at hand.
    """
    package = _bundled_folder(builtin)
    described = read_task_file(package / "task.toml")
    try:
        origin = find_local(builtin) or Origin(download(builtin), "downloaded")
        train, test = builtin.read(origin.path)
    except DownloadError as error:
        missing = f"{builtin.name.upper()}'s files are not at hand ({where_looked(builtin)}; {error})"
        fix = f"psopt data fetch {builtin.name}, or set PSOPT_DATA_DIR"
        if strict:
            raise DataError(f"{missing}: {fix}") from error
        train, test = builtin.read_bundled(package)
        own = f"using psopt's own sample of {len(train) + len(test)} {described.noun}s in their place"
        origin = Origin(package, "bundled", f"{missing}; {own}. For the real data: {fix}")
    placed = [*(Placed(sample, "train") for sample in train), *(Placed(sample, "test") for sample in test)]
    splits = make_splits(builtin.name, placed, None, seed=seed)
    return assemble(builtin.name, described, splits, source=origin.source, notes=[origin.note])


def read_bundled(name: str) -> TrainTest:
    """Read (train, test) of the sample that psopt brings along for a built-in data set; nothing is downloaded.

    Raises UnknownNameError if there is no such data set.

    Examples
    --------
    >>> train, test = read_bundled("trec")
    >>> test[0].label
    'Number'
    """
    builtin = find_builtin(name)
    return builtin.read_bundled(_bundled_folder(builtin))


def _bundled_folder(builtin: Builtin) -> Path:
    """The folder with the sample and its ``task.toml``."""
    return Path(str(resources.files(builtin.package)))
