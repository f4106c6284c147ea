"""Unpacking the wanted files of a downloaded archive, and nothing else."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zipfile
import zlib
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from psopt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psopt.tasks._dataset import RemoteFile

    Entry = tuple[str, Callable[[], IO[bytes] | None]]


def unpack(archive: Path, file: RemoteFile, folder: Path) -> None:
    """Unpack what is wanted of an archive into a new folder: all of it, or none.

    Only the content of ordinary files is copied, each to the last part of its path, so that no entry can be written
    elsewhere, be it called ``../x`` or be it a link. The folder comes into being when it is complete.

    Raises
    ------
    DataError
        If the archive can't be read, or lacks a file that is needed.
    OSError
        If the folder can't be written.
    """
    with TemporaryDirectory(prefix="unpacking-", dir=folder.parent) as temporary:
        target = Path(temporary) / folder.name
        target.mkdir()
        copied = _copy(archive, (*file.members, *file.optional), target)
        for member in file.members:
            if member not in copied:
                raise DataError(f"{archive}: holds no {member}; remove it and fetch it again")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # where it is, another process was quicker
                raise


def _copy(archive: Path, wanted: tuple[str, ...], target: Path) -> set[str]:
    copied = set()
    try:
        for path, open_entry in _entries(archive):
            source = open_entry() if path in wanted else None
            if source is not None:
                with source, (target / PurePosixPath(path).name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                copied.add(path)
    except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise DataError(f"{archive}: can't be unpacked: {reason}; remove it and fetch it again") from error
    return copied


def _entries(archive: Path) -> Iterator[Entry]:
    """Paths of the ordinary files in an archive, and how each is opened while it is the current one."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            for info in file.infolist():
                if not info.is_dir():
                    yield info.filename, partial(file.open, info)
        return
    with tarfile.open(archive) as tar:
        for entry in tar:
            if entry.isreg():
                yield entry.name, partial(tar.extractfile, entry)
