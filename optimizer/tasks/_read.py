"""From the name of a data set, or a file, to the fields of a task."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import DataError, InputError
from psopt.tasks._assemble import assemble, left_out
from psopt.tasks._builtin import BUILTINS, check_fields, find_builtin
from psopt.tasks._cells import is_empty
from psopt.tasks._columns import as_names, find_columns
from psopt.tasks._download import DownloadError, download
from psopt.tasks._files import check_file, read_rows
from psopt.tasks._frames import rows_of_frame
from psopt.tasks._hub_fetch import fetch_tables
from psopt.tasks._hub_name import HubName, is_hub_name
from psopt.tasks._origin import Origin, find_local, where_looked
from psopt.tasks._promptfoo_tests import EXPECTED, is_tests, read_tests
from psopt.tasks._samples import SPLIT_NAMES, Placed, make_samples
from psopt.tasks._splits import draws_test, make_splits
from psopt.tasks._taskfile import TaskFile, read_task_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks._assemble import TaskFields
    from psopt.tasks._columns import ColumnChoice
    from psopt.tasks._dataset import Builtin, TrainTest
    from psopt.tasks._formats import Record


def read_dataset(
    dataset: str | Path,
    *,
    inputs: str | Sequence[str] = (),
    text_column: str | None = None,
    label_column: str | None = None,
    task_file: str | Path | None = None,
    test_file: str | Path | None = None,
    answers: str | None = None,
    order: Sequence[str] = (),
    seed: int = 42,
    strict_data: bool = False,
    require_labels: bool = True,
    skip_empty: bool = False,
    pinned_column: str | None = None,
    skip_unread: bool = False,
) -> TaskFields:
    """Read a data set and split it; see `load_task`, which takes the same."""
    name = str(dataset)
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    check_name(name)
    if name in BUILTINS:
        _refuse(name, text_column=text_column, label_column=label_column, task_file=task_file, test_file=test_file)
        _refuse(name, answers=answers, order=tuple(order) or None, skip_empty=skip_empty or None)
        _refuse(name, pinned_column=pinned_column)
        builtin = find_builtin(name)
        check_fields(builtin, as_names(inputs))
        return _read_builtin(builtin, seed=seed, strict=strict_data)
    place, described = described_data(name, task_file)
    described = described.answered(answers, order)
    test = Path(test_file) if test_file else described.test
    choice = described.columns(inputs, text_column, label_column, pinned_column)
    skips = skip_empty or described.skip_empty
    if isinstance(place, Path) and is_tests(place) and choice.label is None:
        choice = replace(choice, label=EXPECTED)
    found = _found(place, choice, skip_unread=skip_unread)
    table = make_samples(
        str(place), found.rows, choice, require_labels=require_labels, spec=described.spec, skip_empty=skips
    )
    tables = [table]
    separate_test = None
    if test:
        tables.append(
            make_samples(str(test), read_rows(test), choice, require_labels=True, spec=described.spec, skip_empty=skips)
        )
        separate_test = tables[1].placed
    splits = make_splits(str(place), table.placed, separate_test, seed=seed, by_label=not described.spec.is_open)
    return assemble(
        described.name or (place.short if isinstance(place, HubName) else place.stem),
        described,
        splits,
        source="hub" if isinstance(place, HubName) else "file",
        notes=[*found.notes, *left_out(tables, splits)],
        label_column=table.label_column,
        test_is_drawn=draws_test(table.placed, separate_test),
        revision=found.revision,
    )


class _Found(NamedTuple):
    """The rows of a file, or of a data set on the hub with its commit; and what is to be said of them."""

    rows: list[Record]
    revision: str = ""
    notes: tuple[str, ...] = ()


def _found(place: Path | HubName, choice: ColumnChoice, *, skip_unread: bool) -> _Found:
    if not isinstance(place, HubName):
        if not is_tests(place):
            return _Found(read_rows(place))
        check_file(place)
        tests = read_tests(place)
        return _Found(tests.rows, notes=tuple(filter(None, [tests.note(skip=skip_unread)])))
    fetched = fetch_tables(place)
    rows, notes = _rows_of_hub(str(place), fetched.tables, choice)
    return _Found(rows, fetched.revision, (fetched.note, *notes))


def check_name(name: str) -> None:
    """Refuse what is neither a built-in data set, one on the hub, nor a file."""
    if is_hub_name(name):
        HubName.read(name)
        return
    path = Path(name)
    if not path.suffix and "/" not in name and not os.access(path, os.F_OK):
        find_builtin(name)  # raises, unless it is one


def _refuse(name: str, **options: object) -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"--{option.replace('_', '-')} is for data files, and {name} is built in; leave it out")


def described_data(name: str, task_file: str | Path | None) -> tuple[Path | HubName, TaskFile]:
    """Return the data file, or the data set on the hub, and its description."""
    if is_hub_name(name):
        return HubName.read(name), read_task_file(Path(task_file)) if task_file else TaskFile(origin=name)
    path = Path(name)
    if path.suffix.lower() != ".toml":
        return path, read_task_file(Path(task_file)) if task_file else TaskFile(origin=str(path))
    if task_file:
        raise InputError(
            f"{path} and {task_file} are both task files; give the data file with --dataset, or leave one out"
        )
    described = read_task_file(path)
    if described.data is None:
        raise DataError(f'{path}: names no data; add a line such as data = "samples.csv"')
    return described.data, described


class _HubRows(NamedTuple):
    """The rows of a data set, and in one per line what was left out."""

    rows: list[Record]
    notes: list[str]


def _rows_of_hub(source: str, tables: Mapping[str, Any], choice: ColumnChoice) -> _HubRows:
    """Make rows of the splits that are called train, validation or test; one split alone is left for psopt to split.

    Others are left out, and so are splits without a single label where another one has labels, as the test splits of
    many a contest are.

    Raises DataError if none of several splits is called train, or a column is missing.
    """
    if len(tables) == 1:
        return _HubRows(_rows(source, next(iter(tables.values()))), [])
    unknown = [split for split in tables if SPLIT_NAMES.get(split.lower()) is None]
    used = {split: table for split, table in tables.items() if split not in unknown}
    if all(SPLIT_NAMES[split.lower()] != "train" for split in used):
        raise DataError(f"{source}: none of its splits is called train; its splits: {', '.join(tables)}")
    unlabelled = _without_labels(source, used, choice)
    notes = [f"the split {split!r} is left out: it is neither train, validation nor test" for split in unknown]
    notes += [f"the split {split!r} is left out: it has no labels" for split in unlabelled]
    return _HubRows(_rows(source, {split: table for split, table in used.items() if split not in unlabelled}), notes)


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


def _read_builtin(builtin: Builtin, *, seed: int, strict: bool) -> TaskFields:
    """Read a built-in task: local files, else downloaded ones, else (unless `strict`) the bundled sample.

    Raises DataError if local files can't be used, or, if `strict`, none are at hand.
    """
    package = _bundled_folder(builtin)
    described = read_task_file(package / "task.toml")
    try:
        origin = find_local(builtin) or Origin(download(builtin), "downloaded")
        train, test = builtin.read(origin.path)
    except DownloadError as error:
        missing = f"{builtin.name.upper()}'s files are not at hand ({where_looked(builtin)}; {error})"
        fix = f"psopt data fetch {builtin.name}, or set PSOPT_DATA_DIR"
        if strict:
            raise DataError(f"{missing}: {fix}") from error
        train, test = builtin.read_bundled(package)
        own = f"using psopt's own sample of {len(train) + len(test)} {described.noun}s in their place"
        origin = Origin(package, "bundled", f"{missing}; {own}. For the real data: {fix}")
    placed = [*(Placed(sample, "train") for sample in train), *(Placed(sample, "test") for sample in test)]
    splits = make_splits(builtin.name, placed, None, seed=seed)
    return assemble(builtin.name, described, splits, source=origin.source, notes=[origin.note])


def read_bundled(name: str) -> TrainTest:
    """Read (train, test) of the sample that psopt brings along for a built-in data set; nothing is downloaded.

    Raises UnknownNameError if there is no such data set.

    Examples
    --------
    >>> train, test = read_bundled("trec")
    >>> test[0].label
    'Number'
    """
    builtin = find_builtin(name)
    return builtin.read_bundled(_bundled_folder(builtin))


def _bundled_folder(builtin: Builtin) -> Path:
    """The folder with the sample and its ``task.toml``."""
    return Path(str(resources.files(builtin.package)))
