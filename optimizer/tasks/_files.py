"""From a data file to rows, or to one line that says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._formats import delimited_rows, json_rows, parquet_rows
from psopt.tasks._promptfoo import is_tests, read_tests
from psopt.text import nearest_sibling, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.tasks._row import Record

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".ndjson")


def read_rows(path: Path) -> list[Record]:
    """Read a .csv, .tsv, .jsonl or .parquet file, or the tests of a promptfoo configuration."""
    check_file(path)
    if is_tests(path):
        return read_tests(path).rows
    rows = list(_rows(path))
    if not rows:
        raise DataError(f"{path}: holds no rows, or only a header; add samples")
    return rows


def _rows(path: Path) -> Iterator[Record]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return parquet_rows(path)
    text = read_filled(path)
    if suffix == ".tsv":
        return delimited_rows(path, text, delimiter="\t")
    if suffix == ".csv":
        return delimited_rows(path, text, delimiter=",")
    return json_rows(path, text)


def check_file(path: Path) -> None:
    """Refuse anything that is not a data file, or can't be opened."""
    try:
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name a file in it ({' '.join(SUFFIXES)})")
        if not path.exists():
            raise DataError(f"{path}: no such file{nearest_sibling(path)}")
        if path.suffix.lower() not in SUFFIXES and not is_tests(path):
            ending = f"ending in {path.suffix!r}" if path.suffix else "without an ending"
            raise DataError(f"{path}: files {ending} can't be read; convert it to one of {' '.join(SUFFIXES)}")
        if not path.stat().st_size:
            raise DataError(f"{path}: is empty")
    except OSError as error:
        raise DataError(f"{path}: can't be opened: {error.strerror}") from error


def read_filled(path: Path) -> str:
    """Read a file of UTF-8 text."""
    text = read_text(path, error=DataError)
    if not text.strip():
        raise DataError(f"{path}: is empty")
    return text
