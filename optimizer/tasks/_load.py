"""`load_task`: from a name or a file to a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.tasks._read import read_dataset
from psopt.tasks._task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_task(task: Task | str | Path) -> Task:
    """Return a task; a data set's name or file is loaded as `load_task` does.

    Raises InputError if it is none of these.
    """
    if isinstance(task, str | Path):
        return load_task(task)
    if not isinstance(task, Task):
        raise InputError(f"a task is expected, or a data set's name or file, not {type(task).__name__}")
    return task


def load_task(
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
) -> Task:
    """Load a classification task.

    Parameters
    ----------
    dataset : str or Path
        A built-in name (``trec``, ``cb``, ``rte``, ``dbpedia``, ``wos``), a .csv, .tsv, .jsonl or .parquet file, a
        promptfoo configuration with its tests, a .toml task file that names its data, or
        ``hf:ORG/NAME[:CONFIG][@REV]``: a data set on the Hugging Face hub (the extra ``hub``), whose splits are
        those that are called train, validation and test.
    inputs : str or sequence of str, optional
        The columns that a prompt is shown. Of several, a sample's text is ``name: value``, one per line; a cell may be
        empty where another is not. Every other column but those of label, split and subclass is a field of the
        sample too (see `Row`).
    text_column, label_column : str, optional
        Which columns hold the texts (short for one input) and the labels; by default customary names are looked for.
        Columns called ``id``, ``split`` (train, val, test) and ``subclass`` are used where there are any.
    task_file : path, optional
        TOML: what the task is called and described as, its labels and their definitions.
    test_file : path, optional
        Test samples in a file of their own, with the same columns.
    answers : str, optional
        ``label`` (default) or ``ordinal``: labels that stand in an order, so that near answers count as near.
    order : sequence of str, optional
        The labels from the least to the most; labels that are numbers need none.
    seed : int
        Seeds the splits: 60 : 20 : 20, or a fifth of the rest for val where test is given.
    strict_data : bool
        Fail where a built-in data set's files are not at hand, rather than use the bundled sample.
    require_labels : bool
        If False, data without labels are taken too: all samples are then in `val`, their labels None, and the
        task file must name the labels.
    skip_empty : bool
        Leave rows without a text or a label out, rather than refuse them; `info.note` says how many.
    pinned_column : str, optional
        Which column says (true, 1, yes) that a sample must stay right; by default ``pinned``, where there is one. The
        gate of a run and `psopt.check` look at these.
    skip_unread : bool
        Leave those assertions of a promptfoo configuration out that name no answer, rather than refuse them.

    Raises
    ------
    DataError, UnknownNameError, InputError
        If the data can't be used: one line that says what, where, and how to fix it.
    """
    fields = read_dataset(
        dataset,
        inputs=inputs,
        text_column=text_column,
        label_column=label_column,
        task_file=task_file,
        test_file=test_file,
        answers=answers,
        order=order,
        seed=seed,
        strict_data=strict_data,
        require_labels=require_labels,
        skip_empty=skip_empty,
        pinned_column=pinned_column,
        skip_unread=skip_unread,
    )
    return Task(**fields)
