"""Task files (TOML): the words that describe a task, and optionally where its data are."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from psopt.errors import DataError, InputError, nearest
from psopt.settings import listed
from psopt.tasks._answer_spec import AnswerSpec, check_answers
from psopt.tasks._cells import ColumnChoice, as_names
from psopt.tasks._hub import HubName, is_hub_name
from psopt.tasks._labels import check_classes
from psopt.text import read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence


class ReadingOptions(TypedDict, total=False):
    """How rows are read, in files and in memory; what is left out is as in the task file, or by default.

    Attributes
    ----------
    inputs : str or sequence of str
        The columns that a prompt is shown. With several, a sample's text is ``name: value``, one per line; a cell may
        be empty if another is not. Every other column except those of label, split and subclass is also a field of the
        sample (see `Row`).
    text_column, label_column : str
        Which columns hold the texts (short for one input) and the labels; by default, customary names are tried.
        Columns called ``id``, ``split`` (train, val, test) and ``subclass`` are used if they exist, in any case.
    answers : str
        ``label`` (default) or ``ordinal``: ordered labels, so that near answers count as near.
    order : sequence of str
        The labels from the least to the most; labels that are numbers need no order.
    skip_empty : bool
        Leave out rows without a text or a label, instead of refusing them; `info.note` says how many.
    pinned_column : str
        Which column says (true, 1, yes) that a sample must stay right; by default ``pinned``, if it exists. The gate of
        a run and `psopt.check` check these samples.
    """

    inputs: str | Sequence[str]
    text_column: str | None
    label_column: str | None
    answers: str | None
    order: Sequence[str]
    skip_empty: bool
    pinned_column: str | None


def as_in_a_file(options: ReadingOptions) -> dict[str, Any]:
    """The options as fields of a `TaskFile`; raises InputError for a name that is none of them."""
    for name in options:
        if name not in ReadingOptions.__annotations__:
            raise InputError(f"there is no option {name!r}{nearest(name, ReadingOptions.__annotations__)}")
    values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if isinstance(values.get("order"), str):
        values["order"] = listed(values["order"])
    for name in ("inputs", "order"):
        if name in values:
            values[name] = as_names(values[name], name)
    return values


@dataclass(frozen=True, slots=True)
class TaskFile:
    """What a task file says; what it leaves out is empty or None."""

    origin: str  # the file's path, or another source: named in messages, not a key of the file
    name: str | None = None
    description: str | None = None
    noun: str | None = None
    labels: tuple[str, ...] = ()  # in the order in which prompts list them; empty for alphabetical order
    definitions: dict[str, str] = field(default_factory=dict)
    subclasses: dict[str, dict[str, str]] = field(default_factory=dict)
    data: Path | HubName | None = None  # a data file, relative to the task file's folder; or a data set on the hub
    test: Path | None = None  # a data file likewise
    inputs: tuple[str, ...] = ()  # the columns that a prompt is shown
    text_column: str | None = None
    label_column: str | None = None
    answers: str | None = None  # what answers are, in the terms of ``--answers``: see `AnswerSpec`
    order: tuple[str, ...] = ()  # the labels from the least to the most, if answers are ordinal
    skip_empty: bool = False  # leave rows without a text or a label out
    pinned_column: str | None = None

    def __post_init__(self) -> None:
        """Refuse unknown types of answers."""
        check_answers(self.origin, self.answers, self.order)

    @property
    def spec(self) -> AnswerSpec:
        """What answers are."""
        return AnswerSpec.read(self.origin, self.answers)

    @property
    def columns(self) -> ColumnChoice:
        """The columns that are named."""
        return ColumnChoice(self.inputs, self.label_column, self.text_column, self.pinned_column)

    def overruled(self, options: ReadingOptions, test_file: str | Path | None = None) -> TaskFile:
        """The same with the caller's values, which take precedence; those that are empty or None were not given."""
        changes = {name: value for name, value in as_in_a_file(options).items() if options.get(name)}
        if not changes.keys().isdisjoint(("inputs", "text_column")):
            changes = {"inputs": (), "text_column": None, **changes}
        if test_file:
            changes["test"] = Path(test_file)
        return replace(self, **changes)


_LISTS = {
    "labels": 'texts, such as ["good", "bad"]',
    "order": 'labels, such as ["low", "medium", "high"]',
    "inputs": 'columns, such as ["subject", "body"]',
}
KEYS = tuple(key.name for key in fields(TaskFile) if key.name != "origin")


def read_task_file(path: Path) -> TaskFile:
    """Read a task file."""
    content = read_toml(path, error=DataError)
    for key in content:
        if key not in KEYS:
            hint = nearest(key, KEYS) or f"; known: {', '.join(KEYS)}"
            raise DataError(f"{path}: unknown key {key!r}{hint}")
    described = TaskFile(str(path), **{key: _value(path, key, value) for key, value in content.items()})
    if described.labels:
        check_classes(str(path), described.labels, described.definitions, described.subclasses)
    return described


def _value(path: Path, key: str, value: Any) -> Any:
    match key:
        case "labels" | "order" | "inputs":
            if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
                raise DataError(f"{path}: {key} must be a list of {_LISTS[key]}")
            return tuple(value if key == "inputs" else map(str.strip, value))
        case "definitions":
            return _table(path, key, value, '[definitions] and good = "praise"')
        case "subclasses":
            example = '[subclasses.good] and warm = "warm praise"'
            if not isinstance(value, dict):
                raise DataError(f"{path}: subclasses must be tables, such as {example}")
            return {label: _table(path, f"{key}.{label}", table, example) for label, table in value.items()}
        case "data" if is_hub_name(value):
            return HubName.read(value)
        case "data" | "test":
            return path.parent / _text(path, key, value)
        case "skip_empty" if not isinstance(value, bool):
            raise DataError(f"{path}: skip_empty must be true or false, not {value!r}")
        case "answers" if not isinstance(value, str):
            raise DataError(f"{path}: answers must be a text, such as {'number:1%'!r}")
        case "skip_empty" | "answers":
            return value
        case _:
            return _text(path, key, value)


def _table(path: Path, key: str, value: Any, example: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise DataError(f"{path}: {key} must be a table of texts, such as {example}")
    return {name: _text(path, f"{key}.{name}", text) for name, text in value.items()}


def _text(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{path}: {key} must be a text, not {value!r}")
    return " ".join(value.split())  # long texts may be written over several lines
