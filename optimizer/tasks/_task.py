"""What is classified: samples, labels, and what is known about the labels."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.notebooks import card, folded, line, table
from psopt.tasks._answer_spec import LABEL, AnswerSpec
from psopt.tasks._assemble import assemble, left_out
from psopt.tasks._checks import check_classes, check_positions, check_samples
from psopt.tasks._columns import as_names
from psopt.tasks._formats import Record
from psopt.tasks._frames import is_frame, rows_of_frame
from psopt.tasks._ordered import told_again
from psopt.tasks._read import read_dataset
from psopt.tasks._row import Row
from psopt.tasks._samples import make_samples
from psopt.tasks._splits import draws_test, make_splits
from psopt.tasks._taskfile import TaskFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.tasks._assemble import TaskFields
    from psopt.tasks._data import DatasetInfo, Sample


_SPLITS = ("train", "val", "test")
# What fits on a screen of a notebook.
_LABELS_SHOWN = 30
_SAMPLES_SHOWN = 5


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
        The classes, in the order in which prompts list them; at least two, or none where answers have none.
    train, val, test : tuple of Sample
        Edits are drawn from `train`, candidates compared on `val`, the front reported on `test`.
    definitions : mapping of label to str
        What each class means, for the *detail* strategy. May be empty or partial.
    subclasses : mapping of label to mapping of subclass to str
        Finer classes and what they mean. May be empty or partial.
    noun : str
        What one sample is called in prompts: ``text``, ``question``, ``review``.
    label_column : str
        The column that held the labels, which no prompt may name; empty where there was none.
    positions : tuple of float
        Where the labels stand on a scale, rising, where they are ordered; empty where they are not.
    answers : str
        What answers are, as ``--answers`` takes it: ``label``, ``ordinal``, ``labels:;``, ``number:1%``, ``text``.
        Where they are no single label, `Sample.label` holds what is right: a JSON list of labels, a number, a text or
        a JSON list of texts that are all right.

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
    label_column: str = ""
    positions: tuple[float, ...] = ()
    answers: str = LABEL

    def __repr__(self) -> str:
        """The name and the sizes: samples would fill screens."""
        sizes = ", ".join(f"{len(getattr(self, split))} {split}" for split in _SPLITS)
        what = f"{len(self.labels)} labels" if self.labels else f"answers {self.answers}"
        return f"<Task {self.name!r}: {what}; {sizes}>"

    def _repr_html_(self) -> str:
        """The labels with their numbers of samples, and a few samples of train, as notebooks show them."""
        of_labels = [_row_of_label(self, label) for label in self.labels[:_LABELS_SHOWN]]
        hidden = len(self.labels) - len(of_labels)
        shown = [(sample.id, sample.text, sample.label) for sample in self.train[:_SAMPLES_SHOWN]]
        counted = table(("label", *_SPLITS, "what it means"), of_labels) if of_labels and not self.spec.is_open else ""
        return card(
            repr(self)[1:-1],
            line(self.description),
            line(self.info.note),
            counted,
            line(f"and {hidden} labels more" if hidden > 0 else ""),
            folded("samples of train", table(("id", self.noun, "label"), shown)) if shown else "",
        )

    def __post_init__(self) -> None:
        """Refuse a task that can't be worked with."""
        where = f"task {self.name}"
        samples = (*self.train, *self.val, *self.test)
        if self.spec.has_labels:
            check_classes(where, self.labels, self.definitions, self.subclasses)
            check_positions(where, self.labels, self.positions)
        check_samples(where, samples, None if self.spec.is_open else self.labels)

    @property
    def spec(self) -> AnswerSpec:
        """What answers are."""
        return AnswerSpec.read(f"task {self.name}", self.answers)

    @property
    def order(self) -> tuple[str, ...]:
        """The order of the labels as it was told: empty where they have none, or are numbers that stand by value."""
        return told_again(self.labels, self.positions) if self.positions else ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that every sample has, in the order of the data; ``text`` for plain texts."""
        of_samples = [_columns(sample.text) for sample in (*self.train, *self.val, *self.test)]
        if not of_samples:
            return ("text",)
        shared = set(of_samples[0]).intersection(*map(set, of_samples))
        return tuple(name for name in of_samples[0] if name in shared)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Any],
        *,
        name: str = "task",
        description: str | None = None,
        noun: str = "text",
        labels: Sequence[str] = (),
        definitions: Mapping[str, str] | None = None,
        inputs: str | Sequence[str] = (),
        text_column: str | None = None,
        label_column: str | None = None,
        answers: str | None = None,
        order: Sequence[str] = (),
        seed: int = 42,
        skip_empty: bool = False,
        pinned_column: str | None = None,
    ) -> Task:
        """Build a task from records in memory: mappings with a text and a label, or (text, label) pairs.

        A DataFrame of pandas or Polars, an Arrow table and a Hugging Face ``Dataset`` are records too; a
        ``DatasetDict``, or a dict of tables, gives the splits by its keys (train, validation, test). Classes that a
        dataset numbers get their names.

        Columns and splits are as in a file (see `load_task`), and so are `answers`, `order`, `skip_empty` and
        `pinned_column`. Without `labels`, those found are taken in alphabetical order.

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
        described = TaskFile(
            origin=name,
            name=name,
            description=description,
            noun=noun,
            labels=tuple(labels),
            definitions=dict(definitions or {}),
            inputs=as_names(inputs),
            text_column=text_column,
            label_column=label_column,
            skip_empty=skip_empty,
            pinned_column=pinned_column,
        )
        return cls(**_fields_of_records(records, described.answered(answers, order), seed=seed))

    @classmethod
    def from_pandas(cls, frame: Any, **options: Any) -> Task:
        """Build a task from a pandas DataFrame; `options` are those of `from_records`.

        Raises
        ------
        DataError
            If it is no DataFrame, or its rows can't be used.
        """
        if not is_frame(frame):
            shown = type(frame).__name__
            raise DataError(f"{options.get('name', 'task')}: a DataFrame is expected, not {shown}; see from_records")
        return cls.from_records(frame, **options)

    @classmethod
    def from_csv(cls, path: str | Path, **options: Any) -> Task:
        """Build a task from a .csv file (or .tsv, .jsonl, .parquet); `options` are those of `load_task`."""
        return cls(**read_dataset(Path(path), **options))


def _columns(text: str) -> Iterable[str]:
    return text.fields if isinstance(text, Row) else ("text",)


def _row_of_label(task: Task, label: str) -> tuple[str | int, ...]:
    """How many samples of each split have a label, and what it means."""
    counts = [sum(sample.label == label for sample in getattr(task, split)) for split in _SPLITS]
    return (label, *counts, task.definitions.get(label, ""))


def _fields_of_records(records: Iterable[Any], described: TaskFile, *, seed: int) -> TaskFields:
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
