"""From a prompt's file to a template: fields, instructions, places for edits, the form of examples and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.templates._compile import compile_draft
from psopt.templates._fields import names_in
from psopt.templates._foreign import check_is_ours
from psopt.templates._formats import detect_format, read_draft
from psopt.templates._function import names_asked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.templates._template import Template


@dataclass(frozen=True, slots=True)
class ReadTemplate:
    """The user's own prompt, as it was read.

    Attributes
    ----------
    template : Template or None
        None if the source is just the description of a task, around which psopt builds its own form.
    description : str
        The parts that are rephrased, joined by `PART_BREAK`.
    notes : tuple of str
        What the screen says: the format, where the text goes, how answers are read.
    format : str
    """

    template: Template | None
    description: str
    notes: tuple[str, ...]
    format: str


def read_template(
    source: str | Path,
    fields: Sequence[str],
    *,
    labels: Sequence[str],
    label_column: str = "",
    prompt_format: str | None = None,
    answer: str | None = None,
    inputs: Sequence[str] = (),
) -> ReadTemplate:
    """Read the user's own prompt.

    Parameters
    ----------
    source : str or Path
        A file, or a Python function as ``MODULE:NAME``.
    fields : sequence of str
        The columns of the data.
    labels : sequence of str
    label_column : str
        The column that holds the label, which is no field.
    prompt_format : str, optional
        ``text``, ``openai``, ``promptfoo``, ``python`` or ``description``; None to detect it.
    answer : str, optional
        How answers are read; None to detect it from the prompt.
    inputs : sequence of str
        The columns that psopt puts at the end of a prompt without any field; by default the sample's text.

    Raises
    ------
    InputError
        If the source can't be read or is no prompt, names a column that the data don't have, has marks that are not
        balanced, or holds no instruction.
    """
    columns = [name for name in dict.fromkeys((*fields, "text")) if name != label_column]
    detected = detect_format(source, prompt_format, labels=labels, columns=columns)
    if detected == "psopt":
        raise InputError(f"prompt {source} is psopt's own JSON and no template of chat messages")
    draft = read_draft(source, detected, columns)
    check_is_ours(source, draft, columns)
    how = "" if prompt_format else "; --prompt-format overrules"
    if detected == "description":
        note = f"prompt {source} names no field and not all labels: taken for the task's description{how}"
        return ReadTemplate(None, draft.messages[0].text, (note,), detected)
    try:
        template, description, notes = compile_draft(draft, columns, labels, label_column, answer, inputs)
    except InputError as error:
        raise InputError(f"prompt {source}: {error}") from error
    count = len(draft.messages)
    note = f"prompt {source}: format {detected}, {count} message{'s' if count > 1 else ''}{how}"
    return ReadTemplate(template, description, (note, *notes), detected)


def named_fields(source: str | Path, prompt_format: str | None = None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names in a prompt's braces, before its data are known: the columns that the samples need.

    Names in quotes, code fences and JSON count only if they are among `columns`.

    Raises
    ------
    InputError
        If the source can't be read or is no prompt.
    """
    detected = detect_format(source, prompt_format, columns=columns)
    if detected == "python":
        return tuple(names_asked(str(source)))
    if detected in ("psopt", "description"):
        return ()
    draft = read_draft(source, detected)
    names = [
        name
        for message in draft.messages
        for name in names_in(message.text, columns, double_braces=draft.double_braces)
    ]
    return tuple(dict.fromkeys(names))
