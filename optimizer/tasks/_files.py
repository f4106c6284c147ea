"""From a data file to rows, or to one line that says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import DataError, nearest
from psopt.tasks._formats import delimited_rows, json_rows, parquet_rows
from psopt.tasks._promptfoo_tests import is_tests, read_tests
from psopt.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.tasks._formats import Record

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".ndjson")


def read_rows(path: Path) -> list[Record]:
    """Read a .csv, .tsv, .jsonl or .parquet file, or the tests of a promptfoo configuration.

    Text is UTF-8, with or without a byte order mark.

    Raises DataError if the file does not exist, can't be read as what its ending says, or holds no rows.
    """
    check_file(path)
    if is_tests(path):
        return read_tests(path).rows
    rows = list(_rows(path))
    if not rows:
        only_header = "a header but " if path.suffix.lower() in (".csv", ".tsv") else ""
        raise DataError(f"{path}: holds {only_header}no rows; add samples")
    return rows


def _rows(path: Path) -> Iterator[Record]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return parquet_rows(path)
    if suffix in (".jsonl", ".ndjson"):
        return json_rows(path, read_filled(path))
    return delimited_rows(path, read_filled(path), delimiter="\t" if suffix == ".tsv" else ",")


def check_file(path: Path) -> None:
    """Refuse anything that is not a data file, or can't be opened.

    Raises DataError.
    """
    try:
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name a file in it ({' '.join(SUFFIXES)})")
        if not path.exists():
            names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
            raise DataError(f"{path}: no such file{nearest(path.name, names)}")
        if path.suffix.lower() not in SUFFIXES and not is_tests(path):
            ending = f"ending in {path.suffix!r}" if path.suffix else "without an ending"
            raise DataError(f"{path}: files {ending} can't be read; convert it to one of {' '.join(SUFFIXES)}")
        if not path.stat().st_size:
            raise DataError(f"{path}: is empty")
    except OSError as error:
        raise DataError(f"{path}: can't be opened: {error.strerror}") from error


def read_filled(path: Path) -> str:
    """Read a file of UTF-8 text.

    Raises DataError if it can't be read, is not UTF-8 text, or is empty.
    """
    text = read_text(path, error=DataError)
    if not text.strip():
        raise DataError(f"{path}: is empty")
    return text
