"""Files in the cache that are there in whole or not at all, and one line where there is no room for them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from psopt.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Yield where to write a file; at the end it takes its place.

    It lies in a folder of its own beside that place: others may write it too, and whatever ends this leaves nothing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="unfinished-", dir=path.parent) as folder:
        yield Path(folder) / path.name
        (Path(folder) / path.name).replace(path)


@contextmanager
def keeping(name: str, folder: Path) -> Iterator[None]:
    """Say in one line that something can't be kept in a folder, where the system says so."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{name} can't be kept in {folder}: {error.strerror}; set PSOPT_CACHE_DIR to a folder with room for it"
        ) from error
