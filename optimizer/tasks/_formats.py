"""The formats of data: how files and other libraries' tables become rows, every row with its place.

Of pandas, Polars, Arrow and Hugging Face datasets none is imported here.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, import_extra
from psopt.tasks._cells import column_names, customary, is_empty, plain
from psopt.tasks._row import Record
from psopt.text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_STATED = re.compile(r"sep=(?P<delimiter>[,;|\t])\r?\n")
_LONGEST_FIELD = 100_000_000  # so that an overlong text gets our message, not the csv module's


def delimited_rows(path: Path, text: str, delimiter: str) -> Iterator[Record]:
    """Rows of .csv and .tsv text with a header; a quoted field may hold line breaks. Messages name `path`.

    A .csv whose header has semicolons, tabs or bars but no comma is split at these. Between tabs a quote is an ordinary
    sign, unless it opens and closes a field within one line. Only if the numbers of fields then differ are quoted
    fields read. Columns without a name are left out where they are empty, and so are blank lines.
    """
    first_line = 1
    first = text.lstrip().split("\n", 1)[0]
    if stated := _STATED.match(text):  # a line that Excel writes
        text, delimiter, first_line = text[stated.end() :], stated["delimiter"], 2
    elif delimiter == "," and "," not in first:
        delimiter = max(",;\t|", key=first.count)  # the comma where none occurs
    header: list[str] = []
    for line, fields in _lines(path, text, delimiter, first_line):
        is_blank = not any(map(str.strip, fields))
        if is_blank and len(fields) != len(header):
            continue
        if header:
            yield Record(f"line {line}", _by_name(path, line, header, fields))
        else:
            check_names(f"{path}, line {line}", filter(str.strip, fields))
            header = fields


def _lines(path: Path, text: str, delimiter: str, number: int) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, and the number of the line; the first one's is given."""
    start = number
    with wide_fields():
        is_plain = delimiter == "\t" and _is_plain(text)
        reader = _reader(text, delimiter, is_plain=is_plain)
        try:
            for fields in reader:
                if is_plain:
                    fields = list(map(_unquoted, fields))
                yield start, fields
                start = number + reader.line_num
        except csv.Error as error:
            raise DataError(f"{path}, line {start}: {in_words(error)}") from error


def _is_plain(text: str) -> bool:
    """Whether lines have the header's number of fields if quotes mean nothing; empty ones at the end don't count."""
    lines = [fields for fields in _reader(text, "\t", is_plain=True) if any(fields)]
    n_fields = len(lines[0]) if lines else 0
    return all(len(fields) >= n_fields and not any(fields[n_fields:]) for fields in lines)


def _reader(text: str, delimiter: str, *, is_plain: bool) -> Any:
    """What splits a text; to a plain one quotes mean nothing."""
    lines = io.StringIO(text, newline="")
    if is_plain:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    # A space between a delimiter and a quote is no part of the field. Other files keep the spaces before their texts.
    skips_space = f'{delimiter} "' in text
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=skips_space, strict=True)


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
        if len(fields) < len(header):
            fix = "add those that are missing, empty ones too"
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


def rows_of_frame(source: str, data: Any) -> list[Record] | None:
    """Return the rows of a table, or of several tables named by their splits; None if `data` is no table.

    The number of a Hugging Face class (``ClassLabel``) becomes its name. With several tables, a row's column ``split``
    is the table's name; ids that occur in more than one table begin with it.
    """
    if isinstance(data, Mapping) and any(is_frame(part) or _are_rows(part) for part in data.values()):
        return _rows_of_splits(source, data)
    if not is_frame(data):
        return None
    return [Record(f"row {number}", values) for number, values in enumerate(_values(source, data), start=1)]


def is_frame(data: Any) -> bool:
    """Tell whether something is a table of a library that this module knows."""
    library = _library(data)
    return library in _READERS and hasattr(data, _READERS[library][0]) and not isinstance(data, Mapping)


def _are_rows(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(row, Mapping) for row in data)


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


_READERS: dict[str, tuple[str, Callable[[Any], Iterable[Mapping[str, Any]]]]] = {
    "pandas": ("columns", lambda frame: frame.to_dict(orient="records")),
    "polars": ("lazy", lambda frame: frame.lazy().collect().to_dicts()),
    "pyarrow": ("column_names", lambda table: table.to_pylist()),
    "datasets": ("features", lambda dataset: _named_classes(dataset)),
}
"""By library: the attribute that its tables have, and how one is read."""


def _values(source: str, frame: Any) -> Iterable[Mapping[str, Any]]:
    if _are_rows(frame):
        return list(frame)
    if not is_frame(frame):
        raise DataError(f"{source}: a {type(frame).__name__} is no table; give a DataFrame, a Dataset or a list")
    columns, read = _READERS[_library(frame)]
    if _library(frame) in ("pandas", "pyarrow"):  # the others allow no duplicate names
        check_names(source, getattr(frame, columns))
    return read(frame)


def _named_classes(dataset: Any) -> Iterator[Mapping[str, Any]]:
    """Rows of a Hugging Face dataset, with the names of classes in place of their numbers."""
    coded = {column: names for column, feature in (dataset.features or {}).items() if (names := _class_names(feature))}
    for row in dataset:
        named = {column: _named(row[column], names) for column, names in coded.items() if column in row}
        yield {**row, **named}


def _class_names(feature: Any) -> list[str]:
    """The names of a ``ClassLabel``, or of a list of them; empty for other features."""
    while isinstance(feature, list):
        feature = feature[0]
    if type(feature).__name__ in ("List", "LargeList", "Sequence"):
        return _class_names(feature.feature)
    return list(getattr(feature, "names", None) or ())


def _named(value: Any, names: list[str]) -> Any:
    value = plain(value)  # a dataset may be set to give NumPy's numbers
    if isinstance(value, list):
        return [_named(member, names) for member in value]
    if is_empty(value) or value == -1:  # data sets without labels use -1
        return None
    return names[value] if isinstance(value, int) else value


def _rows_of_splits(source: str, tables: Mapping[Any, Any]) -> list[Record]:
    of_splits = {str(name): list(_values(f"{source}, {name}", table)) for name, table in tables.items()}
    names = column_names(list(itertools.chain.from_iterable(of_splits.values())))
    column = customary(names, ("id",)) or ""
    ids: Counter[str] = Counter()
    for of_split in of_splits.values():
        ids.update({str(row.get(column)) for row in of_split})
    rows = []
    for split, of_split in of_splits.items():
        for number, values in enumerate(of_split, start=1):
            own = {**values, "split": split}
            if not is_empty(values.get(column)) and ids[str(values[column])] > 1:
                own[column] = f"{split}-{values[column]}"
            rows.append(Record(f"{split} row {number}", own))
    return rows
