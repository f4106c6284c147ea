"""One sample, where a data set comes from, and what is known about a built-in one: its files and how they are read."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    TrainTest = tuple[tuple["Sample", ...], tuple["Sample", ...]]
    Labels = Mapping[str, str]  # from what a file calls a label to the task's name of it

Source = Literal["local", "downloaded", "bundled", "file", "hub", "memory"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to classify.

    `label` is None if the data have no labels; `subclass` is a finer label, if the data have one
    (TREC: ``date`` within ``Number``). `id` is unique within a task and stable from run to run.
    A `pinned` sample must stay right, whichever prompt replaces another.
    """

    id: str
    text: str
    label: str | None = None
    subclass: str | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Where the samples come from; written to run.json as `dataset`.

    `source` is ``local`` (found in PSOPT_DATA_DIR or the user's cache), ``downloaded``, ``bundled`` (psopt's
    own small sample in place of the real data), ``file`` (given by the user), ``hub`` (Hugging Face) or ``memory``
    (built in Python).
    `sha256` is a digest of the samples as used, including labels and splits.
    """

    name: str
    source: Source
    sha256: str
    note: str = ""  # one plain line for the user, e.g. why the bundled sample replaces the real data
    test_is_drawn: bool = False  # whether test was drawn at random, since the data mark none
    revision: str = ""  # for a data set on the hub, the commit

    def noted(self, *notes: str) -> DatasetInfo:
        """The same with further notes; empty ones are left out."""
        return replace(self, note="; ".join(filter(None, (self.note, *notes))))


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file, known by its digest."""

    name: str
    url: str
    sha256: str
    n_bytes: int
    # For an archive (zip, tar): the paths in it of the files that are needed. Empty if the file itself is needed.
    members: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # paths in the archive of files that are used if they exist

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that a reader needs."""
        return tuple(PurePosixPath(member).name for member in self.members) or (self.name,)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in data set."""

    name: str
    description: str
    # What is published: the files that must be available, or the one archive that holds them
    files: tuple[RemoteFile, ...]
    package: str  # the package that holds ``task.toml`` and the sample written for this project
    codes: tuple[str, ...]  # what the files call the labels of ``task.toml``, in the same order
    read: Callable[[Path, Labels], TrainTest]  # returns (train, test) from the files in it; val is drawn from train
    read_bundled: Callable[[Path, Labels], TrainTest]  # returns (train, test) of that sample
    page: str  # where a person finds the files
    fields: tuple[str, ...] = ("text",)  # the fields of a sample that a prompt may name
    layout: str = ""  # how several fields, each in braces, make up a text

    @property
    def archive(self) -> RemoteFile | None:
        """The archive that holds the files, or None where they are published one by one."""
        return next((file for file in self.files if file.members), None)

    @property
    def bundled_folder(self) -> Path:
        """The folder of `package`."""
        return Path(str(resources.files(self.package)))

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that the reader needs."""
        return tuple(itertools.chain.from_iterable(file.needed for file in self.files))

    @property
    def folders(self) -> tuple[str, ...]:
        """Where in a folder the files may be: directly, or in the subfolder that an unpacked archive makes."""
        members = itertools.chain.from_iterable(file.members for file in self.files)
        return tuple(dict.fromkeys([".", *(str(PurePosixPath(member).parent) for member in members)]))
