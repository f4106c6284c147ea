"""TREC's label files: ``COARSE:fine text`` a line, in Latin-1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._task import Sample

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks._dataset import Pair

TRAIN, TEST = "train_5500.label", "TREC_10.label"
LABELS = {
    "NUM": "Number",
    "LOC": "Location",
    "HUM": "Person",
    "DESC": "Description",
    "ENTY": "Entity",
    "ABBR": "Abbreviation",
}


def read_published(folder: Path) -> Pair:
    """Read (train, test) from the published files."""
    return read_label_file(folder / TRAIN, "train"), read_label_file(folder / TEST, "test")


def read_bundled(folder: Path) -> Pair:
    """Read (train, test) from the sample written for this project."""
    return read_label_file(folder / "train.label", "train"), read_label_file(folder / "test.label", "test")


def read_label_file(path: Path, prefix: str) -> tuple[Sample, ...]:
    """Read a label file; sample ids are the prefix and the line number.

    Raises
    ------
    DataError
        If the file can't be read or a line is not ``COARSE:fine text``.
    """
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error
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
