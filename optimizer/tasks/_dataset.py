"""What is known about a built-in data set: its published files, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.tasks._data import Sample

    TrainTest = tuple[tuple[Sample, ...], tuple[Sample, ...]]
    Reader = Callable[[Path], TrainTest]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file, known by its digest."""

    name: str
    url: str
    sha256: str
    n_bytes: int
    # Of an archive (zip, tar): the paths in it of the files that are needed. Empty where the file itself is.
    members: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # paths in the archive of files that are used where they are there

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that a reader needs.

        >>> RemoteFile("a.zip", "https://x.org/a.zip", "", 0, members=("a/train.csv", "a/test.csv")).needed
        ('train.csv', 'test.csv')
        """
        return tuple(PurePosixPath(member).name for member in self.members) or (self.name,)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in data set."""

    name: str
    description: str
    # What is published: the files that have to be at hand, or the one archive that holds them
    files: tuple[RemoteFile, ...]
    read: Reader  # returns (train, test) from the files in it; val is drawn from train
    package: str  # the package that holds ``task.toml`` and the sample written for this project
    read_bundled: Reader  # returns (train, test) of that sample
    page: str = ""  # where a person finds the files
    fields: tuple[str, ...] = ("text",)  # what a prompt may name of a sample
    layout: str = ""  # how a text is made of several fields, each in braces

    @property
    def archive(self) -> RemoteFile | None:
        """The archive that holds the files, or None where they are published one by one."""
        return self.files[0] if self.files[0].members else None

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that the reader needs."""
        return tuple(name for file in self.files for name in file.needed)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where in a folder the files may be: in it, or in the folder that an unpacked archive makes in it."""
        members = [member for file in self.files for member in file.members]
        return tuple(dict.fromkeys([".", *(str(PurePosixPath(member).parent) for member in members)]))
