"""From a prompt's file to a template: fields, instructions, places for edits, the form of examples and answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.templates._answer_form import answer_form
from psopt.templates._draft import Draft, Span, check_on_rows, names_asked, pieces_of, places_in
from psopt.templates._example_form import (
    InputBlock,
    example_form,
    fields_as_lines,
    input_block,
    place_for,
    slot_at,
)
from psopt.templates._formats import check_is_no_chat, detect_format, read_draft
from psopt.templates._lines import field_spans, names_in
from psopt.templates._marks import check_is_ours, check_shows_data, without_marks
from psopt.templates._parts import parts_of
from psopt.templates._template import PART_BREAK, Field, Message, Part, Template, Unwritten
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from psopt.templates._template import SlotKind

_ORDER: tuple[SlotKind, ...] = ("definitions", "notes", "examples")
"""The order of sections at the same place, as in psopt's own form."""


@dataclass(frozen=True, slots=True)
class ReadTemplate:
    """The user's own prompt, as it was read.

    The `template` is None if the source is just the description of a task, around which psopt builds its own form. The
    `description` is the parts that are rephrased, joined by `PART_BREAK`. The `notes` are what the screen says: the
    format, where the text goes, how answers are read.
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
    rows: Iterable[tuple[str, Mapping[str, str]]] = (),
) -> ReadTemplate:
    """Read the user's own prompt from a file, or from a Python function given as ``MODULE:NAME``.

    `fields` are the columns of the data; `label_column` holds the label and is no field. The `prompt_format` is
    ``text``, ``openai``, ``promptfoo``, ``python`` or ``description``. It and `answer`, how answers are read, are
    detected if they are None. `inputs` are the columns that psopt puts at the end of a prompt without any field; by
    default the sample's text. On the `rows`, samples' ids and columns, a function must do nothing but insert them.

    Raises InputError if the source can't be read or is no prompt, names a column that the data don't have, has marks
    that are not balanced, or holds no instruction.
    """
    columns = [name for name in dict.fromkeys((*fields, "text")) if name != label_column]
    detected = detect_format(source, prompt_format, labels=labels, columns=columns)
    if detected == "psopt":
        raise InputError(f"prompt {source} is psopt's own JSON and no template of chat messages")
    draft = replace(read_draft(source, detected, columns), labels=tuple(labels), label_column=label_column)
    if detected == "python":  # its fields are known, and other braces are text
        check_on_rows(str(source), draft, rows)
    else:
        check_is_ours(source, draft, columns)
        if prompt_format is None:
            check_is_no_chat(source, draft)
        if prompt_format is None and fields:  # otherwise the columns are not known
            check_shows_data(source, draft, columns)
    how = "" if prompt_format else "; --prompt-format overrules"
    if detected == "description":
        note = f"prompt {source} names no field and not all labels: taken for the task's description{how}"
        return ReadTemplate(None, draft.messages[0].text, (note,), detected)
    try:
        template, description, notes = _compiled(draft, columns, answer, inputs)
    except InputError as error:
        raise InputError(f"prompt {source}: {error}") from error
    note = f"prompt {source}: format {detected}, {counted(len(draft.messages), 'message')}{how}"
    return ReadTemplate(template, description, (note, *notes), detected)


def named_fields(source: str | Path, prompt_format: str | None = None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names in a prompt's braces, before its data are known: the columns that the samples need.

    Names in quotes, code fences and JSON count only if they are among `columns`.

    Raises InputError if the source can't be read or is no prompt.
    """
    detected = detect_format(source, prompt_format, columns=columns)
    if detected == "python":
        return tuple(names_asked(str(source)))
    if detected in ("psopt", "description"):
        return ()
    draft = read_draft(source, detected)
    check_is_ours(source, draft, columns)  # before the data are read: what is not a field, no column is missing for
    names: dict[str, None] = {}
    for message in draft.messages:
        names |= dict.fromkeys(names_in(message.text, columns, double_braces=draft.double_braces))
    return tuple(names)


def _compiled(
    draft: Draft, columns: Sequence[str], answer: str | None, inputs: Sequence[str]
) -> tuple[Template, str, list[str]]:
    """The template, its description, and what the screen says about both."""
    messages = []
    for message in map(without_marks, draft.messages):
        if draft.origin.format != "python":
            label_column = "" if message.role == "assistant" else draft.label_column
            spans = field_spans(message.text, columns, label_column, draft.double_braces)
            message = replace(message, fields=tuple(spans))
        messages.append(message)
    appended = () if any(message.fields for message in messages) else tuple(fields_as_lines(inputs or ["text"]))
    draft = replace(draft, messages=tuple(messages), appended=appended)
    draft = replace(draft, parts=tuple(parts_of(draft)))
    twice = [kind for kind in draft.chosen if draft.chosen.count(kind) > 1]
    if twice:
        raise InputError(f"{{{{psopt.{twice[0]}}}}} stands in the prompt twice: edits have one place")
    form = answer_form(draft, answer)
    block = input_block(draft)
    example = example_form(draft, block, form)
    description = PART_BREAK.join(draft.messages[part.message].text[part.start : part.end] for part in draft.parts)
    notes = []
    if appended:
        notes.append(f"the prompt names no field: {', '.join(inputs) or 'the text'} goes to its end")
    notes.append(": ".join(filter(None, (f"answers are read as {form.spec}", form.why))))
    if draft.left_out:
        notes.append(f"not sent of the request in the file: {', '.join(draft.left_out)}")
    notes += draft.notes
    template = Template(_messages(draft, block, form.tag), form.spec, example, draft.response_format, draft.origin)
    return template, description, notes


def _messages(draft: Draft, block: InputBlock | None, answer_tag: str) -> tuple[Message, ...]:
    messages = draft.messages
    spans = [_author_spans(draft, index) for index in range(len(messages))]
    for kind in _ORDER:
        if kind in draft.chosen or (kind == "examples" and draft.has_turns):
            continue
        index, place = place_for(draft, block, kind)
        text = messages[index].text
        for part in draft.parts_in(index):
            if part.start < place.position < part.end:  # moves to the beginning of the part's line, or to its end
                line = text.rfind("\n", 0, part.start) + 1
                place = replace(place, position=line if place.before else part.end)
        elsewhere = "\n".join(message.text for number, message in enumerate(messages) if number != index)
        slot = slot_at(text, place, kind, elsewhere, answer_tag)
        spans[index].append(Span(place.position, place.position, (slot,)))
    last = draft.last_user
    has_user = messages[last].role == "user"
    sample = [Unwritten(piece) if isinstance(piece, str) else piece for piece in draft.appended]
    if sample and has_user:  # a paragraph of its own, at the end
        text = messages[last].text
        joint = "\n" if text.endswith("\n") else "\n\n"
        spans[last].append(Span(len(text), len(text), (Unwritten(joint), *sample)))
    compiled = [
        Message(message.role, pieces_of(message.text, own), message.name)
        for message, own in zip(messages, spans, strict=True)
    ]
    if sample and not has_user:
        compiled.append(Message("user", tuple(sample)))
    return tuple(compiled)


def _author_spans(draft: Draft, index: int) -> list[Span]:
    """What replaces stretches of a message's own text: the author's marks, fields, and the parts."""
    message = draft.messages[index]
    spans = [*message.slots, *message.seams]
    inside: list[Span] = []
    for number, part in enumerate(draft.parts):
        if part.message == index:
            held = message.fields_in(part.start, part.end)
            places = dict.fromkeys(places_in(held, Field))
            spans.append(Span(part.start, part.end, (Part(number, tuple(places)),)))
            inside += held
    spans += [field for field in message.fields if field not in inside]
    return spans
