"""How a template shows few-shot examples: its own input, from the lines that show the sample, and its own answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.templates._draft import Span, pieces_of, places_in
from psopt.templates._fields import touching
from psopt.templates._lines import newline_of
from psopt.templates._places import announcing_line
from psopt.templates._template import ExampleForm, Field
from psopt.text import label_pattern, names_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._answer_form import AnswerForm
    from psopt.templates._draft import Draft, DraftMessage
    from psopt.templates._lines import Line
    from psopt.templates._parts import PartSpan

_OPEN_END = re.compile(r"(?:[^\w<>\n]*(?:\w+[ \t]+){0,3}\w+[^\w<>\n]*:|<[A-Za-z_][\w.-]*>)$")
_DELIMITER = re.compile(r"(?P<mark>\"{3,}|'{3,}|-{3,}|={3,}|\*{3,}|`{3,}|~{3,}|#{3,}|<{3,}|>{3,})\w*\s*")
_JOINING = ("blank", "tag", "lead", "caption")
"""Kinds of lines that may stand between fields of one block."""


@dataclass(frozen=True, slots=True)
class InputBlock:
    """Where a message shows its sample."""

    # The block that examples repeat, including its leading line and enclosing tags
    start: int
    end: int
    top: int  # where examples go: the block's start, or that of the heading or instruction which opens it
    tail: tuple[int, int]  # an open end after the block, such as ``Answer:``; empty if there is none


def input_block(message: DraftMessage, lines: Sequence[Line], parts: Sequence[PartSpan]) -> InputBlock | None:
    """Find the last block of fields in a message; None if it has no fields.

    Examples don't repeat what is rephrased, and the block's leading line does not count if there is a place between the
    two where the author wants edits.
    """
    text, fields = message.text, message.fields
    places = [(field.start, field.end) for field in fields]
    rows = [row for row, line in enumerate(lines) if touching(line.outer_start, line.outer_end, places)]
    if not rows:
        return None
    first = last = rows[-1]
    for above in reversed(rows[:-1]):
        if any(line.kind not in _JOINING for line in lines[above + 1 : first]):
            break
        first = above
    first, last = _with_tags(text, lines, *_with_delimiters(lines, first, last))
    start, end = lines[first].outer_start, lines[last].outer_end
    top = first
    parted = any(lines[first - 1].outer_start <= slot.start <= start for slot in message.slots)
    if first and lines[first - 1].kind == "lead" and not parted:
        first -= 1
        start, top = lines[first].outer_start, first
    opening = _opening_row(text, lines, top)
    tail = _open_end(lines, last)
    if lines[opening].kind == "heading" and text[tail[0] : tail[1]].startswith("#"):
        start = lines[opening].outer_start  # sections of input and of answer: an example has both
    shared = [part for part in parts if part.start < end and start < part.end]
    if shared:
        # Examples don't repeat an instruction on the same line.
        after = (field.start for field in fields if field.start >= shared[-1].end and field.end <= end)
        start = min(after, default=end)
    return InputBlock(start, end, lines[opening].outer_start, tail)


def _with_delimiters(lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Include the pair of lines that quote the block: three quotes, dashes, or a code fence."""
    if first and last + 1 < len(lines):
        opening, closing = _DELIMITER.fullmatch(lines[first - 1].text), _DELIMITER.fullmatch(lines[last + 1].text)
        if opening and closing and opening["mark"] == closing["mark"]:
            return first - 1, last + 1
    return first, last


def _with_tags(text: str, lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Include the tags that enclose the block, one pair per step, and those that close what the block opens."""
    while last + 1 < len(lines) and lines[last + 1].kind == "tag":
        closes = re.match(r"</([\w.-]+)>", lines[last + 1].text)
        block = text[lines[first].outer_start : lines[last].outer_end]
        if closes is None or block.count(f"<{closes[1]}") <= block.count(f"</{closes[1]}>"):
            break
        last += 1
    while first and last + 1 < len(lines) and lines[first - 1].kind == lines[last + 1].kind == "tag":
        name = re.match(r"<([\w.-]+)", lines[first - 1].text)
        if name is None or lines[last + 1].text != f"</{name[1]}>":
            break
        first, last = first - 1, last + 1
    return first, last


def _opening_row(text: str, lines: Sequence[Line], row: int) -> int:
    """The row of the heading, or of the paragraph ending in a colon, that opens a block."""
    above = next((above for above in reversed(range(row)) if lines[above].kind != "blank"), None)
    if above is None:
        return row
    if lines[above].kind in ("lead", "prose", "output") and text[: lines[above].end].rstrip().endswith(":"):
        while above and lines[above - 1].kind not in ("blank", "heading", "tag", "fence"):
            above -= 1
        return above
    return above if lines[above].kind == "heading" else row


def _open_end(lines: Sequence[Line], last: int) -> tuple[int, int]:
    below = [line for line in lines[last + 1 :] if line.kind != "blank"][-1:]
    return (below[0].outer_start, below[0].outer_end) if below and _OPEN_END.match(below[0].text) else (0, 0)


def example_form(
    draft: Draft,
    block: InputBlock | None,
    answer: AnswerForm,
    labels: Sequence[str],
    *,
    appended: Sequence[str | Field],
    has_parts: bool,
    turns: bool,
) -> ExampleForm:
    """Return the form of an example; `turns` says whether it is two turns, like those that the prompt shows.

    `block` is where the user's last message shows the sample, None if psopt puts it at the end, as `appended`;
    `has_parts` says whether that message also holds instructions.
    """
    message = draft.messages[draft.last_user]
    text = message.text
    answer = replace(answer, output=_shown_answer(draft, labels) or answer.output)
    if block is None:
        pieces = tuple(appended)
        if announced := announcing_line(text):
            pieces = (f"{announced}\n", *appended)
        gap = _gap("", "", answer)
    else:
        start, end = block.start, block.end
        if turns and not has_parts:
            start, end = 0, len(text)
        elif turns:
            end = block.tail[1] or block.end
        pieces = _pieces(message, start, end)
        gap = _gap(text[start:end], _tail(text, block), answer, ends_in_field=isinstance(pieces[-1], Field))
    return ExampleForm(pieces, gap, answer.output, answer.key, answer.keys, turns)


def fields_as_lines(names: Sequence[str]) -> list[str | Field]:
    """Show columns for which a prompt has no form: a single one as is, several as ``name: value``, one per line."""
    fields = [Field(name, f"{{{name}}}", written=False) for name in names]
    if len(fields) == 1:
        return [*fields]
    pieces: list[str | Field] = []
    separator = ""
    for field in fields:
        pieces += [f"{separator}{field.name}: ", field]
        separator = "\n"
    return pieces


def _pieces(message: DraftMessage, start: int, end: int) -> tuple[str | Field, ...]:
    inside = [
        Span(field.start - start, field.end - start, field.pieces)
        for field in message.fields
        if start <= field.start and field.end <= end
    ]
    if inside:
        return tuple(piece for piece in pieces_of(message.text[start:end], inside) if isinstance(piece, str | Field))
    # Fields that stand within an instruction: an example shows them one per line.
    names = dict.fromkeys(field.name for field in places_in(message.fields, Field))
    return tuple(fields_as_lines(list(names)))


def _tail(text: str, block: InputBlock) -> str:
    """From the block's end to the end of the open line after it; only the line if other text stands between."""
    start, end = block.tail
    if start == end:
        return ""
    between = text[block.end : start]
    if between.strip():
        between = "\n"
    return between + text[start:end].rstrip()


def _gap(shown: str, tail: str, answer: AnswerForm, *, ends_in_field: bool = True) -> str:
    """What separates the answer from an input that is shown like this."""
    mark = tail.strip()
    if tail.endswith(">"):
        return tail.removesuffix(mark) if answer.output.startswith(mark) else tail
    if mark.startswith("#"):
        return f"{tail}\n"
    if tail:
        return f"{tail} "
    if shown[-1:].isalnum() and not answer.speaks and not ends_in_field:
        return " "  # an open sentence: "The sentiment is"
    gap = newline_of(shown)
    if gap * 2 in shown:  # after several paragraphs, the answer is one more
        gap *= 2
    return gap if answer.speaks else f"{gap}Answer: "  # which every reader of answers skips


def _shown_answer(draft: Draft, labels: Sequence[str]) -> str:
    """The form of the assistant's turns, with ``{label}`` for the label; empty if they are JSON or have many lines."""
    for message in draft.messages[: draft.last_user]:
        text = message.text.strip()
        if message.role != "assistant" or not text or "\n" in text or text.startswith("{"):
            continue
        named = [label for label in labels if names_label(text, label, match_case=True)]
        if len(named) == 1:
            return label_pattern(named[0]).sub("{label}", text, count=1)
    return ""
