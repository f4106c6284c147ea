"""What `psopt.classify` is given: rows as the prompt names their columns, and a prompt that knows its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.runs import PromptSource, TaskPrompt
from psopt.tasks import LABEL, AnswerSpec, DatasetInfo, InputColumns, Row, Sample, Task, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Prompt


def input_columns(source: PromptSource, inputs: str | Sequence[str] = (), columns: Sequence[str] = ()) -> InputColumns:
    """The columns that rows are shown by: those that are named, else those of the prompt's run, else the prompt's.

    `columns` are those of the rows, as far as they are known: names that a prompt quotes count only among them.
    """
    columns_of_prompt = _columns(source, inputs, columns)
    is_own_form = source.prompt is not None and source.prompt.template is None
    return replace(columns_of_prompt, texts_alone=is_own_form)


def _columns(source: PromptSource, inputs: str | Sequence[str], columns: Sequence[str]) -> InputColumns:
    if inputs:
        return InputColumns((inputs,) if isinstance(inputs, str) else tuple(inputs))
    data = source.settings.data if source.settings else None
    if data and data.inputs:
        return InputColumns(data.inputs)
    named = source.fields_named(columns)
    if named:
        return InputColumns(candidates=named, text_column=data.text_column if data else None)
    task = source.task
    if task is None or task.info.source in {"file", "hub", "memory"}:
        return InputColumns(_inputs_of(task))
    return InputColumns.of_builtin(task.name)


def _inputs_of(task: Task | None) -> tuple[str, ...]:
    """The inputs of a task's samples; none where they are plain texts."""
    text = task.val[0].text if task and task.val else ""
    return text.inputs if isinstance(text, Row) else ()


def prompt_to_classify_with(source: PromptSource, labels: Sequence[str], texts: Sequence[str]) -> TaskPrompt:
    """Return the prompt with its own labels, or with those that are given for a text or messages that know none.

    Raises
    ------
    InputError
        If nothing says the labels, or the prompt can't be read.
    DataError
        If a row lacks a field that the prompt names.
    """
    knows_labels = source.prompt is not None or not labels
    read = TaskPrompt(source.with_labels()) if knows_labels else source.read_for(bare_task(labels, texts))
    named = read.prompt.template.fields if read.prompt.template else ()
    for number, text in enumerate(texts, start=1):
        fields = fields_of(text)
        missing = [name for name in named if name not in fields]
        if missing:
            raise DataError(
                f"row {number} has no column {missing[0]!r}, which the prompt names; its columns: {', '.join(fields)}"
            )
    return read


def bare_task(labels: Sequence[str], texts: Sequence[str], prompt: Prompt | None = None) -> Task:
    """A task that holds nothing but the texts to classify, unlabelled."""
    samples = tuple(Sample(str(index), text, None) for index, text in enumerate(texts))
    info = DatasetInfo("texts", "memory", "")
    description = prompt.description if prompt else ""
    noun = prompt.noun if prompt else "text"
    answers = str(AnswerSpec.of_form(prompt.asks)) if prompt else LABEL
    return Task("texts", description, tuple(labels), samples, (), (), info, noun=noun, answers=answers)
