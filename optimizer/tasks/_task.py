"""What is classified: samples, labels, and what is known about the labels; loaded by name, or from a file."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from psopt.errors import DataError, InputError
from psopt.notebooks import card, folded, line, table
from psopt.settings import spelled_for_python
from psopt.tasks._answer_spec import LABEL, AnswerSpec
from psopt.tasks._builtin import BUILTINS, check_fields
from psopt.tasks._cells import as_names
from psopt.tasks._files import read_rows
from psopt.tasks._formats import is_frame, rows_of_frame
from psopt.tasks._labels import check_classes, check_positions, check_samples, number_of
from psopt.tasks._read import described_data, read_builtin, read_data, split_rows
from psopt.tasks._row import DatasetInfo, Record, Row
from psopt.tasks._samples import make_samples
from psopt.tasks._splits import class_sizes, subset
from psopt.tasks._taskfile import ReadingOptions, TaskFile, as_in_a_file

if TYPE_CHECKING:
    from psopt.tasks._row import Sample


_SPLITS = ("train", "val", "test")
# As many as fit on one screen of a notebook.
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
        The task description rho_0: the sentence(s) that rephrasings reword.
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
        The places of the labels on a scale, rising, if they are ordered; empty if they are not.
    answers : str
        What answers are, in the terms of ``--answers``: ``label``, ``ordinal``, ``labels:;``, ``number:1%``, ``text``.
        If they are not single labels, `Sample.label` holds the right answer: a JSON list of labels, a number, a text
        or a JSON list of texts that are all right.

    Raises
    ------
    DataError
        If there are fewer than two labels; if a label is empty, doubled or has several lines; if a definition
        or a sample names no label of the task; or if an id occurs twice.
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
        answers = f"{len(self.labels)} labels" if self.labels else f"answers {self.answers}"
        return f"<Task {self.name!r}: {answers}; {sizes}>"

    def _repr_html_(self) -> str:
        """The labels with their numbers of samples, and a few samples of train, as notebooks show them."""
        parts = [line(self.description), line(self.info.note)]
        if self.classes:
            sizes = [class_sizes(getattr(self, split)) for split in _SPLITS]
            of_labels: list[tuple[str | int, ...]] = [
                (label, *(of_split[label] for of_split in sizes), self.definitions.get(label, ""))
                for label in self.labels[:_LABELS_SHOWN]
            ]
            parts.append(table(("label", *_SPLITS, "what it means"), of_labels))
        if len(self.labels) > _LABELS_SHOWN:
            parts.append(line(f"and {len(self.labels) - _LABELS_SHOWN} labels more"))
        if self.train:
            shown = [(sample.id, sample.text, sample.label) for sample in self.train[:_SAMPLES_SHOWN]]
            parts.append(folded("samples of train", table(("id", self.noun, "label"), shown)))
        return card(repr(self)[1:-1], *parts)

    def __post_init__(self) -> None:
        """Refuse an unusable task."""
        for role in ("name", "description", "noun"):
            if not isinstance(value := getattr(self, role), str):
                raise InputError(f"{role} must be a text, not {value!r}")
        where = f"task {self.name}"
        if self.spec.has_labels:
            check_classes(where, self.labels, self.definitions, self.subclasses)
            check_positions(where, self.labels, self.positions)
        check_samples(where, self.samples, self.classes)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """All samples, of train, val and test."""
        return (*self.train, *self.val, *self.test)

    @property
    def spec(self) -> AnswerSpec:
        """What answers are."""
        return AnswerSpec.read(f"task {self.name}", self.answers)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, if every sample has one of them; empty if answers are not single labels."""
        return () if self.spec.is_open else self.labels

    def subset(self, samples: Sequence[Sample], n: int, *, seed: int) -> tuple[Sample, ...]:
        """Choose at most `n` samples, by class where there are classes; see `psopt.tasks.subset`."""
        return subset(samples, n, seed=seed, by_label=not self.spec.is_open)

    @property
    def order(self) -> tuple[str, ...]:
        """The order of the labels as it was given: empty if they have none, or are numbers ordered by value."""
        by_value = all(number_of(label) == place for label, place in zip(self.labels, self.positions, strict=False))
        return () if by_value or not self.positions else self.labels

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that every sample has, in the order of the data; ``text`` for plain texts."""
        of_samples = [sample.text.fields if isinstance(sample.text, Row) else ("text",) for sample in self.samples]
        if not of_samples:
            return ("text",)
        shared = set(of_samples[0]).intersection(*of_samples)
        return tuple(name for name in of_samples[0] if name in shared)

    @classmethod
    @spelled_for_python()
    def from_records(
        cls,
        records: Iterable[Any],
        *,
        name: str = "task",
        description: str | None = None,
        noun: str = "text",
        labels: Sequence[str] = (),
        definitions: Mapping[str, str] | None = None,
        seed: int = 42,
        **reading: Unpack[ReadingOptions],
    ) -> Task:
        """Build a task from records in memory: mappings with a text and a label, or (text, label) pairs.

        A DataFrame of pandas or Polars, an Arrow table and a Hugging Face ``Dataset`` are records too. The keys of a
        ``DatasetDict``, or of a dict of tables or lists, name the splits (train, validation, test). Numbers of classes
        in a dataset become their names.

        Columns and splits are as in a file (see `load_task`), and so is all that `ReadingOptions` holds. Without
        `labels`, those found are taken in alphabetical order.

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
            labels=as_names(labels, "labels"),
            definitions=dict(definitions or {}),
            **as_in_a_file(reading),
        )
        rows = rows_of_frame(name, records)
        if not isinstance(records, Iterable):
            raise DataError(f"{name}: give a list of records, not a {type(records).__name__}")
        if rows is None:
            rows = [_row(name, number, record) for number, record in enumerate(records, start=1)]
        if not rows:
            raise DataError(f"{name}: no records")
        return cls(**split_rows(name, rows, described, DatasetInfo(name, "memory", ""), seed=seed))

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
        return load_task(Path(path), **options)


def as_task(task: Task | str | Path, seed: int = 42) -> Task:
    """Return a task, by `load_task` if it is a data set's name or file; raise InputError if it is none of these."""
    if isinstance(task, str | Path):
        return load_task(task, seed=seed)
    if not isinstance(task, Task):
        raise InputError(f"a task is expected, or a data set's name or file, not {type(task).__name__}")
    return task


def load_task(
    dataset: str | Path,
    *,
    task_file: str | Path | None = None,
    test_file: str | Path | None = None,
    seed: int = 42,
    strict_data: bool = False,
    require_labels: bool = True,
    skip_unread: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Task:
    """Load a classification task.

    Parameters
    ----------
    dataset : str or Path
        A built-in name (``trec``, ``cb``, ``rte``, ``dbpedia``, ``wos``), a .csv, .tsv, .jsonl or .parquet file, a
        promptfoo configuration with its tests, a .toml task file that names its data, or
        ``hf:ORG/NAME[:CONFIG][@REV]``: a data set on the Hugging Face hub (the extra ``hub``), of which the splits
        called train, validation and test are used.
    task_file : path, optional
        TOML: the task's name and description, its labels and their definitions.
    test_file : path, optional
        Test samples in a file of their own, with the same columns.
    seed : int
        Seeds the splits: 60 : 20 : 20, or a fifth of the rest for val where test is given.
    strict_data : bool
        Fail if a built-in data set's files are not available, instead of using the bundled sample.
    require_labels : bool
        If False, data without labels are accepted too: all samples are then in `val`, their labels None, and the
        task file must name the labels.
    skip_unread : bool
        Leave out those assertions of a promptfoo configuration that name no answer, instead of refusing them.
    **reading
        Of `ReadingOptions` by name: ``inputs``, ``text_column``, ``label_column``, ``answers``, ``order``,
        ``skip_empty``, ``pinned_column``.

    Raises
    ------
    DataError, UnknownNameError, InputError
        If the data can't be used: one line that says what, where, and how to fix it.
    """
    name = str(dataset)
    if not name:
        raise InputError("--dataset is empty: give the name of a data set, or a file")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    if name in BUILTINS:
        options = {"task_file": task_file, "test_file": test_file, **as_in_a_file(reading)}
        inputs = options.pop("inputs", ())
        for option, value in options.items():
            if value or value == "":  # an empty name was given as well
                flag = f"--{option.replace('_', '-')}"
                raise InputError(f"{flag} is for data files, and {name} is built in; leave it out")
        check_fields(BUILTINS[name], inputs)
        parts = read_builtin(BUILTINS[name], seed=seed, strict=strict_data)
    else:
        place, described = described_data(name, task_file)
        described = described.overruled(reading, test_file)
        parts = read_data(place, described, seed=seed, require_labels=require_labels, skip_unread=skip_unread)
    return Task(**{**parts, "info": replace(parts["info"], split_seed=seed)})


def read_samples(
    path: Path,
    task: Task,
    *,
    inputs: str | Sequence[str] = (),
    text_column: str | None = None,
    label_column: str | None = None,
) -> tuple[Sample, ...]:
    """Read a task's samples from a data file, all with labels or all without; raises DataError for another label."""
    rows = read_rows(path)
    has_labels = label_column is None or any(label_column in row.values for row in rows)
    described = TaskFile(str(path), inputs=as_names(inputs), text_column=text_column, answers=task.answers)
    described = replace(described, label_column=label_column if has_labels else None)
    table = make_samples(str(path), rows, described, require_labels=False)
    samples = tuple(placed.sample for placed in table.placed)
    check_samples(str(path), samples, task.classes)
    return samples


def _row(source: str, number: int, record: Any) -> Record:
    where = f"record {number}"
    if isinstance(record, Mapping):
        return Record(where, record)
    if isinstance(record, Sequence) and not isinstance(record, str) and len(record) == 2:
        return Record(where, {"text": record[0], "label": record[1]})
    raise DataError(f"{source}, {where}: expected a mapping or a (text, label) pair, not {reprlib.repr(record)}")
