"""How a template shows few-shot examples: its own input, and its own answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.templates._draft import Span, pieces_of
from psopt.templates._places import announcing_line
from psopt.templates._template import ExampleForm, Field
from psopt.text import label_pattern, names_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._answer_form import AnswerForm
    from psopt.templates._draft import Draft
    from psopt.templates._input_block import InputBlock


def example_form(
    draft: Draft,
    block: InputBlock | None,
    fields: Sequence[Span],
    answer: AnswerForm,
    labels: Sequence[str],
    *,
    appended: Sequence[str | Field] = (),
    has_parts: bool = False,
    turns: bool = False,
) -> ExampleForm:
    """Return the form of an example.

    Parameters
    ----------
    block : InputBlock or None
        Where the last message of the user's shows the sample; None where psopt puts it at the end, as `appended`.
    has_parts : bool
        Whether that message holds instructions, too.
    turns : bool
        Whether examples are turns, as those that the prompt shows.
    """
    text = draft.messages[draft.last_user].text
    shown = _shown_answer(draft, labels)
    output = shown or answer.output
    answer = replace(answer, output=output)
    if block is None:
        announced = announcing_line(text)
        pieces = [f"{announced}\n", *appended] if announced else appended
        return ExampleForm(tuple(pieces), _gap("", "", answer), output, answer.key, answer.keys, turns)
    if turns and not has_parts:
        start, end = 0, len(text)
    else:
        start, end = block.start, block.tail[1] if turns and block.tail[1] else block.end
    pieces = _pieces(text, start, end, fields)
    gap = _gap(text[start:end], _tail(text, block), answer, ends_in_field=isinstance(pieces[-1], Field))
    return ExampleForm(pieces, gap, output, answer.key, answer.keys, turns)


def fields_as_lines(names: Sequence[str]) -> list[str | Field]:
    """Show columns where a prompt has no form for them: one as it is, several as ``name: value``, one per line."""
    if len(names) == 1:
        return [Field(names[0], f"{{{names[0]}}}", written=False)]
    pieces: list[str | Field] = []
    for name in names:
        pieces += [f"\n{name}: " if pieces else f"{name}: ", Field(name, f"{{{name}}}", written=False)]
    return pieces


def has_turns(draft: Draft) -> bool:
    """Tell whether a draft shows examples as turns: an assistant answers before the user's last message."""
    return any(message.role == "assistant" for message in draft.messages[: draft.last_user])


def _pieces(text: str, start: int, end: int, fields: Sequence[Span]) -> tuple[str | Field, ...]:
    inside = [
        Span(field.start - start, field.end - start, field.pieces)
        for field in fields
        if start <= field.start and field.end <= end
    ]
    stretch = text[start:end]
    pieces = pieces_of(stretch, inside) if inside else _fields_alone(fields)
    return tuple(piece if isinstance(piece, Field) else str(piece) for piece in pieces)


def _fields_alone(fields: Sequence[Span]) -> tuple[Field | str, ...]:
    """Fields that stand within an instruction, as an example shows them: one per line."""
    names = dict.fromkeys(piece.name for span in fields for piece in span.pieces if isinstance(piece, Field))
    return tuple(fields_as_lines(list(names)))


def _tail(text: str, block: InputBlock) -> str:
    """From the block's end to the end of the open line after it; the line alone where more stands between."""
    start, end = block.tail
    if start == end:
        return ""
    between = text[block.end : start]
    return (between if not between.strip() else "\n") + text[start:end].rstrip()


def _gap(shown: str, tail: str, answer: AnswerForm, *, ends_in_field: bool = True) -> str:
    """What parts the answer from an input that is shown so."""
    if tail.endswith(">"):
        tag = tail.strip()
        return tail.removesuffix(tag) if answer.output.startswith(tag) else tail
    if tail:
        return f"{tail}\n" if tail.strip().startswith("#") else f"{tail} "
    if shown[-1:].isalnum() and not answer.speaks and not ends_in_field:
        return " "  # an open sentence: "The sentiment is"
    # An answer after several paragraphs is one more; "Answer:" is a word that any reader of answers skips.
    new = "\r\n" if "\r\n" in shown else "\n"
    return (new * 2 if new * 2 in shown else new) + ("" if answer.speaks else "Answer: ")


def _shown_answer(draft: Draft, labels: Sequence[str]) -> str:
    """The form of the assistant's turns, ``{label}`` in the label's place; nothing where they are JSON or long."""
    for message in draft.messages[: draft.last_user]:
        text = message.text.strip()
        if message.role != "assistant" or not text or "\n" in text or _is_json(text):
            continue
        named = [label for label in labels if names_label(text, label, match_case=True)]
        if len(named) == 1:
            return label_pattern(named[0]).sub("{label}", text, count=1)
    return ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
