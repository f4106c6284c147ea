"""The built-in data sets, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from psopt.errors import DataError, InputError, UnknownNameError, nearest
from psopt.tasks._columns import listed
from psopt.tasks._data import Builtin, RemoteFile, Sample
from psopt.tasks._dbpedia import DBPEDIA
from psopt.tasks._superglue import CB, RTE
from psopt.tasks._wos import WOS
from psopt.text import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from psopt.tasks._data import TrainTest


TRAIN = "train_5500.label"
TEST = "TREC_10.label"
LABELS = {
    "NUM": "Number",
    "LOC": "Location",
    "HUM": "Person",
    "DESC": "Description",
    "ENTY": "Entity",
    "ABBR": "Abbreviation",
}


def read_label_files(train: str, test: str, folder: Path) -> TrainTest:
    """Read (train, test) from two label files."""
    return read_label_file(folder / train, "train"), read_label_file(folder / test, "test")


def read_label_file(path: Path, prefix: str) -> tuple[Sample, ...]:
    """Read a label file; sample ids are the prefix and the line number."""
    text = read_bytes(path, error=DataError).decode("latin-1")
    lines = enumerate(text.split("\n"), start=1)  # splitlines would split at some Latin-1 characters too
    samples = tuple(_sample(path, prefix, number, line) for number, line in lines if line.strip())
    if not samples:
        raise DataError(f"{path}: is empty")
    return samples


def _sample(path: Path, prefix: str, number: int, line: str) -> Sample:
    label, _, text = line.strip().partition(" ")
    coarse, _, fine = label.partition(":")
    if coarse not in LABELS or not fine or not text.strip():
        raise DataError(f"{path}, line {number}: expected `COARSE:fine text`, COARSE one of {', '.join(LABELS)}")
    return Sample(f"{prefix}-{number}", text.strip(), LABELS[coarse], fine)


_ORIGIN = "https://cogcomp.seas.upenn.edu/Data/QA/QC/"
TREC = Builtin(
    name="trec",
    description="questions by the kind of answer they ask for: 6 classes, 50 subclasses (Li and Roth)",
    files=(
        RemoteFile(TRAIN, _ORIGIN + TRAIN, "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3", 335_858),
        RemoteFile(TEST, _ORIGIN + TEST, "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e", 23_354),
    ),
    read=partial(read_label_files, TRAIN, TEST),
    package="psopt.tasks.bundled_trec",
    read_bundled=partial(read_label_files, "train.label", "test.label"),
    page=_ORIGIN,
)
BUILTINS = {builtin.name: builtin for builtin in (TREC, CB, RTE, DBPEDIA, WOS)}


def find_builtin(name: str) -> Builtin:
    """Return the built-in data set of this name."""
    if name not in BUILTINS:
        hint = "or give a .csv, .tsv, .jsonl, .parquet or task .toml file"
        raise UnknownNameError("dataset", name, BUILTINS, hint=hint)
    return BUILTINS[name]


def check_fields(builtin: Builtin, names: Iterable[str]) -> None:
    """Raise InputError if one of these names is no field of the data set's samples."""
    fields = tuple(dict.fromkeys((*builtin.fields, "text")))
    for name in names:
        if name not in fields:
            hint = nearest(name, fields)
            raise InputError(f"{builtin.name}: has no column {name!r}{hint}; its columns: {listed(fields)}")
