"""Which stretches of a prompt are rephrased: those that the author marked, or the instructions that a rule finds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from psopt.errors import InputError
from psopt.templates._fields import fences, json_objects
from psopt.templates._lines import BULLET, CAPTION, OUTPUT, VERBS, lines_of
from psopt.text import n_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import Draft, DraftMessage
    from psopt.templates._lines import Line

Strength = Literal["instruction", "prose", "role"]
"""Prose that says what to do; prose for which that is unclear (in other languages); prose that only names a role."""

_INSTRUCTION = re.compile(
    rf"(?:(?:please|kindly|now|then|first|next|also|always|carefully|\w+ly),?\s+)*(?:{VERBS})\b"
    rf"|you\s+(?:\w+ly\s+)?(?:{VERBS})\b"
    r"|.*\byour\s+(?:\w+\s+)?(?:task|job|goal|role|aim|work|duty)\b"
    r"|.*\byou\s+(?:must|should|will|shall|have to|need to|are to|are asked|are going|are given)\b"
    r"|(?:I|we)\s+(?:want|need|would like)\s+you\b"
    rf"|(?:given|based|for|when|if|after|from|with|using|in)\b.*,\s*(?:please\s+)?(?:{VERBS})\b"
    r"|(?:are|can|could|did|do|does|has|have|how|in|is|of|should|to|was|were|what|when|where|which|who|whom|whose|why|will"
    r"|would)\b[^.!?]*\?",
    re.IGNORECASE | re.DOTALL,
)
_ROLE = re.compile(r"(?:you\s+are|you're|act\s+as|imagine\s+you\s+are|as)\s+(?:a|an|the|our|my)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"\S.*?(?:[.!?…][\"'”’)\]]*(?=\s+[^\sa-z])|\Z)", re.DOTALL)
_CONTRACT = re.compile(
    r"\b(?:answer|respond|reply|return|output|write|give|end)\b[^.]*?"
    r"(?:\bjson\b|\bxml\b|\b(?:last|final)\s+line\b|\bnothing\s+else\b|</?\w+>|\banswer:)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence that fixes the answer's form after other words. If it is the only sentence of a paragraph, it is still an
instruction, in which that part is protected."""
_CLOSING = ":.?!"  # ends what stands before a field, so that the field is no part of its sentence
_EXAMPLES = re.compile(r"[^\w/]*(?:\w+\s+)?examples?\b", re.IGNORECASE)
_ANNOUNCES = re.compile(r"\b(?:the|this|here|is|your|following|next|new)\b", re.IGNORECASE)
"""In a short line that leads to a field: it announces the text in English, and says nothing to do."""
_OPENING = ("heading", "lead", "tag")  # kinds of lines that open a section
_MOST = 3  # chosen: paragraphs in a row that are rephrased; what comes after them is detail rather than instruction
_FEWEST_BESIDE_FIELD = 2  # words; chosen, as in 'Sentiment of "{text}"?'
_FEWEST_WORDS = 3  # chosen: fewer words are a caption
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_ITEM = re.compile(r"^[ \t]*(?:(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+)?", re.MULTILINE)
_ITEM_START = re.compile(r"^[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PartSpan:
    """A stretch of one message's text that is rephrased."""

    message: int
    start: int
    end: int


def parts_of(draft: Draft, labels: Sequence[str]) -> list[PartSpan]:
    """Find what is rephrased, in the prompt's order; refuse a prompt without any."""
    marked = _marked(draft)
    if marked is not None:
        return marked
    indices = _with_instructions(draft)
    # An author may give the instructions in the first of the turns that show examples.
    first_user = [index for index, message in enumerate(draft.messages) if message.role == "user"][:1]
    parts = _leading(draft, indices, labels) or _leading(draft, first_user, labels)
    if not parts:
        raise InputError("no instruction found in the prompt: mark what is to be rephrased by <rephrase>..</rephrase>")
    return [_before_edges(draft, part) for part in parts]


def _before_edges(draft: Draft, part: PartSpan) -> PartSpan:
    """A part, cut where the author wants edits or where a text part of the message begins."""
    message = draft.messages[part.message]
    inside = [span.start for span in (*message.slots, *message.seams) if part.start < span.start < part.end]
    if not inside:
        return part
    return replace(part, end=part.start + len(message.text[part.start : min(inside)].rstrip()))


def _marked(draft: Draft) -> list[PartSpan] | None:
    if not any(message.marked for message in draft.messages):
        return None
    parts: list[PartSpan] = []
    for index, message in enumerate(draft.messages):
        for stretch in message.marked:
            parts += [PartSpan(index, *span) for span in _paragraphs(message, *stretch)]
    if not parts:
        raise InputError("no text stands between <rephrase> and </rephrase>")
    return parts


def _paragraphs(message: DraftMessage, start: int, end: int) -> list[tuple[int, int]]:
    """The paragraphs and list items of a marked stretch; code fences in it stay unchanged."""
    cuts = [*fences(message.text), *((seam.start, seam.end) for seam in message.seams)]
    inside = sorted(cut for cut in cuts if start <= cut[0] and cut[1] <= end)
    spans: list[tuple[int, int]] = []
    for cut_start, cut_end in (*inside, (end, end)):
        for paragraph in _PARAGRAPH.finditer(message.text, start, cut_start):
            spans += _items(message.text, *paragraph.span())
        start = cut_end
    return spans


def _items(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A paragraph, or the items of a list in it; bullets, indentation and headings belong to neither."""
    starts = sorted({start, *(item.start() for item in _ITEM_START.finditer(text, start, end))})
    spans = []
    for left, right in zip(starts, [*starts[1:], end], strict=True):
        lead = _ITEM.match(text, left, right)
        first = lead.end() if lead else left
        if text[first:right].strip() and not re.match(r"#{1,6}[ \t]", text[first:right]):
            spans.append(_stripped(text, first, right))
    return spans


def _with_instructions(draft: Draft) -> list[int]:
    """The messages that can hold instructions: not the assistant's, and no user's turn that belongs to an example."""
    roles = [message.role for message in draft.messages]
    return [
        index
        for index, role in enumerate(roles)
        if role in ("system", "developer") or index == draft.last_user or (role == "user" and "assistant" not in roles)
    ]


def _leading(draft: Draft, indices: Sequence[int], labels: Sequence[str]) -> list[PartSpan]:
    stretches = {index: instructions_in(draft.messages[index], labels) for index in indices}
    leading = [_part(index, stretch) for index in indices for stretch in _leading_instructions(stretches[index])]
    if leading:
        return leading
    messages = [(index, draft.messages[index]) for index in indices]
    doubtful = [(index, stretch) for index, each in messages for stretch in doubtful_instructions(each, labels)]
    between = [_part(*found) for found in doubtful if found[1].strength == "instruction"]
    if between:
        return between[-1:]
    beside = {index: instruction_beside_field(draft.messages[index], labels) for index in indices}
    for index, stretch in beside.items():
        if stretch and stretch.strength == "instruction":
            return [_part(index, stretch)]
    for index in indices:
        listed = instructions_in_list(draft.messages[index], labels)
        if listed:
            return [_part(index, stretch) for stretch in listed]
    for strength in ("prose", "role"):
        for index in indices:
            weaker = [stretch for stretch in stretches[index] if stretch.strength == strength]
            if weaker:
                return [_part(index, weaker[0])]
            if stretch := beside[index]:
                return [_part(index, stretch)]
    return [_part(*found) for found in doubtful[:1]]


def _part(index: int, stretch: Stretch) -> PartSpan:
    return PartSpan(index, stretch.start, stretch.end)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text that could be rephrased, and how clearly it is an instruction."""

    start: int
    end: int
    strength: Strength
    block: int


def instructions_in(message: DraftMessage, labels: Sequence[str]) -> list[Stretch]:
    """Find the prose of a message that could be rephrased, in order; prose that stands together shares a `block`."""
    text = message.text
    stretches: list[Stretch] = []
    block = 0
    for lines in _runs(_parted(text, lines_of(message, labels))[0]):
        if lines[0].kind == "prose":
            stretch = _stretch(text, lines[0].start, lines[-1].end, block)
            if stretch:
                stretches.append(stretch)
            if stretch is None or stretch.end < _stripped(text, lines[0].start, lines[-1].end)[1]:
                block += 1  # an output sentence separates what comes after it
        elif lines[0].kind != "blank":
            block += 1
    return stretches


def doubtful_instructions(message: DraftMessage, labels: Sequence[str]) -> list[Stretch]:
    """Find what is an instruction if a prompt has no other: a sentence between examples, or that leads to a field."""
    text = message.text
    outside, between = _parted(text, lines_of(message, labels))
    leads = [line for line in outside if line.kind == "lead" and not _ANNOUNCES.search(text, line.start, line.end)]
    spans = [(lines[0].start, lines[-1].end) for lines in between]
    spans += [(line.start, line.end) for line in leads if _is_sentence(text[line.start : line.end])]
    return [stretch for span in spans if (stretch := _stretch(text, *span, 0))]


def _leading_instructions(stretches: Sequence[Stretch]) -> list[Stretch]:
    """The first paragraphs that give an instruction: those that follow one another without anything between."""
    instructions = [stretch for stretch in stretches if stretch.strength == "instruction"]
    return [stretch for stretch in instructions if stretch.block == instructions[0].block][:_MOST]


def instruction_beside_field(message: DraftMessage, labels: Sequence[str]) -> Stretch | None:
    """Find an instruction that shares its line with a field: the text before the field, or else its whole sentence."""
    text = message.text
    weaker = None
    for line in lines_of(message, labels):
        inside = [field for field in message.fields if line.start <= field.start and field.end <= line.end]
        if line.kind != "field" or not inside:
            continue
        before = _stretch(text, line.start, inside[0].start, 0)
        if before and before.strength == "instruction" and text[before.end - 1] in _CLOSING:
            return before
        for start, end in _sentences(text, line.start, line.end):
            if _strength([text[start:end]]) == "instruction":
                return Stretch(start, end, "instruction", 0)
            if weaker is None and _says_something(text[start:end], [text[field.start : field.end] for field in inside]):
                weaker = Stretch(start, end, "prose", 0)
    return weaker


def instructions_in_list(message: DraftMessage, labels: Sequence[str]) -> list[Stretch]:
    """Find the items of a list that give instructions."""
    text = message.text
    stretches = []
    for line in _parted(text, lines_of(message, labels))[0]:
        bullet = BULLET.match(text, line.start, line.end)
        if line.kind != "bullet" or bullet is None:
            continue
        stretch = _stretch(text, bullet.end(), line.end, 0)
        if stretch and stretch.strength == "instruction":
            stretches.append(stretch)
    return stretches[:_MOST]


def _says_something(sentence: str, fields: Sequence[str]) -> bool:
    """Whether a sentence is more than a caption and its field, such as ``Review: {text}``."""
    for field in fields:
        sentence = sentence.replace(field, " ")
    caption = re.match(r"\W*\w+(?:\s\w+)?\s*:", sentence)
    return caption is None and len(re.findall(r"\w+", sentence)) >= _FEWEST_BESIDE_FIELD


def _parted(text: str, lines: Sequence[Line]) -> tuple[list[Line], list[list[Line]]]:
    """The lines outside of examples, and the paragraphs between examples, which may be instructions.

    Examples stand under a heading that announces them, up to the next heading, tag or field, or begin as the sample
    does (``Mail:``). A paragraph that ends in a colon just before the sample is outside: as if there were no examples.
    """
    captions, beginnings = _captions(text, lines)
    open_beginnings = tuple(beginning for beginning in beginnings if beginning.endswith((":", ">")))
    outside: list[Line] = []
    between: list[list[Line]] = []
    skipped: list[Line] = []
    for row, line in enumerate(lines):
        own = text[line.outer_start : line.outer_end].strip()
        is_field = line.kind == "field"
        opens = line.kind in _OPENING and row not in captions
        begins = row not in captions and not is_field and (own in beginnings or own.startswith(open_beginnings))
        if skipped and (opens or begins or is_field):
            last = _last_prose(skipped)
            if is_field and last and text[: last[-1].end].rstrip().endswith(":"):
                outside += last
            elif last:
                between.append(last)
        goes_on = skipped and not (opens or is_field)
        if begins or goes_on or (opens and _EXAMPLES.match(own)):
            skipped.append(line)
        else:
            skipped = []
            outside.append(line)
    return outside, between


def _captions(text: str, lines: Sequence[Line]) -> tuple[set[int], set[str]]:
    """The rows of headings, leads and tags just above a field; and with what a sample begins, on its line or above."""
    captions = set()
    beginnings = set()
    above = 0
    for row, line in enumerate(lines):
        if line.kind == "field":
            beginnings.add(text[line.outer_start : line.outer_end].partition("{")[0].strip())
            if lines[above].kind in _OPENING:
                captions.add(above)
                beginnings.add(text[lines[above].outer_start : lines[above].outer_end].strip())
        if line.kind != "blank":
            above = row
    return captions, beginnings - {""}


def _last_prose(lines: Sequence[Line]) -> list[Line]:
    """The last lines, if they are a paragraph of prose; the line that opens the sample may follow it."""
    rows = [*lines]
    while rows and rows[-1].kind in ("blank", *_OPENING):
        rows.pop()
    paragraph: list[Line] = []
    while rows and rows[-1].kind == "prose":
        paragraph.insert(0, rows.pop())
    return paragraph if rows and rows[-1].kind == "blank" else []


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Consecutive lines of one kind; each enclosed line is a run of its own."""
    runs: list[list[Line]] = []
    for line in lines:
        enclosed = (line.start, line.end) != (line.outer_start, line.outer_end)
        if runs and not enclosed and runs[-1][-1].kind == line.kind and runs[-1][-1].end == runs[-1][-1].outer_end:
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _stretch(text: str, start: int, end: int, block: int) -> Stretch | None:
    """The first consecutive sentences of a paragraph that do not fix how the answer looks."""
    if caption := CAPTION.match(text, _stripped(text, start, end)[0], end):
        start = caption.end()
    sentences: list[tuple[int, int]] = []
    for sentence in _sentences(text, start, end):
        fixes_answer = OUTPUT.match(text, *sentence) or json_objects(text[slice(*sentence)])
        if sentences and (fixes_answer or _CONTRACT.search(text, *sentence)):
            break
        if not fixes_answer:
            sentences.append(sentence)
    if not sentences:
        return None
    first, last = sentences[0][0], sentences[-1][1]
    strength = _strength([text[left:right] for left, right in sentences])
    if strength != "instruction" and not _is_sentence(text[first:last]):
        return None
    return Stretch(first, last, strength, block)


def _is_sentence(text: str) -> bool:
    """Whether a text is more than a caption."""
    return n_words(text) >= _FEWEST_WORDS


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    start, end = _stripped(text, start, end)
    return [match.span() for match in _SENTENCE.finditer(text, start, end)]


def _strength(sentences: Sequence[str]) -> Strength:
    if any(_INSTRUCTION.match(sentence) for sentence in sentences):
        return "instruction"
    return "role" if all(_ROLE.match(sentence) for sentence in sentences) else "prose"


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())
