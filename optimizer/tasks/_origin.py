"""Where a built-in data set's files are: in the data folder, or in the user's cache."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._builtin import BUILTINS
from psopt.text import read_bytes

if TYPE_CHECKING:
    from psopt.tasks._data import Builtin, Source


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder that holds a data set's files; `note` says in one line what to know about them."""

    path: Path
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """A built-in data set, and where its files are."""

    name: str
    description: str
    path: Path | None  # the folder that holds the files; None where they are not at hand
    source: str | None  # ``local``, or None where they are not at hand
    files: tuple[str, ...] = ()  # the names of the files that are needed
    n_bytes: int = 0  # the size of what is published: of these files, or of the archive that holds them
    note: str = ""  # what is odd about the files found, in one line


def list_datasets() -> list[DatasetStatus]:
    """List the built-in data sets; nothing is downloaded."""
    return [_status(builtin) for builtin in BUILTINS.values()]


def _status(builtin: Builtin) -> DatasetStatus:
    origin, note = None, ""
    try:
        origin = find_local(builtin)
    except DataError as error:
        note = str(error)
    return DatasetStatus(
        builtin.name,
        builtin.description,
        path=origin.path if origin else None,
        source=origin.source if origin else None,
        files=builtin.needed,
        n_bytes=sum(file.n_bytes for file in builtin.files),
        note=origin.note if origin else note,
    )


def find_local(builtin: Builtin) -> Origin | None:
    """Look in ``$PSOPT_DATA_DIR/<name>/``, then in the user's cache.

    In the data folder, which is the user's, other files than the published ones are taken as they are, with a note
    where their digests are known; in the cache they don't count. An archive unpacked with its own folder is found too.

    Raises DataError if the data folder holds some of the files but not all, or can't be read.
    """
    own = data_folder(builtin.name)
    if own:
        for inner in builtin.folders:
            if _holds_all(own / inner, builtin):
                return Origin(own / inner, "local", _differences(builtin, own))
    cached = cached_folder(builtin)
    paths = {cached / file.name: file.sha256 for file in builtin.files}
    are_published = all(os.access(path, os.F_OK) and _digest(path) == sha256 for path, sha256 in paths.items())
    if cached.is_dir() and (builtin.archive or are_published):
        return Origin(cached, "local")
    return None


def _holds_all(folder: Path, builtin: Builtin) -> bool:
    missing = [name for name in builtin.needed if not os.access(folder / name, os.F_OK)]
    if missing and len(missing) < len(builtin.needed):
        raise DataError(f"{folder}: {missing[0]} is missing; put it there, or set PSOPT_DATA_DIR to another folder")
    if missing and builtin.archive and os.access(folder / builtin.archive.name, os.F_OK):
        raise DataError(f"{folder}: {builtin.archive.name} is there, but its files are not; unpack it in this folder")
    return not missing


def data_folder(name: str) -> Path | None:
    """Where the user's own data folder would hold a data set, or None where none is set."""
    folder = os.environ.get("PSOPT_DATA_DIR")
    return Path(folder) / name if folder else None


def user_folder(name: str) -> Path:
    """The user's cache of a data set."""
    import platformdirs

    return platformdirs.user_cache_path("psopt") / "data" / name


def cached_folder(builtin: Builtin) -> Path:
    """The folder in the user's cache in which the files are, once they were fetched.

    What was unpacked from an archive is in a folder named by the archive's digest, which is there as a whole or not.
    """
    folder = user_folder(builtin.name)
    return folder / f"unpacked-{builtin.archive.sha256[:12]}" if builtin.archive else folder


def by_hand(builtin: Builtin) -> str:
    """Say how a person gets the files without `psopt data fetch`."""
    getting = f"get {builtin.archive.name}" if builtin.archive else "get them"
    folder = data_folder(builtin.name) or Path("$PSOPT_DATA_DIR", builtin.name)
    where = builtin.page or builtin.files[0].url
    return f"to do it by hand, {getting} at {where} and put {', '.join(builtin.needed)} into {folder}"


def _differences(builtin: Builtin, folder: Path) -> str:
    for file in () if builtin.archive else builtin.files:
        digest = _digest(folder / file.name)
        if digest != file.sha256:
            return (
                f"{folder / file.name} is used although it is not the published file: "
                f"sha256 {digest[:12]}.., published {file.sha256[:12]}.."
            )
    return ""


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, error=DataError)).hexdigest()
