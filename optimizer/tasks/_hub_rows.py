"""From the splits of a data set on the hub to rows: which of them are used, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import DataError
from psopt.tasks._cells import is_empty
from psopt.tasks._columns import find_columns
from psopt.tasks._frames import rows_of_frame
from psopt.tasks._samples import SPLIT_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.tasks._columns import ColumnChoice
    from psopt.tasks._formats import Record


class HubRows(NamedTuple):
    """The rows of a data set, and in a line each what was left out."""

    rows: list[Record]
    notes: list[str]


def rows_of_hub(source: str, tables: Mapping[str, Any], choice: ColumnChoice) -> HubRows:
    """Make rows of the splits that are called train, validation or test; one split alone is left for psopt to split.

    Others are left out, and so are splits without a single label where another one has labels, as the test splits of
    many a contest are.

    Raises
    ------
    DataError
        If none of several splits is called train, or a column is missing.
    """
    if len(tables) == 1:
        return HubRows(_rows(source, next(iter(tables.values()))), [])
    unknown = [split for split in tables if SPLIT_NAMES.get(split.lower()) is None]
    used = {split: table for split, table in tables.items() if split not in unknown}
    if all(SPLIT_NAMES[split.lower()] != "train" for split in used):
        raise DataError(f"{source}: none of its splits is called train; its splits: {', '.join(tables)}")
    unlabelled = _without_labels(source, used, choice)
    notes = [f"the split {split!r} is left out: it is neither train, validation nor test" for split in unknown]
    notes += [f"the split {split!r} is left out: it has no labels" for split in unlabelled]
    return HubRows(_rows(source, {split: table for split, table in used.items() if split not in unlabelled}), notes)


def _rows(source: str, tables: Any) -> list[Record]:
    rows = rows_of_frame(source, tables)
    if not rows:
        raise DataError(f"{source}: holds no rows")
    return rows


def _without_labels(source: str, tables: Mapping[str, Any], choice: ColumnChoice) -> list[str]:
    """The splits in which no row has a label; none of them where all are so."""
    names = list(dict.fromkeys(name for table in tables.values() for name in table.features))
    label = find_columns(source, names, choice).label
    if label is None:
        return []
    empty = [split for split, table in tables.items() if _is_unlabelled(source, table, label)]
    return empty if len(empty) < len(tables) else []


def _is_unlabelled(source: str, table: Any, label: str) -> bool:
    if label not in table.features:
        return True
    return all(is_empty(row.values[label]) for row in rows_of_frame(source, table.select_columns([label])) or ())
