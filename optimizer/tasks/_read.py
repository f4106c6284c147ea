"""From the name of a data set, or a file, to the fields of a task."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, InputError
from psopt.tasks._answer_spec import LABEL, LABELS, ORDINAL
from psopt.tasks._builtin import BUILTINS, find_builtin
from psopt.tasks._cells import column_names, find_columns, is_empty
from psopt.tasks._download import DownloadError, Origin, data_folder, download, find_local
from psopt.tasks._files import check_file, read_rows
from psopt.tasks._formats import rows_of_frame
from psopt.tasks._hub import HubName, fetch_tables, is_hub_name
from psopt.tasks._labels import check_among, check_classes, in_order, scale_hint, several_hint, typo_hint
from psopt.tasks._promptfoo import EXPECTED, is_tests, read_tests
from psopt.tasks._references import labels_in, set_written, written_set
from psopt.tasks._row import DatasetInfo, inputs_of
from psopt.tasks._samples import SPLIT_NAMES, Placed, make_samples
from psopt.tasks._splits import draws_test, make_splits, normalised, pinned_note, rare_note
from psopt.tasks._taskfile import TaskFile, read_task_file
from psopt.text import shortened_list, shown_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from psopt.tasks._answer_spec import AnswerSpec
    from psopt.tasks._builtin import Builtin, TrainTest
    from psopt.tasks._cells import ColumnChoice
    from psopt.tasks._row import Record, Sample
    from psopt.tasks._samples import Table
    from psopt.tasks._splits import Splits

# What a prompt says where nobody has described the task; for other kinds of answers only the sample is known.
_OTHERWISE = "Give the answer that the {noun} asks for."
_DESCRIPTIONS = {
    LABEL: "Classify the {noun} into one of the given classes.",
    ORDINAL: "Classify the {noun} into one of the given classes.",
    LABELS: "Name all of the given classes that the {noun} belongs to.",
}
_WHOLE = re.compile(r"\A([+-]?\d+)\.0+\Z")
_MOST_NAMED = 5  # in one line


def assemble(described: TaskFile, splits: Splits, info: DatasetInfo, label_column: str = "") -> dict[str, Any]:
    """Put the fields of a `Task` together; not the task itself, since that class's methods call the loaders."""
    noun = described.noun or "text"
    notes = [pinned_note(splits)]
    spec = described.spec
    if spec.kind == LABELS:
        notes.append(_separator_hint(splits, spec))
    if not spec.is_open and info.source in ("file", "hub", "memory"):
        notes.append(rare_note(splits))
        if not described.labels:
            notes.append(typo_hint(Counter(splits.labels)))
    labels = _labels(described, splits)
    positions: tuple[float, ...] = ()
    if spec.kind == ORDINAL:
        labels, positions = in_order(described.origin, labels, described.order)
    elif described.answers is None:
        notes += [scale_hint(labels), several_hint(labels)]
    return {
        "name": info.name,
        "description": described.description or _DESCRIPTIONS.get(spec.kind, _OTHERWISE).format(noun=noun),
        "labels": labels,
        "train": splits.train,
        "val": splits.val,
        "test": splits.test,
        "info": replace(info.noted(*notes), sha256=_digest(splits)),
        "definitions": described.definitions,
        "subclasses": described.subclasses,
        "noun": noun,
        "label_column": label_column,
        "positions": positions,
        "answers": str(spec),
    }


def _labels(described: TaskFile, splits: Splits) -> tuple[str, ...]:
    if not described.spec.has_labels:
        if described.labels or described.definitions or described.subclasses:
            raise DataError(f"{described.origin}: answers are {described.spec}, which have no labels; leave them out")
        return ()
    in_data = sorted(set(_single_labels(splits.labels, described.spec)))
    labels = described.labels or tuple(in_data)
    if not labels:
        in_file = 'the labels in a task file (--task-file): labels = ["..", ".."]'
        inputs = next((", ".join(inputs_of(sample.text)) for sample in itertools.chain(*splits)), "") or "text"
        raise DataError(
            f"the data have no labels beside the inputs ({inputs}): name their column (--label-column), which no "
            f"prompt may show, or {in_file}"
        )
    check_classes(described.origin, labels, described.definitions, described.subclasses)
    check_among(described.origin, in_data, labels)
    return labels


def _single_labels(labels: Iterable[str], spec: AnswerSpec) -> Iterator[str]:
    return itertools.chain.from_iterable(labels_in(label, spec) for label in labels)


def _separator_hint(splits: Splits, spec: AnswerSpec) -> str:
    """Say that a separator parts no labels; otherwise return an empty text."""
    if not spec.detail or not splits.labels or any(len(set_written(label)) > 1 for label in splits.labels):
        return ""
    return f"no sample has several labels: is {spec.detail!r} what parts them?"


def _digest(splits: Splits) -> str:
    rows = []
    for split, samples in zip(splits._fields, splits, strict=True):
        rows += [(split, sample.id, sample.text, sample.label, sample.subclass) for sample in samples]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def left_out(tables: Sequence[Table], splits: Splits) -> list[str]:
    """Say what the user is told of the tables, and how many of their samples the splits leave out, and why."""
    notes = list(dict.fromkeys(itertools.chain.from_iterable(table.notes for table in tables)))
    samples = [sample for table in tables for sample, _ in table.placed]
    n_lost = len(samples) - sum(map(len, splits))
    if n_lost:
        kept = {normalised(sample.text) for sample in itertools.chain(*splits)}
        n_contradictory = sum(normalised(sample.text) not in kept for sample in samples)
        reasons = {
            "their texts stand more than once, or in another split": n_lost - n_contradictory,
            "their texts stand more than once, with different labels": n_contradictory,
        }
        notes += [f"{n:,} of {len(samples):,} samples are left out: {why}" for why, n in reasons.items() if n]
    return notes


def merge_alike(
    tables: Sequence[Sequence[Placed]], task_labels: Sequence[str], spec: AnswerSpec
) -> tuple[Sequence[Sequence[Placed]], str]:
    """Give labels that look the same one spelling, the task file's or else the most frequent plain one; and say so."""
    if not spec.has_labels:
        return tables, ""
    labels = [sample.label for sample, _ in itertools.chain(*tables) if sample.label is not None]
    sizes = Counter(_single_labels(labels, spec))
    seen = shown_signs if spec.kind == ORDINAL else _as_number  # on a scale, one number written in two ways is an error
    of_form: dict[str, str] = {}
    for name in task_labels:
        if of_form.setdefault(seen(name), name) != name:
            raise DataError(f"labels {of_form[seen(name)]!a} and {name!a} look the same; rename one")
    by_plainness = sorted(sizes, key=lambda name: (name != shown_signs(name), -sizes[name], name))
    spelling = {name: of_form.setdefault(seen(name), name) for name in by_plainness}
    changed = [name for name in spelling if spelling[name] != name]
    merges = [f"{name!a} ({sizes[name]:,}) is taken for {spelling[name]!a}" for name in changed]
    if not merges:
        return tables, ""

    def spelt(sample: Sample) -> Sample:
        if sample.label is None:
            return sample
        members = [spelling[name] for name in labels_in(sample.label, spec)]
        return replace(sample, label=written_set(members, task_labels) if spec.kind == LABELS else members[0])

    merged = [[Placed(spelt(sample), split) for sample, split in table] for table in tables]
    return merged, f"labels that look the same: {shortened_list(merges, _MOST_NAMED)}"


def _as_number(label: str) -> str:
    """What a label looks like; a whole number without its decimal zeros."""
    return _WHOLE.sub(r"\1", shown_signs(label))


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
    tables = [make_samples(source, rows, described, require_labels=require_labels)]
    if path := described.test:
        tables.append(make_samples(str(path), read_rows(path), described, require_labels=True))
    # Before texts are compared: one text under two spellings of a label is no contradiction.
    placed, merged_note = merge_alike([table.placed for table in tables], described.labels, described.spec)
    splits = make_splits(source, *placed, seed=seed, by_label=not described.spec.is_open)
    info = replace(info.noted(*left_out(tables, splits), merged_note), test_is_drawn=draws_test(*placed))
    return assemble(described, splits, info, tables[0].label_column)


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

    Splits without any label are left out where another has labels, as with the test splits of many contests.
    """
    if len(tables) == 1:
        return _rows(source, next(iter(tables.values()))), []
    unknown = [split for split in tables if SPLIT_NAMES.get(split.lower()) is None]
    used = {split: table for split, table in tables.items() if split not in unknown}
    if all(SPLIT_NAMES[split.lower()] != "train" for split in used):
        raise DataError(f"{source}: none of its splits is called train; its splits: {', '.join(tables)}")
    label = find_columns(source, column_names([table.features for table in used.values()]), choice).label
    labelled = [split for split, table in used.items() if label and _has_labels(source, table, label)]
    labelled_splits = {split: used[split] for split in labelled} or used
    notes = [f"the split {split!r} is left out: it is neither train, validation nor test" for split in unknown]
    notes += [f"the split {split!r} is left out: it has no labels" for split in used if split not in labelled_splits]
    return _rows(source, labelled_splits), notes


def _rows(source: str, tables: Any) -> list[Record]:
    rows = rows_of_frame(source, tables)
    if not rows:
        raise DataError(f"{source}: holds no rows")
    return rows


def _has_labels(source: str, table: Any, label: str) -> bool:
    rows = rows_of_frame(source, table.select_columns([label])) if label in table.features else ()
    return not all(is_empty(row.values[label]) for row in rows or ())


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
    """Read (train, test) from the sample that psopt ships for a built-in data set; raises UnknownNameError for another.

    >>> train, test = read_bundled("trec")
    >>> test[0].label
    'Number'
    """
    builtin = find_builtin(name)
    folder = builtin.bundled_folder
    labels = read_task_file(folder / "task.toml").labels
    return builtin.read_bundled(folder, dict(zip(builtin.codes, labels, strict=True)))
