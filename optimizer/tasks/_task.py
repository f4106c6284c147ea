"""What is classified: samples, labels, and what is known about the labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Source = Literal["local", "downloaded", "bundled", "file", "memory"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to classify.

    `label` is None where the data carry no labels; `subclass` is a finer label, where the data have one
    (TREC: ``date`` within ``Number``). `id` is unique within a task and stable from run to run.
    """

    id: str
    text: str
    label: str | None = None
    subclass: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Where the samples come from; written to run.json as `dataset`.

    `source` is ``local`` (found in PSOPT_DATA_DIR or the user's cache), ``downloaded``, ``bundled`` (psopt's
    own small sample in place of the real data), ``file`` (given by the user) or ``memory`` (built in Python).
    `sha256` digests the samples as used, labels and splits included.
    """

    name: str
    source: Source
    sha256: str
    note: str = ""
    """One plain line for the user, e.g. why the bundled sample takes the place of the real data."""


@dataclass(frozen=True, slots=True)
class Task:
    """A classification task: three disjoint splits of samples, and the words that describe it.

    Attributes
    ----------
    name : str
        Short name, used for run folders and studies.
    description : str
        The task description rho_0: the sentence(s) that rephrasings say differently.
    labels : tuple of str
        The classes, in the order in which prompts list them; at least two.
    train, val, test : tuple of Sample
        Edits are drawn from `train`, candidates compared on `val`, the front reported on `test`.
    definitions : mapping of label to str
        What each class means, for the *detail* strategy. May be empty or partial.
    subclasses : mapping of label to mapping of subclass to str
        Finer classes and what they mean. May be empty or partial.
    noun : str
        What one sample is called in prompts: ``text``, ``question``, ``review``.

    Raises
    ------
    DataError
        If there are fewer than two labels; if a label is empty, doubled or of several lines; if a definition
        or a sample names no label of the task; or if an id stands twice.
    """

    name: str
    description: str
    labels: tuple[str, ...]
    train: tuple[Sample, ...]
    val: tuple[Sample, ...]
    test: tuple[Sample, ...]
    info: DatasetInfo
    definitions: Mapping[str, str] = field(default_factory=dict)
    subclasses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    noun: str = "text"

    def __post_init__(self) -> None:
        """Refuse a task that can't be worked with."""
        where = f"task {self.name}"
        check_labels(where, self.labels)
        check_known(where, "definitions", self.definitions, self.labels)
        check_known(where, "subclasses", self.subclasses, self.labels)
        _check_samples(where, (*self.train, *self.val, *self.test), self.labels)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any] | Sequence[Any]],
        *,
        name: str = "task",
        description: str | None = None,
        noun: str = "text",
        labels: Sequence[str] = (),
        definitions: Mapping[str, str] | None = None,
        text_column: str | None = None,
        label_column: str | None = None,
        seed: int = 42,
    ) -> Task:
        """Build a task from records in memory: mappings with a text and a label, or (text, label) pairs.

        Columns and splits are as in a file (see `load_task`). Without `labels`, those found are taken in
        alphabetical order.

        Raises
        ------
        DataError
            If the records can't be used.

        Examples
        --------
        >>> words = "fine, good, lovely, sad, bad, awful".split(", ")
        >>> task = Task.from_records((word, "ok" if i < 3 else "not ok") for i, word in enumerate(words))
        >>> task.labels, len(task.train), len(task.val), len(task.test)
        (('not ok', 'ok'), 2, 2, 2)
        """
        from psopt.tasks._records import task_from_records
        from psopt.tasks._taskfile import TaskFile

        described = TaskFile(
            origin=name,
            name=name,
            description=description,
            noun=noun,
            labels=tuple(labels),
            definitions=dict(definitions or {}),
            text_column=text_column,
            label_column=label_column,
        )
        return task_from_records(records, described, seed=seed)

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        *,
        text_column: str | None = None,
        label_column: str | None = None,
        task_file: str | Path | None = None,
        test_file: str | Path | None = None,
        seed: int = 42,
    ) -> Task:
        """Build a task from a .csv file (or .tsv, .jsonl, .parquet); see `load_task`."""
        from psopt.tasks._load import load_task

        return load_task(
            Path(path),
            text_column=text_column,
            label_column=label_column,
            task_file=task_file,
            test_file=test_file,
            seed=seed,
        )


def check_labels(where: str, labels: Sequence[str]) -> None:
    """Raise DataError unless there are two labels or more, each one line of its own."""
    if len(labels) < 2:
        only = f"only {labels[0]!r}" if labels else "none"
        raise DataError(f"{where}: a classification needs at least two labels, and this has {only}")
    for label in labels:
        if not label.strip():
            raise DataError(f"{where}: a label is empty; give it a name")
        if len(label.splitlines()) > 1:
            raise DataError(f"{where}: label {label!r} holds a line break; write it on one line")
        if list(labels).count(label) > 1:
            raise DataError(f"{where}: label {label!r} stands twice; remove one")


def check_known(where: str, what: str, named: Iterable[str], labels: Sequence[str]) -> None:
    """Raise DataError if `what` names a label that is none."""
    for label in named:
        if label not in labels:
            hint = nearest(label, labels) or f"; the labels: {', '.join(labels)}"
            raise DataError(f"{where}: {what} name {label!r}, which is no label{hint}")


def _check_samples(where: str, samples: Sequence[Sample], labels: Sequence[str]) -> None:
    known, seen = {None, *labels}, set()
    for sample in samples:
        if sample.label not in known:
            raise DataError(f"{where}: sample {sample.id!r} has label {sample.label!r}, which is no label of the task")
        if sample.id in seen:
            raise DataError(f"{where}: id {sample.id!r} stands twice; ids must differ, from split to split too")
        seen.add(sample.id)
