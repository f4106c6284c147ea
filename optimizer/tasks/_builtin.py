"""The built-in data sets: where their files come from, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import UnknownNameError
from psopt.tasks import _trec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.tasks._task import Sample

    Reader = Callable[[Path], tuple[tuple[Sample, ...], tuple[Sample, ...]]]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file, known by its digest."""

    name: str
    url: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in data set.

    Attributes
    ----------
    name, description : str
    files : tuple of RemoteFile
        What has to be at hand.
    read : function of a folder
        Returns (train, test) from the files in it; val is drawn from train.
    package : str
        The package that holds ``task.toml`` and the sample written for this project.
    read_bundled : function of a folder
        Returns (train, test) of that sample.
    """

    name: str
    description: str
    files: tuple[RemoteFile, ...]
    read: Reader
    package: str
    read_bundled: Reader


_TREC_ORIGIN = "https://cogcomp.seas.upenn.edu/Data/QA/QC/"

BUILTINS = {
    "trec": Builtin(
        name="trec",
        description="questions by the kind of answer they ask for: 6 classes, 50 subclasses (Li and Roth)",
        files=(
            RemoteFile(
                _trec.TRAIN,
                _TREC_ORIGIN + _trec.TRAIN,
                "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
                335_858,
            ),
            RemoteFile(
                _trec.TEST,
                _TREC_ORIGIN + _trec.TEST,
                "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
                23_354,
            ),
        ),
        read=_trec.read_published,
        package="psopt.tasks.bundled_trec",
        read_bundled=_trec.read_bundled,
    )
}


def find_builtin(name: str) -> Builtin:
    """Return the built-in data set of this name.

    Raises
    ------
    UnknownNameError
        If there is none.
    """
    if name not in BUILTINS:
        hint = "or give a .csv, .tsv, .jsonl, .parquet or task .toml file"
        raise UnknownNameError("dataset", name, BUILTINS, hint=hint)
    return BUILTINS[name]
