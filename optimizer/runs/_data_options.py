"""Where a task's data are, and how they are read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks import is_hub_name, load_task

if TYPE_CHECKING:
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class DataOptions:
    """What `psopt.load_task` is given.

    Attributes
    ----------
    dataset : str
        A built-in name, ``hf:ORG/NAME[:CONFIG][@REV]``, or a file.
    text_column, label_column : str or None
    task_file, test_file : str or None
    strict_data : bool
        Fail rather than use the bundled sample.
    folder : str
        What names of files are relative to: where a run was started. Empty for the current folder.
    inputs : tuple of str
        The columns that a sample is made of; empty for the text column alone.
    answers : str or None
        What answers are (`AnswerSpec`); None for what the task file says.
    order : tuple of str
        The labels from the least to the most.
    skip_empty : bool
        Leave rows without a text or a label out.
    pinned_column : str or None
        The column that says which samples must stay right.
    """

    dataset: str
    text_column: str | None = None
    label_column: str | None = None
    task_file: str | None = None
    test_file: str | None = None
    strict_data: bool = False
    folder: str = ""
    inputs: tuple[str, ...] = ()
    answers: str | None = None
    order: tuple[str, ...] = ()
    skip_empty: bool = False
    pinned_column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON data; those that psopt 0.1 did not know only where they say something."""
        data = asdict(self)
        newer = {
            "inputs": list(self.inputs),
            "answers": self.answers,
            "order": list(self.order),
            "skip_empty": self.skip_empty,
            "pinned_column": self.pinned_column,
        }
        return {**{name: value for name, value in data.items() if name not in newer}, **_said(newer)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> DataOptions:
        """Build the options from `to_dict`'s data."""
        return cls(**{**data, "inputs": tuple(data.get("inputs", ())), "order": tuple(data.get("order", ()))})

    def load(self, seed: int, *, require_labels: bool = True) -> Task:
        """Load the task; `seed` decides how samples without a split are split.

        Raises
        ------
        DataError
            If the data can't be used; of files that are gone it is said where they were.
        """
        is_file = bool(Path(self.dataset).suffix) and not is_hub_name(self.dataset)
        for name in (self.dataset if is_file else None, self.task_file, self.test_file):
            self._check_there(name)
        return load_task(
            str(self.located(self.dataset) if is_file else self.dataset),
            inputs=self.inputs,
            text_column=self.text_column,
            label_column=self.label_column,
            task_file=self.located(self.task_file),
            test_file=self.located(self.test_file),
            answers=self.answers,
            order=self.order,
            seed=seed,
            strict_data=self.strict_data,
            require_labels=require_labels,
            skip_empty=self.skip_empty,
            pinned_column=self.pinned_column,
        )

    def located(self, name: str | None) -> str | None:
        """A file of the data: where it was when the run was started, or as it is named here."""
        if name is None or not self._is_elsewhere:
            return name
        there = Path(self.folder) / name
        return str(there) if there.is_file() else name

    @property
    def _is_elsewhere(self) -> bool:
        return bool(self.folder) and Path(self.folder) != Path.cwd()

    def _check_there(self, name: str | None) -> None:
        if name is not None and self._is_elsewhere and not Path(str(self.located(name))).exists():
            raise DataError(
                f"{name} is neither where the run was started ({self.folder}), nor here: put it back, or go where it is"
            )


def _said(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}
