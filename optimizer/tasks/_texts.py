"""Texts and rows to classify, whose labels are not known."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._builtin import find_builtin
from psopt.tasks._cells import (
    ColumnChoice,
    RowError,
    check_text,
    column_names,
    find_columns,
    listed,
    of_each_row,
    plain_rows,
    text_of,
)
from psopt.tasks._files import SUFFIXES, read_rows
from psopt.tasks._formats import json_rows
from psopt.tasks._row import Record, Row, columns_of_row, inputs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class InputColumns:
    """Which columns of rows to classify are their inputs."""

    inputs: tuple[str, ...] = ()  # the columns; empty if they are not known yet
    # The names in a prompt's braces: those that are columns are the inputs. ``text`` is the text column.
    candidates: tuple[str, ...] = ()
    # The only input if no candidate is a column; by default, a customary name is tried
    text_column: str | None = None
    layout: str = ""  # how the inputs, each in braces, make up a text; empty for ``name: value``, one per line
    # Whether a text may stand for several inputs: psopt's own form pastes it, a template needs each input
    texts_alone: bool = False

    @classmethod
    def of_builtin(cls, name: str) -> InputColumns:
        """The columns of a built-in data set's samples, joined as in that data set."""
        builtin = find_builtin(name)
        return cls(builtin.fields, layout=builtin.layout) if builtin.layout else cls()

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs as far as they are known before there are rows."""
        is_text_alone = self.candidates == ("text",)  # which any column may be
        return self.inputs or (() if is_text_alone else self.candidates)

    @property
    def needs_rows(self) -> bool:
        """Whether a text alone can't stand for the inputs."""
        return len(self.names) > 1 and not self.texts_alone

    def of(self, columns: Sequence[str]) -> ColumnChoice:
        """The inputs of a table with these columns."""
        if self.inputs:
            return ColumnChoice(self.inputs)
        named = tuple(column for column in columns if column in self.candidates)
        if not named or ("text" in self.candidates and "text" not in columns):
            return ColumnChoice(text=self.text_column)
        return ColumnChoice(named)


def is_data_file(path: Path) -> bool:
    """Tell whether a file's ending is that of a table: .csv, .tsv, .jsonl, .parquet."""
    return path.suffix.lower() in SUFFIXES


def texts_of_file(path: Path, columns: InputColumns) -> list[str]:
    """Read the rows of a .csv, .tsv, .jsonl or .parquet file as texts; raises DataError if they can't be used."""
    return _texts(str(path), read_rows(path), columns)


def texts_of_lines(content: str, columns: InputColumns, *, source: str = "standard input") -> list[str]:
    """Read lines as texts; if a template has several inputs, each line is a JSON object that holds them.

    Otherwise, lines are rows too if they are objects with a column of an input. Only a line feed ends a line. Raises
    DataError if a line is no object where others are, or if `source` is the name of a .json file that holds a list.
    """
    if source.lower().endswith(".json") and isinstance(_parsed(content), list):
        raise DataError(f"{source} holds a list: put its items into a .jsonl file, one per line")
    lines = [(number, line.strip()) for number, line in enumerate(content.split("\n"), start=1) if line.strip()]
    names = columns.names or (columns.text_column or "text",)
    parsed = [(number, _parsed(line)) for number, line in lines]
    no_rows = [number for number, row in parsed if not (isinstance(row, dict) and any(name in row for name in names))]
    if lines and columns.needs_rows and not any(isinstance(row, dict) for _, row in parsed):
        fault = f"its lines are no JSON objects, and the inputs are {listed(names)}"
        raise DataError(f"{source}: {fault}: give one per line")
    if columns.needs_rows or not no_rows:
        return _texts(source, list(json_rows(source, content)), columns)
    if len(no_rows) < len(lines):
        fault = f"no JSON object with {' or '.join(map(repr, names))}, as other lines are"
        raise DataError(f"{source}, line {no_rows[0]}: {fault}: give texts or objects alone")
    return texts_of_records([line for _, line in lines], columns, source=source)


def _parsed(content: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def texts_of_records(
    records: Iterable[str | Mapping[str, Any]], columns: InputColumns, *, source: str = "rows"
) -> list[str]:
    r"""Make texts from texts and mappings in memory, where a text is the only input; raises DataError if they can't be.

    >>> texts_of_records([{"subject": "Bill", "body": "Hi"}], InputColumns(("subject", "body")))
    ['subject: Bill\nbody: Hi']
    """
    alone: dict[int, Record] = {}
    rows: dict[int, Record] = {}
    for number, record in enumerate(records, start=1):
        where = f"record {number}"
        if isinstance(record, str):
            alone[number] = Record(where, {"text": record})
        elif isinstance(record, Mapping):
            rows[number] = Record(where, record)
        else:
            raise DataError(f"{source}, {where}: expected a text or a mapping, not {reprlib.repr(record)}")
    texts = of_each_row(source, list(alone.values()), lambda _, row: _alone(row.values["text"], columns))
    texts += _texts(source, list(rows.values()), columns)
    numbered = sorted(zip((*alone, *rows), texts, strict=True))
    return [text for _, text in numbered]


def _alone(text: str, columns: InputColumns) -> str:
    inputs = columns.names
    check_text(text, "it")
    if isinstance(text, Row) or not inputs or (len(inputs) > 1 and columns.texts_alone):
        return text
    if len(inputs) > 1:
        kind = f"a text alone, where the inputs are {listed(inputs)},"
        raise RowError(f"is {kind[:-1]}", "give a mapping of these", kind)
    return Row(text, {inputs[0]: text}, inputs)


def _texts(source: str, rows: Sequence[Record], columns: InputColumns) -> list[str]:
    if not rows:
        return []
    rows = plain_rows(rows)
    names = column_names([row.values for row in rows])
    places = find_columns(source, names, columns.of(names), option="--input")
    places = replace(places, others=tuple(name for name in names if name not in places.inputs))
    texts = of_each_row(source, rows, lambda _, row: text_of(row.values, places))
    return [_laid_out(text, columns.layout) for text in texts] if columns.layout else texts


def _laid_out(text: str, layout: str) -> str:
    values = {name: " ".join(value.split()) for name, value in inputs_of(text).items()}
    return Row(layout.format_map(values), {**dict(columns_of_row(text)), **values}, tuple(values))
