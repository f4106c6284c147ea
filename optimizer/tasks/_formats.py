"""The formats of data files: how each becomes rows, every row with its place."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, import_extra
from psopt.text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_STATED = re.compile(r"sep=(?P<delimiter>[,;|\t])\r?\n")
_LONGEST_FIELD = 100_000_000  # so that an overlong text gets our message, not the csv module's


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a table, and where it stands: ``line 7`` of a text, ``row 7`` of a table, ``record 7`` in memory."""

    where: str
    values: Mapping[str, Any]


def delimited_rows(path: Path, text: str, delimiter: str) -> Iterator[Record]:
    """Rows of .csv and .tsv text with a header; a quoted field may hold line breaks. Messages name `path`.

    In a .tsv a quote is an ordinary sign, unless it opens and closes a field within one line. Only if the numbers of
    fields then differ are quoted fields read. A .csv whose header has semicolons, tabs or bars but no comma is split at
    these. Columns without a name are left out where they are empty.
    """
    if delimiter == "\t" and (lines := _plain_lines(text)) is not None:
        header, *rows = lines
        check_names(f"{path}, line 1", filter(str.strip, header))
        for number, fields in enumerate(rows, start=2):
            if fields != [""]:
                yield Record(f"line {number}", _by_name(path, number, header, fields))
        return
    if stated := _STATED.match(text):  # a line that Excel writes
        text, delimiter = text[stated.end() :], stated["delimiter"]
    first = text.lstrip().split("\n", 1)[0]
    if delimiter == "," and "," not in first:
        delimiter = max(",;\t|", key=first.count)  # the comma where none occurs
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        with wide_fields():
            header = next(reader)
            check_names(f"{path}, line 1", filter(str.strip, header))
            start = reader.line_num + 1
            for fields in reader:
                if fields:
                    yield Record(f"line {start}", _by_name(path, start, header, fields))
                start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {start}: {in_words(error)}") from error


def _plain_lines(text: str) -> list[list[str]] | None:
    """The fields of lines whose quotes mean nothing; None if a line's number of fields differs from the header's."""
    lines = [line.split("\t") for line in text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")]
    if any(len(fields) != len(lines[0]) for fields in lines if fields != [""]):
        return None
    return [list(map(_unquoted, fields)) for fields in lines]


def _unquoted(field: str) -> str:
    """A field without the quotes around all of it, if the quotes inside are doubled, as in quoted fields."""
    inner = field[1:-1]
    if len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return field


@contextmanager
def wide_fields() -> Iterator[None]:
    """Let csv fields be as long as a whole file."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def check_names(where: str, names: Iterable[Any]) -> None:
    """Raise DataError if two columns have the same name."""
    for name, n in Counter(names).items():
        if n > 1:
            raise DataError(f"{where}: two columns are called {name!r}; rename one")


def _by_name(path: Path, line: int, header: list[str], fields: list[str]) -> dict[str, str]:
    if len(fields) > len(header) and not any(fields[len(header) :]):
        fields = fields[: len(header)]
    if len(fields) != len(header):
        fix = 'put "quotes" around a text that holds the delimiter'
        raise DataError(f"{path}, line {line}: {len(fields)} fields where the header has {len(header)}; {fix}")
    values = {}
    for place, (name, field) in enumerate(zip(header, fields, strict=True), start=1):
        if name.strip():
            values[name] = field
        elif field:
            values[f"column {place}"] = field
    return values


def in_words(error: csv.Error) -> str:
    """What a csv error means, and how to fix it."""
    if "unexpected end of data" in str(error):
        return 'a quote is opened and never closed; write a quote inside a quoted text twice: ""'
    return f'{error}; write a quote inside a quoted text twice: ""'


def json_rows(path: Path | str, text: str) -> Iterator[Record]:
    """Rows of .jsonl text: one object per line; empty lines are skipped. Messages name `path`."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        values = parse_json(line, f"{path}, line {number}: the line", DataError)
        if not isinstance(values, dict):
            raise DataError(f'{path}, line {number}: expected an object such as {{"text": "..", "label": ".."}}')
        if isinstance(values.get("item"), dict) and values.keys() <= {"item", "sample"}:
            values = values["item"]  # the form of OpenAI's Evals
        yield Record(f"line {number}", values)


def parquet_rows(path: Path) -> Iterator[Record]:
    """Rows of a .parquet file."""
    pa = import_extra("pyarrow", f"reading {path.name}", "parquet")
    pq = import_extra("pyarrow.parquet", f"reading {path.name}", "parquet")
    try:
        with pq.ParquetFile(path) as file:
            records = file.read().to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: can't be read as Parquet: {reason}") from error
    for number, values in enumerate(records, start=1):
        yield Record(f"row {number}", values)
