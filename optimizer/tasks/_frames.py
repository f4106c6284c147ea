"""Tables of other libraries as rows: pandas, Polars, Arrow, Hugging Face datasets; none of these is imported here."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._cells import column_names, is_empty, plain
from psopt.tasks._columns import customary
from psopt.tasks._formats import Record, check_names

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows_of_frame(source: str, data: Any) -> list[Record] | None:
    """Return the rows of a table, or of several tables named by their splits; None if `data` is no table.

    The number of a Hugging Face class (``ClassLabel``) becomes its name. With several tables, a row's column ``split``
    is the table's name; ids that occur in more than one table begin with it.
    """
    if isinstance(data, Mapping):
        if not any(map(is_frame, data.values())):
            return None
        return _rows_of_splits(source, data)
    if not is_frame(data):
        return None
    return [Record(f"row {number}", values) for number, values in enumerate(_values(source, data), start=1)]


def is_frame(data: Any) -> bool:
    """Tell whether something is a table of a library that this module knows."""
    library = _library(data)
    return library in _READERS and hasattr(data, _READERS[library][0]) and not isinstance(data, Mapping)


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
    if not is_frame(frame):
        raise DataError(f"{source}: a {type(frame).__name__} is no table; give a DataFrame or a Dataset")
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
