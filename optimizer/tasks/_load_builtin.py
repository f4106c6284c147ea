"""From a built-in data set to a task, by its own files or by the sample that psopt brings along."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._assemble import assemble
from psopt.tasks._download import DownloadError, download
from psopt.tasks._origin import Found, find_local, where_looked
from psopt.tasks._samples import Placed
from psopt.tasks._splits import make_splits
from psopt.tasks._taskfile import read_task_file

if TYPE_CHECKING:
    from psopt.tasks._dataset import Builtin
    from psopt.tasks._task import Task


def load_builtin(builtin: Builtin, *, seed: int, strict: bool) -> Task:
    """Load a built-in task: local files, else downloaded ones, else (unless `strict`) the bundled sample.

    Raises
    ------
    DataError
        If local files can't be used, or, if `strict`, none are at hand.
    """
    package = Path(str(resources.files(builtin.package)))
    described = read_task_file(package / "task.toml")
    try:
        found = _find(builtin)
        train, test = builtin.read(found.path)
    except DownloadError as error:
        missing = f"{builtin.name.upper()}'s files are not at hand ({where_looked(builtin)}; {error})"
        mend = f"psopt data fetch {builtin.name}, or set PSOPT_DATA_DIR"
        if strict:
            raise DataError(f"{missing}: {mend}") from error
        train, test = builtin.read_bundled(package)
        own = f"using psopt's own sample of {len(train) + len(test)} {described.noun}s in their place"
        found = Found(package, "bundled", f"{missing}; {own}. For the real data: {mend}")
    placed = [*(Placed(sample, "train") for sample in train), *(Placed(sample, "test") for sample in test)]
    splits = make_splits(builtin.name, placed, None, seed=seed)
    return assemble(builtin.name, described, splits, source=found.source, note=found.note)


def _find(builtin: Builtin) -> Found:
    return find_local(builtin) or Found(download(builtin), "downloaded")
