"""Where edits go in a prompt whose author has not said so, in which layout, and how the prompt shows examples."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from psopt.templates._draft import Span, pieces_of, places_in
from psopt.templates._lines import LEAD_WORDS, TAG, fences, lines_of, newline_of, touching, within
from psopt.templates._template import ExampleForm, Field, Slot
from psopt.text import label_pattern, n_words, names_label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.templates._answer_form import AnswerForm
    from psopt.templates._draft import Draft, DraftMessage, PartSpan
    from psopt.templates._lines import Line
    from psopt.templates._template import SlotKind


_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+[^\n#]*[^\n# \t\r][^\n]*\n?(?P<blank>[ \t\r]*\n)?", re.MULTILINE)
_TAG_LINE = re.compile(rf"^[ \t]*(?=</?(?P<name>[\w.-]+)){TAG.pattern}", re.MULTILINE)
_BULLET = re.compile(r"^(?P<bullet>[ \t]*[-*+•][ \t]+)\S", re.MULTILINE)
_TITLES: dict[SlotKind, str] = {"definitions": "What the labels mean", "notes": "Notes", "examples": "Examples"}
_EXAMPLES = re.compile(r"^[^\w\n]{0,6}(?:\w+[ \t]+)?examples?\b[^\n]{0,20}$", re.IGNORECASE | re.MULTILINE)
"""A line that introduces examples."""
_NOTES = re.compile(r"\W*(?:(?:further|important|more|other)\s+)?(?:notes?|rules|guidelines)\W*", re.IGNORECASE)
"""A line that introduces notes."""
_STEP = re.compile(r"[ \t]*1[.)][ \t]")
_SAME_BLOCK = ("prose", "bullet", "labels", "caption")


@dataclass(frozen=True, slots=True)
class Place:
    """A place for edits: after a block, or before a line. If not `headed`, what is added continues the text before."""

    position: int
    before: bool
    headed: bool = True
    bullet: str = ""  # that of the list which it ends, if what is added goes on with it


def place_for(draft: Draft, block: InputBlock | None, kind: SlotKind) -> tuple[int, Place]:
    """Find the message and the place for edits of a kind.

    Notes continue the prompt's own list of notes; without one they follow the last instruction of the first message
    that has any. Examples precede the input, and continue the prompt's own examples of the same form. If the sample
    comes at the end (no `block`), they precede a line that announces it (``Review:``).
    """
    if kind != "examples":
        index = draft.parts[0].message
        listed = _after_own_notes(draft, index) if kind == "notes" else None
        return index, listed or _place_after(draft, draft.parts_in(index)[-1])
    index = draft.last_user
    text = draft.messages[index].text
    if block is None:
        announced = announcing_line(text)
        return index, Place(len(text.rstrip()) - len(announced), before=bool(announced))
    starts = [field.start for field in draft.messages[index].fields if field.start >= block.start]
    caption = text[block.start : min(starts, default=block.start)].strip()
    goes_on = bool(caption) and f"\n{caption}" in text[: block.top]
    return index, Place(block.top, before=True, headed=not goes_on)


def _after_own_notes(draft: Draft, index: int) -> Place | None:
    """The end of a message's own list of notes, if it has one with bullets."""
    text, lines = draft.messages[index].text, lines_of(draft.messages[index], draft.labels)
    for row, line in enumerate(lines):
        first = _next_row(lines, row, ("blank",))
        if first == len(lines) or not _NOTES.fullmatch(line.text):
            continue
        if marked := _BULLET.match(text, lines[first].outer_start):
            last = first
            for below in range(first + 1, len(lines)):
                if lines[below].kind == "bullet" or (lines[below].kind == "prose" and last == below - 1):
                    last = below  # an item, or its next line
                elif lines[below].kind != "blank":
                    break
            return Place(lines[last].outer_end, before=False, bullet=marked["bullet"])
    return None


def _place_after(draft: Draft, part: PartSpan) -> Place:
    """The place after the block of an instruction, or before it if it leads into what follows (``Classify it:``)."""
    message, start, end = draft.messages[part.message], part.start, part.end
    text, lines = message.text, lines_of(message, draft.labels)
    row = next(row for row, line in enumerate(lines) if line.outer_end >= end)
    first = next(row for row, line in enumerate(lines) if line.outer_end >= start)
    leads = text[start:end].endswith(":")
    beside_field = lines[row].kind == "field"
    row = _last_of_block(text, lines, row, leads=leads)
    listed = lines[row].kind in ("bullet", "labels")
    if beside_field or (leads and not listed):
        while first and lines[first - 1].kind in _SAME_BLOCK:
            first -= 1
        return Place(lines[first].outer_start, before=True)
    below = _next_row(lines, row, (*_SAME_BLOCK, "blank"))
    if below < len(lines) and lines[below].text.startswith("</"):
        row = below  # only text stands before the closing tag of the element around it
    return Place(lines[row].outer_end, before=False)


def slot_at(text: str, place: Place, kind: SlotKind, elsewhere: str, answer_tag: str) -> Slot:
    """Return an empty slot for a place, in the style of what surrounds it: Markdown headings, XML, or plain paragraphs.

    If the text has no style, XML sections of the other messages (`elsewhere`) count; an `answer_tag` is no section.
    """
    new = newline_of(text)
    before, tail = text[: place.position], text[place.position :]
    fenced = fences(text)
    headings = [heading for heading in _HEADING.finditer(text) if not within(heading.span(), fenced)]
    is_xml = not headings and (
        _has_sections(text, answer_tag) or (_has_sections(elsewhere, answer_tag) and not _HEADING.search(elsewhere))
    )
    marked = _BULLET.search(text)
    bullet = marked["bullet"].lstrip() if marked else "- "
    if place.bullet:
        return Slot(kind, new, bullet=place.bullet, joint=new)
    if is_xml:
        slot = _element(kind, bullet, new)
    else:
        again = kind == "examples" and _EXAMPLES.search(before) is not None
        title = f"More {_TITLES[kind].lower()}" if again else _TITLES[kind]
        slot = _headed(kind, title, bullet, new, *_heading_style(headings, place.position, tail))
        if not place.headed:
            slot = replace(slot, opening="")
    if place.before:
        if kind == "examples" and before.strip() and not before.endswith((new * 2, ">" + new)):
            slot = replace(slot, opening=new + slot.opening)
        return replace(slot, closing=slot.closing + new * 2)
    if is_xml and tail.startswith(f"{new}<"):
        return replace(slot, opening=new + slot.opening)
    after = new if tail.strip() and not tail.lstrip(" \t").startswith(new * 2) else ""
    return replace(slot, opening=new * 2 + slot.opening, after=after)


def _heading_style(headings: Sequence[re.Match[str]], position: int, tail: str) -> tuple[str, bool]:
    """The signs of a Markdown heading at a place, and whether an empty line follows it; no signs where none fits."""
    following = tail.lstrip()
    if not headings or (following and not _HEADING.match(following)):  # it would capture the rest of the section
        return "", False
    before = [heading for heading in headings if heading.start() < position]
    near = before[-1] if before else headings[0]
    after = headings[len(before) :][:1]
    # Before subsections, what is added is one more subsection: otherwise they would become part of it.
    level = max([near["level"], *(heading["level"] for heading in after)], key=len)
    return level, near["blank"] is not None


def _headed(kind: SlotKind, title: str, bullet: str, new: str, level: str, spacious: bool) -> Slot:
    heading = f"{level} {title}" if level else f"{title}:"
    if kind == "examples":
        return Slot(kind, heading + new * 2, bullet="", joint=new * 2)
    return Slot(kind, heading + new * (2 if spacious else 1), bullet=bullet, joint=new)


def _element(kind: SlotKind, bullet: str, new: str) -> Slot:
    """A section in tags; each example has tags of its own."""
    if kind != "examples":
        return Slot(kind, f"<{kind}>{new}", f"{new}</{kind}>", bullet, joint=new)
    opening, closing = f"<example>{new}", f"{new}</example>"
    ends = (f"<{kind}>{new}{opening}", f"{closing}{new}</{kind}>")
    return Slot(kind, *ends, bullet="", joint=closing + new + opening)


def _has_sections(text: str, answer_tag: str) -> bool:
    return any(match["name"] != answer_tag for match in _TAG_LINE.finditer(text))


def announcing_line(text: str) -> str:
    """The last line of a text, if it is a short one that announces what comes next; otherwise nothing."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    return last if last.endswith(":") and n_words(last) <= LEAD_WORDS else ""


def _last_of_block(text: str, lines: Sequence[Line], row: int, *, leads: bool) -> int:
    """The last row of a paragraph, including numbered steps after it and, if it ends in a colon, any list."""
    row = _next_row(lines, row, _SAME_BLOCK) - 1
    below = _next_row(lines, row, ("blank",))
    listed = below < len(lines) and lines[below].kind in ("bullet", "labels")
    if listed and (leads or _STEP.match(text, lines[below].start)):
        return _last_of_block(text, lines, below, leads=False)
    return row


def _next_row(lines: Sequence[Line], row: int, skipped: Collection[str]) -> int:
    """The first row below one that is not of these kinds; the number of rows if there is none."""
    return next((below for below in range(row + 1, len(lines)) if lines[below].kind not in skipped), len(lines))


_OPEN_END = re.compile(r"(?:[^\w<>\n]*(?:\w+[ \t]+){0,3}\w+[^\w<>\n]*:|<[A-Za-z_][\w.-]*>|#{1,6}[ \t]+\S.*)$")
_DELIMITER = re.compile(r"(?P<mark>\"{3,}|'{3,}|-{3,}|={3,}|\*{3,}|`{3,}|~{3,}|#{3,}|<{3,}|>{3,})\w*\s*")
_JOINING = ("blank", "tag", "lead", "caption", "heading")
"""Kinds of lines that may stand between fields of one block."""


@dataclass(frozen=True, slots=True)
class InputBlock:
    """Where a message shows its sample."""

    # The block that examples repeat, including its leading line and enclosing tags
    start: int
    end: int
    top: int  # where examples go: the block's start, or that of the heading or instruction which opens it
    tail: tuple[int, int]  # an open end after the block, such as ``Answer:``; empty if there is none


def input_block(draft: Draft) -> InputBlock | None:
    """Find the last block of fields in the user's last message; None if it has no fields.

    Examples don't repeat what is rephrased, nor a leading line that a place for the author's edits separates.
    """
    message = draft.messages[draft.last_user]
    text, fields = message.text, message.fields
    lines = lines_of(message, draft.labels)
    places = [(field.start, field.end) for field in fields]
    rows = [row for row, line in enumerate(lines) if touching(line.outer_start, line.outer_end, places)]
    if not rows:
        return None
    first = last = rows[-1]
    for above in reversed(rows[:-1]):
        if not all(_joins(lines, row) for row in range(above + 1, first)):
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
    is_sectioned = text[tail[0] : tail[1]].startswith("#") or "heading" in {line.kind for line in lines[first:last]}
    if lines[opening].kind == "heading" and is_sectioned:
        start = lines[opening].outer_start  # sections of fields, or of input and answer: an example has all
    shared = [part for part in draft.parts_in(draft.last_user) if part.start < end and start < part.end]
    if shared:
        # Examples don't repeat an instruction on the same line.
        after = (field.start for field in fields if field.start >= shared[-1].end and field.end <= end)
        start = min(after, default=end)
    return InputBlock(start, end, lines[opening].outer_start, tail)


def _joins(lines: Sequence[Line], row: int) -> bool:
    """Whether a row may stand between fields of one block: also quoting lines, and ``Answer:`` above an answer."""
    line = lines[row]
    names_field = line.kind == "output" and line.text.endswith(":") and lines[row + 1].kind == "field"
    return line.kind in _JOINING or names_field or _DELIMITER.fullmatch(line.text) is not None


def _with_delimiters(lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Include the pair of lines that quote the block: three quotes, dashes, or a code fence."""
    if first and last + 1 < len(lines):
        opening, closing = _DELIMITER.fullmatch(lines[first - 1].text), _DELIMITER.fullmatch(lines[last + 1].text)
        if opening and closing and opening["mark"] == closing["mark"]:
            return first - 1, last + 1
    return first, last


def _with_tags(text: str, lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Include the tags that enclose the block, one pair per step, and those that open or close what it does not."""
    while first and lines[first - 1].kind == "tag":
        opens = re.match(r"<([\w.-]+)", lines[first - 1].text)
        block = text[lines[first].outer_start : lines[last].outer_end]
        if opens is None or block.count(f"</{opens[1]}>") <= block.count(f"<{opens[1]}"):
            break
        first -= 1
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


def example_form(draft: Draft, block: InputBlock | None, answer: AnswerForm) -> ExampleForm:
    """The form of an example, in one message or as two turns, as in the prompt; without a `block` at its end."""
    message, turns = draft.messages[draft.last_user], draft.has_turns
    text = message.text
    answer = replace(answer, output=_shown_answer(draft) or answer.output)
    if block is None:
        pieces = draft.appended
        if announced := announcing_line(text):
            pieces = (f"{announced}\n", *draft.appended)
        gap = _gap("", "", answer)
    else:
        start, end = block.start, block.end
        if turns and not draft.parts_in(draft.last_user):
            start, end = 0, len(text)
        elif turns:
            end = block.tail[1] or block.end
        pieces = (*_fields_elsewhere(draft, start, end), *_pieces(message, start, end))
        gap = _gap(text[start:end], _tail(text, block), answer, ends_in_field=isinstance(pieces[-1], Field))
    return ExampleForm(pieces, gap, answer.output, answer.key, answer.keys, turns, answer.bare)


def fields_as_lines(names: Sequence[str], *, is_named: bool = False) -> list[str | Field]:
    """Show columns for which a prompt has no form: as ``name: value``, one per line; a single one may stand alone."""
    fields = [Field(name, f"{{{name}}}", written=False) for name in names]
    if len(fields) == 1 and not is_named:
        return [*fields]
    pieces: list[str | Field] = []
    for field in fields:
        pieces += [f"\n{field.name}: " if pieces else f"{field.name}: ", field]
    return pieces


def _pieces(message: DraftMessage, start: int, end: int) -> tuple[str | Field, ...]:
    inside = [Span(field.start - start, field.end - start, field.pieces) for field in message.fields_in(start, end)]
    if inside:
        return tuple(piece for piece in pieces_of(message.text[start:end], inside) if isinstance(piece, str | Field))
    # Fields that stand within an instruction: an example shows them one per line.
    names = dict.fromkeys(field.name for field in places_in(message.fields, Field))
    return tuple(fields_as_lines(list(names)))


def _fields_elsewhere(draft: Draft, start: int, end: int) -> list[str | Field]:
    """Fields that the user's messages show outside the block, one per line; none where the block has none itself."""
    last = draft.last_user
    by_users = chain.from_iterable(message.fields for message in draft.messages[: last + 1] if message.role == "user")
    shown = {field.name for field in places_in(draft.messages[last].fields_in(start, end), Field)}
    names = dict.fromkeys(field.name for field in places_in(by_users, Field) if field.name not in shown)
    return [*fields_as_lines(list(names), is_named=True), "\n"] if shown and names else []


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


def _shown_answer(draft: Draft) -> str:
    """The form of the assistant's turns, with ``{label}`` for the label; empty if they are JSON or have many lines."""
    for message in draft.messages[: draft.last_user]:
        text = message.text.strip()
        if message.role != "assistant" or not text or "\n" in text or text.startswith("{"):
            continue
        named = [label for label in draft.labels if names_label(text, label, match_case=True)]
        if len(named) == 1:
            return label_pattern(named[0]).sub("{label}", text, count=1)
    return ""
