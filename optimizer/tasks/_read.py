"""From the name of a data set, or a file, to the fields of a task."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, InputError
from psopt.tasks._assemble import assemble, left_out, merge_alike
from psopt.tasks._builtin import BUILTINS, find_builtin
from psopt.tasks._cells import column_names, is_empty
from psopt.tasks._columns import find_columns
from psopt.tasks._data import DatasetInfo
from psopt.tasks._download import DownloadError, Origin, data_folder, download, find_local
from psopt.tasks._files import check_file, read_rows
from psopt.tasks._frames import rows_of_frame
from psopt.tasks._hub import HubName, fetch_tables, is_hub_name
from psopt.tasks._promptfoo_tests import EXPECTED, is_tests, read_tests
from psopt.tasks._samples import SPLIT_NAMES, Placed, make_samples
from psopt.tasks._splits import draws_test, make_splits
from psopt.tasks._taskfile import TaskFile, read_task_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks._columns import ColumnChoice
    from psopt.tasks._data import Builtin, TrainTest
    from psopt.tasks._formats import Record


def read_data(
    place: Path | HubName, described: TaskFile, *, seed: int, require_labels: bool, skip_unread: bool
) -> dict[str, Any]:
    """Read a data file or a data set on the hub, and a file of test samples if there is one, and split them."""
    choice = described.columns
    if isinstance(place, HubName):
        fetched = fetch_tables(place)
        rows, left_out_splits = _rows_of_hub(str(place), fetched.tables, choice)
        info = DatasetInfo(described.name or place.short, "hub", "", fetched.note, revision=fetched.revision)
        info = info.noted(*left_out_splits)
    else:
        info = DatasetInfo(described.name or place.stem, "file", "")
        if is_tests(place):
            check_file(place)
            tests = read_tests(place)
            rows, info = tests.rows, info.noted(tests.note(skip=skip_unread))
            described = replace(described, label_column=choice.label or EXPECTED)
        else:
            rows = read_rows(place)
    return split_rows(str(place), rows, described, info, seed=seed, require_labels=require_labels)


def split_rows(
    source: str,
    rows: Sequence[Record],
    described: TaskFile,
    info: DatasetInfo,
    *,
    seed: int,
    require_labels: bool = True,
) -> dict[str, Any]:
    """Make samples from rows and those of a test file, split them, and put a task's fields together."""
    choice, spec, skips = described.columns, described.spec, described.skip_empty
    tables = [make_samples(source, rows, choice, require_labels=require_labels, spec=spec, skip_empty=skips)]
    if path := described.test:
        of_test = read_rows(path)
        tables.append(make_samples(str(path), of_test, choice, require_labels=True, spec=spec, skip_empty=skips))
    # Before texts are compared: one text under two spellings of a label is no contradiction.
    placed, merged_note = merge_alike([table.placed for table in tables], described.labels, spec)
    splits = make_splits(source, *placed, seed=seed, by_label=not spec.is_open)
    info = replace(info.noted(*left_out(tables, splits), merged_note), test_is_drawn=draws_test(*placed))
    return assemble(described, splits, info, tables[0].label_column)


def refuse(name: str, **options: object) -> None:
    for option, value in options.items():
        if value or value == "":  # an empty name was given as well
            raise InputError(f"--{option.replace('_', '-')} is for data files, and {name} is built in; leave it out")


def described_data(name: str, task_file: str | Path | None) -> tuple[Path | HubName, TaskFile]:
    """Return the data file, or the data set on the hub, and its description; refuse a name that is neither."""
    if is_hub_name(name):
        return HubName.read(name), read_task_file(Path(task_file)) if task_file else TaskFile(origin=name)
    path = Path(name)
    if not path.suffix and "/" not in name and not os.access(path, os.F_OK):
        find_builtin(name)  # raises, since it is not a built-in name
    if path.suffix.lower() != ".toml":
        return path, read_task_file(Path(task_file)) if task_file else TaskFile(origin=str(path))
    if task_file:
        raise InputError(f"{path} and {task_file} are both task files; leave one out, or give data with --dataset")
    described = read_task_file(path)
    if described.data is None:
        raise DataError(f'{path}: names no data; add a line such as data = "samples.csv"')
    return described.data, described


def columns_of(dataset: str | Path, *, task_file: str | Path | None = None) -> tuple[str, ...]:
    """The columns of a data file, or the fields of a built-in data set's samples that a prompt may name.

    A column counts if any row has it; loading reports rows that lack an input. Nothing is downloaded, except data on
    the hub. Raises InputError if there is no such data set, or the file can't be read.

    >>> columns_of("cb")
    ('premise', 'hypothesis')
    """
    if str(dataset) in BUILTINS:
        return BUILTINS[str(dataset)].fields
    place, _ = described_data(str(dataset), task_file)
    if isinstance(place, HubName):
        return tuple(column_names([table.features for table in fetch_tables(place).tables.values()]))
    return tuple(column_names([row.values for row in read_rows(place)]))


def _rows_of_hub(source: str, tables: Mapping[str, Any], choice: ColumnChoice) -> tuple[list[Record], list[str]]:
    """Make rows from the splits called train, validation or test; if there is only one split, psopt splits it.

    Other splits are left out. So are splits without any label where another has labels, as with the test splits of many
    contests.
    """
    if len(tables) == 1:
        return _rows(source, next(iter(tables.values()))), []
    unknown = [split for split in tables if SPLIT_NAMES.get(split.lower()) is None]
    used = {split: table for split, table in tables.items() if split not in unknown}
    if all(SPLIT_NAMES[split.lower()] != "train" for split in used):
        raise DataError(f"{source}: none of its splits is called train; its splits: {', '.join(tables)}")
    unlabelled = _without_labels(source, used, choice)
    notes = [f"the split {split!r} is left out: it is neither train, validation nor test" for split in unknown]
    notes += [f"the split {split!r} is left out: it has no labels" for split in unlabelled]
    return _rows(source, {split: table for split, table in used.items() if split not in unlabelled}), notes


def _rows(source: str, tables: Any) -> list[Record]:
    rows = rows_of_frame(source, tables)
    if not rows:
        raise DataError(f"{source}: holds no rows")
    return rows


def _without_labels(source: str, tables: Mapping[str, Any], choice: ColumnChoice) -> list[str]:
    """The splits in which no row has a label; empty if that is so in all."""
    names = column_names([table.features for table in tables.values()])
    label = find_columns(source, names, choice).label
    if label is None:
        return []
    empty = []
    for split, table in tables.items():
        rows = rows_of_frame(source, table.select_columns([label])) if label in table.features else None
        if all(is_empty(row.values[label]) for row in rows or ()):
            empty.append(split)
    return [] if len(empty) == len(tables) else empty


def read_builtin(builtin: Builtin, *, seed: int, strict: bool) -> dict[str, Any]:
    """Read a built-in task: local files, else downloaded ones, else (unless `strict`) the bundled sample."""
    described = read_task_file(builtin.bundled_folder / "task.toml")
    labels = dict(zip(builtin.codes, described.labels, strict=True))
    try:
        origin = find_local(builtin) or Origin(download(builtin), "downloaded")
        train, test = builtin.read(origin.path, labels)
    except DownloadError as error:
        looked = "PSOPT_DATA_DIR is not set"
        if folder := data_folder(builtin.name):
            looked = f"not in {folder}"
        missing = f"{builtin.name.upper()}'s files are not at hand ({looked}; {error})"
        fix = f"psopt data fetch {builtin.name}, or set PSOPT_DATA_DIR"
        if strict:
            raise DataError(f"{missing}: {fix}") from error
        train, test = builtin.read_bundled(builtin.bundled_folder, labels)
        own = f"using psopt's own sample of {len(train) + len(test)} {described.noun}s in their place"
        origin = Origin(builtin.bundled_folder, "bundled", f"{missing}; {own}. For the real data: {fix}")
    placed = [*(Placed(sample, "train") for sample in train), *(Placed(sample, "test") for sample in test)]
    splits = make_splits(builtin.name, placed, seed=seed)
    return assemble(described, splits, DatasetInfo(builtin.name, origin.source, "", origin.note))


def read_bundled(name: str) -> TrainTest:
    """Read (train, test) from the sample that psopt ships for a built-in data set; nothing is downloaded.

    Raises UnknownNameError if there is no such data set.

    >>> train, test = read_bundled("trec")
    >>> test[0].label
    'Number'
    """
    builtin = find_builtin(name)
    folder = builtin.bundled_folder
    labels = read_task_file(folder / "task.toml").labels
    return builtin.read_bundled(folder, dict(zip(builtin.codes, labels, strict=True)))
