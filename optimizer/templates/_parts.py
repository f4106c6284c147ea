"""Which stretches of a prompt are rephrased: those that the author marked, else the instructions that a rule finds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.templates._instructions import (
    instruction_beside_field,
    instructions_in,
    instructions_in_list,
    leading_instructions,
)
from psopt.templates._literals import fences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import Draft, Span
    from psopt.templates._instructions import Stretch

_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_ITEM = re.compile(r"^[ \t]*(?:(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+)?", re.MULTILINE)
_ITEM_START = re.compile(r"^[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PartSpan:
    """A stretch of one message's text that is rephrased."""

    message: int
    start: int
    end: int


def parts_of(draft: Draft, fields: Sequence[Sequence[Span]], labels: Sequence[str]) -> list[PartSpan]:
    """Find what is rephrased, in the prompt's order.

    Raises InputError if no instruction is found, or marks are not balanced.
    """
    marked = _marked(draft)
    if marked is not None:
        return marked
    indices = _with_instructions(draft)
    # An author may give the instructions in the first of the turns that show examples.
    first_user = [index for index, message in enumerate(draft.messages) if message.role == "user"][:1]
    parts = _leading(draft, indices, fields, labels) or _leading(draft, first_user, fields, labels)
    if not parts:
        raise InputError("no instruction found in the prompt: mark what is to be rephrased by <rephrase>..</rephrase>")
    return [_before_edges(draft, part) for part in parts]


def _before_edges(draft: Draft, part: PartSpan) -> PartSpan:
    """A part that ends where the author wants edits, or a text part of the message begins."""
    message = draft.messages[part.message]
    inside = [span.start for span in (*message.slots, *message.seams) if part.start < span.start < part.end]
    if not inside:
        return part
    return replace(part, end=part.start + len(message.text[part.start : min(inside)].rstrip()))


def _marked(draft: Draft) -> list[PartSpan] | None:
    if not any(message.marked for message in draft.messages):
        return None
    parts = [
        PartSpan(index, *span)
        for index, message in enumerate(draft.messages)
        for stretch in message.marked
        for span in _paragraphs(message.text, *stretch, [(seam.start, seam.end) for seam in message.seams])
    ]
    if not parts:
        raise InputError("no text stands between <rephrase> and </rephrase>")
    return parts


def _paragraphs(text: str, start: int, end: int, seams: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The paragraphs and list items of a marked stretch; code fences in it are kept as they are."""
    cuts = sorted([*(span for span in fences(text) if start <= span[0] and span[1] <= end), *seams])
    spans: list[tuple[int, int]] = []
    for left, right in zip([start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end], strict=True):
        for paragraph in _PARAGRAPH.finditer(text, max(left, start), max(min(right, end), start)):
            spans += _items(text, *paragraph.span())
    return spans


def _items(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A paragraph, or the items of a list in it; bullets, indentation and headings are no part of either."""
    starts = sorted({start, *(item.start() for item in _ITEM_START.finditer(text, start, end))})
    spans = []
    for left, right in zip(starts, [*starts[1:], end], strict=True):
        lead = _ITEM.match(text, left, right)
        first = lead.end() if lead else left
        stretch = text[first:right]
        if stretch.strip() and not re.match(r"#{1,6}[ \t]", stretch):
            spans.append((first + len(stretch) - len(stretch.lstrip()), first + len(stretch.rstrip())))
    return spans


def _with_instructions(draft: Draft) -> list[int]:
    """The messages that can hold instructions: no assistant's, and no user's turn that an example answers."""
    roles = [message.role for message in draft.messages]
    return [
        index
        for index, role in enumerate(roles)
        if role in ("system", "developer") or index == draft.last_user or (role == "user" and "assistant" not in roles)
    ]


def _leading(
    draft: Draft, indices: Sequence[int], fields: Sequence[Sequence[Span]], labels: Sequence[str]
) -> list[PartSpan]:
    texts = {index: draft.messages[index].text for index in indices}
    stretches = {index: instructions_in(texts[index], fields[index], labels) for index in indices}
    leading = [_part(index, stretch) for index in indices for stretch in leading_instructions(stretches[index])]
    if leading:
        return leading
    for index in indices:
        beside = instruction_beside_field(texts[index], fields[index], labels)
        if beside and beside.strength == "instruction":
            return [_part(index, beside)]
    for index in indices:
        listed = instructions_in_list(texts[index], fields[index], labels)
        if listed:
            return [_part(index, stretch) for stretch in listed]
    for strength in ("prose", "role"):
        for index in indices:
            weaker = [stretch for stretch in stretches[index] if stretch.strength == strength]
            if weaker:
                return [_part(index, weaker[0])]
            beside = instruction_beside_field(texts[index], fields[index], labels)
            if beside:
                return [_part(index, beside)]
    return []


def _part(index: int, stretch: Stretch) -> PartSpan:
    return PartSpan(index, stretch.start, stretch.end)
