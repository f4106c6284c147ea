"""From records in memory to the fields of a task."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._assemble import assemble, left_out
from psopt.tasks._formats import Record
from psopt.tasks._frames import rows_of_frame
from psopt.tasks._samples import make_samples
from psopt.tasks._splits import draws_test, make_splits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.tasks._assemble import TaskFields
    from psopt.tasks._taskfile import TaskFile


def fields_of_records(records: Iterable[Any], described: TaskFile, *, seed: int) -> TaskFields:
    """Split records in memory (see `Task.from_records`)."""
    source = described.origin
    rows = rows_of_frame(source, records)
    if rows is None:
        rows = [_row(source, number, record) for number, record in enumerate(records, start=1)]
    if not rows:
        raise DataError(f"{source}: no records")
    table = make_samples(
        source,
        rows,
        described.columns(),
        require_labels=True,
        spec=described.spec,
        skip_empty=described.skip_empty,
    )
    splits = make_splits(source, table.placed, None, seed=seed, by_label=not described.spec.is_open)
    return assemble(
        source,
        described,
        splits,
        source="memory",
        notes=left_out([table], splits),
        label_column=table.label_column,
        test_is_drawn=draws_test(table.placed),
    )


def _row(source: str, number: int, record: Any) -> Record:
    where = f"record {number}"
    if isinstance(record, Mapping):
        return Record(where, record)
    if isinstance(record, Sequence) and not isinstance(record, str) and len(record) == 2:
        return Record(where, {"text": record[0], "label": record[1]})
    raise DataError(f"{source}, {where}: expected a mapping or a (text, label) pair, not {reprlib.repr(record)}")
