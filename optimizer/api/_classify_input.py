"""What `psopt.classify` is given: rows as the prompt names their columns, and a prompt that knows its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks import DatasetInfo, InputColumns, Row, Sample, Task, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import PromptSource
    from psopt.search_spaces import Prompt


def input_columns(source: PromptSource, inputs: str | Sequence[str] = (), columns: Sequence[str] = ()) -> InputColumns:
    """The columns that rows are shown by: those that are named, else those of the prompt's run, else the prompt's.

    `columns` are those of the rows, as far as they are known: names that a prompt quotes count only among them.
    """
    if inputs:
        return InputColumns((inputs,) if isinstance(inputs, str) else tuple(inputs))
    data = source.settings.data if source.settings else None
    if data and data.inputs:
        return InputColumns(data.inputs)
    named = source.fields_named(columns)
    if named:
        return InputColumns(candidates=named, text_column=data.text_column if data else None)
    of_run = source.task.val[0].text if source.task and source.task.val else ""
    return InputColumns(of_run.inputs) if isinstance(of_run, Row) else InputColumns()


def prompt_to_classify_with(source: PromptSource, labels: Sequence[str], texts: Sequence[str]) -> Prompt:
    """Return the prompt: its own labels, or those that are given for a text or messages that know none.

    Raises
    ------
    InputError
        If nothing says the labels, or the prompt can't be read.
    DataError
        If a row lacks a field that the prompt names.
    """
    knows_labels = source.prompt is not None or not labels
    prompt = source.with_labels() if knows_labels else source.for_task(bare_task(labels, texts))
    named = prompt.template.fields if prompt.template else ()
    for number, text in enumerate(texts, start=1):
        fields = fields_of(text)
        missing = [name for name in named if name not in fields]
        if missing:
            raise DataError(
                f"row {number} has no column {missing[0]!r}, which the prompt names; its columns: {', '.join(fields)}"
            )
    return prompt


def bare_task(labels: Sequence[str], texts: Sequence[str], prompt: Prompt | None = None) -> Task:
    """A task that holds nothing but the texts to classify, unlabelled."""
    samples = tuple(Sample(str(index), text, None) for index, text in enumerate(texts))
    info = DatasetInfo("texts", "memory", "")
    description = prompt.description if prompt else ""
    noun = prompt.noun if prompt else "text"
    return Task("texts", description, tuple(labels), samples, (), (), info, noun=noun)
