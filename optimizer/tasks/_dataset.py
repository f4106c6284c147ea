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
    """A published file, known by its digest.

    Attributes
    ----------
    name, url, sha256 : str
    n_bytes : int
    members : tuple of str
        Of an archive (zip, tar): the paths in it of the files that are needed. Empty where the file itself is.
    optional : tuple of str
        Paths in the archive of files that are used where they are there.
    """

    name: str
    url: str
    sha256: str
    n_bytes: int
    members: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that a reader needs.

        >>> RemoteFile("a.zip", "https://x.org/a.zip", "", 0, members=("a/train.csv", "a/test.csv")).needed
        ('train.csv', 'test.csv')
        """
        return tuple(PurePosixPath(member).name for member in self.members) or (self.name,)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in data set.

    Attributes
    ----------
    name, description : str
    files : tuple of RemoteFile
        What is published: the files that have to be at hand, or the one archive that holds them.
    read : function of a folder
        Returns (train, test) from the files in it; val is drawn from train.
    package : str
        The package that holds ``task.toml`` and the sample written for this project.
    read_bundled : function of a folder
        Returns (train, test) of that sample.
    page : str
        Where a person finds the files.
    fields : tuple of str
        What a prompt may name of a sample.
    layout : str
        How a text is made of several fields, each in braces.
    """

    name: str
    description: str
    files: tuple[RemoteFile, ...]
    read: Reader
    package: str
    read_bundled: Reader
    page: str = ""
    fields: tuple[str, ...] = ("text",)
    layout: str = ""

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
