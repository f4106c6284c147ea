"""From split samples and the words that describe them to the fields of a task."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._answer_spec import LABEL, LABELS, ORDINAL
from psopt.tasks._labels import check_among, check_classes, in_order, scale_hint, several_hint, typo_hint
from psopt.tasks._references import labels_in, set_written, written_set
from psopt.tasks._samples import Placed
from psopt.tasks._splits import normalised, pinned_note, rare_note, relabelled
from psopt.text import shortened_list, shown_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.tasks._answer_spec import AnswerSpec
    from psopt.tasks._data import DatasetInfo
    from psopt.tasks._samples import Table
    from psopt.tasks._splits import Splits
    from psopt.tasks._taskfile import TaskFile


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
    """Put the fields of a `Task` together; not the task itself, since that class's methods call the loaders.

    `info` lacks the digest and the notes on the samples. The default labels are the samples', in alphabetical order.
    """
    noun = described.noun or "text"
    notes = [pinned_note(splits)]
    spec = described.spec
    if spec.kind == LABELS:
        notes.append(_separator_hint(splits, spec))
    if not spec.is_open and info.source in ("file", "hub", "memory"):
        notes.append(rare_note(splits))
        if not described.labels:
            notes.append(typo_hint(Counter(splits.labels)))
    labels, splits = _labels(described, splits)
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


def _labels(described: TaskFile, splits: Splits) -> tuple[tuple[str, ...], Splits]:
    """The task's labels, and the samples with sets of labels written in the labels' order."""
    if not described.spec.has_labels:
        if described.labels or described.definitions or described.subclasses:
            raise DataError(f"{described.origin}: answers are {described.spec}, which have no labels; leave them out")
        return (), splits
    spec = described.spec
    in_data = sorted(set(_single_labels(splits.labels, spec)))
    labels = described.labels or tuple(in_data)
    if not labels:
        in_file = 'the labels in a task file (--task-file): labels = ["..", ".."]'
        raise DataError(f"the data have no labels: name their column (--label-column), or {in_file}")
    check_classes(described.origin, labels, described.definitions, described.subclasses)
    check_among(described.origin, in_data, labels)
    if spec.kind == LABELS:
        splits = splits.relabelled(lambda text: written_set(set_written(text), labels))
    return labels, splits


def _single_labels(labels: Iterable[str], spec: AnswerSpec) -> Iterator[str]:
    """The labels of samples, those of a set one by one."""
    return itertools.chain.from_iterable(labels_in(label, spec) for label in labels)


def _separator_hint(splits: Splits, spec: AnswerSpec) -> str:
    """Say that a separator parts no labels; otherwise return an empty text."""
    if not spec.detail or not splits.labels or any(len(set_written(label)) > 1 for label in splits.labels):
        return ""
    return f"no sample has several labels: is {spec.detail!r} what parts them?"


def _digest(splits: Splits) -> str:
    """Digest the samples as used."""
    rows = []
    for split, samples in zip(splits._fields, splits, strict=True):
        rows += [(split, sample.id, sample.text, sample.label, sample.subclass) for sample in samples]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def left_out(tables: Sequence[Table], splits: Splits) -> list[str]:
    """Say, one fact per line, how many samples of the data the splits leave out, and why."""
    coded = {(table.label_column, table.code_column): None for table in tables if table.code_column}
    notes = [f"the labels are those of column {name!r}, which names the codes of {code!r}" for name, code in coded]
    n_without_text = sum(table.n_without_text for table in tables)
    n_without_label = sum(table.n_without_label for table in tables)
    for missing_value, n_rows in (("a text", n_without_text), ("a label", n_without_label)):
        if n_rows:
            are = "row without {} is" if n_rows == 1 else "rows without {} are"
            notes.append(f"{n_rows:,} {are.format(missing_value)} left out")
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
    """Give labels that look the same one spelling, the task file's or else the most frequent; and say so."""
    if not spec.has_labels:
        return tables, ""
    labels = [sample.label for sample, _ in itertools.chain(*tables) if sample.label is not None]
    sizes = Counter(_single_labels(labels, spec))
    seen = shown_signs if spec.kind == ORDINAL else _as_number  # on a scale, one number written in two ways is an error
    of_form: dict[str, str] = {}
    for name in task_labels:
        if of_form.setdefault(seen(name), name) != name:
            raise DataError(f"labels {of_form[seen(name)]!a} and {name!a} look the same; rename one")
    by_frequency = sorted(sizes, key=lambda name: (-sizes[name], name))
    spelling = {name: of_form.setdefault(seen(name), name) for name in by_frequency}
    changed = [name for name in spelling if spelling[name] != name]
    merges = [f"{name!a} ({sizes[name]:,}) is taken for {spelling[name]!a}" for name in changed]
    if not merges:
        return tables, ""

    def spelt(label: str) -> str:
        if spec.kind != LABELS:
            return spelling[label]
        names = {spelling[name] for name in set_written(label)}
        return written_set(names, sorted(names))

    merged = [[Placed(relabelled(sample, spelt), split) for sample, split in table] for table in tables]
    return merged, f"labels that look the same: {shortened_list(merges, _MOST_NAMED)}"


def _as_number(label: str) -> str:
    """What a label looks like; a whole number without its decimal zeros."""
    return _WHOLE.sub(r"\1", shown_signs(label))
