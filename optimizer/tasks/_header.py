"""Which columns data have, before they are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.tasks._builtin import BUILTINS
from psopt.tasks._cells import column_names
from psopt.tasks._files import read_rows
from psopt.tasks._hub_fetch import fetch_tables
from psopt.tasks._hub_name import HubName
from psopt.tasks._read import check_name, described_data

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks._dataset import Builtin


def columns_of(dataset: str | Path, *, task_file: str | Path | None = None) -> tuple[str, ...]:
    """The columns of a data file, or what a prompt may name of a built-in data set's samples.

    A column counts that some row has; loading says which row lacks an input. Nothing is downloaded, but for data on the
    hub.

    Raises
    ------
    DataError, UnknownNameError, InputError
        If there is no such data set, or the file can't be read.

    Examples
    --------
    >>> columns_of("cb")
    ('premise', 'hypothesis')
    """
    builtin: Builtin | None = BUILTINS.get(str(dataset))
    if builtin:
        return builtin.fields
    check_name(str(dataset))
    place, _ = described_data(str(dataset), task_file)
    if isinstance(place, HubName):
        return tuple(dict.fromkeys(name for table in fetch_tables(place).tables.values() for name in table.features))
    return tuple(column_names([row.values for row in read_rows(place)]))
