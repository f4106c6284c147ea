"""Which stretches of a prompt are rephrased: those that the author marked, or the instructions that a rule finds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from psopt.errors import InputError
from psopt.templates._draft import PartSpan
from psopt.templates._lines import BULLET, CAPTION, OUTPUT, VERBS, fences, json_objects, lines_of
from psopt.text import n_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from psopt.templates._draft import Draft, DraftMessage
    from psopt.templates._lines import Line

Strength = Literal["instruction", "after examples", "beside a field", "in a list", "prose", "role", "lead"]
"""How well a stretch serves as the instruction: prose that says what to do, outside of examples or between them and the
sample; an instruction on the line of a field, or in a list; prose of which it is unclear (in other languages) or that
only names a role; a line that leads to a field."""
STRENGTHS: tuple[Strength, ...] = get_args(Strength)

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


def parts_of(draft: Draft) -> list[PartSpan]:
    """Find what is rephrased, in the prompt's order; refuse a prompt without any."""
    if any(message.marked for message in draft.messages):
        return _marked(draft)
    # An author may give the instructions in the first of the turns that show examples.
    first_user = [index for index, message in enumerate(draft.messages) if message.role == "user"][:1]
    parts = _strongest(draft, _with_instructions(draft)) or _strongest(draft, first_user)
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


def _marked(draft: Draft) -> list[PartSpan]:
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


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text that could be rephrased, and how well it serves as the instruction."""

    start: int
    end: int
    strength: Strength


def _strongest(draft: Draft, indices: Sequence[int]) -> list[PartSpan]:
    """The parts that serve best: the first instructions of all messages; of weaker ones a single one, or one list's."""
    stretches = {index: _stretches(draft.messages[index], draft.labels) for index in indices}
    for strength in STRENGTHS:
        parts = [
            [
                PartSpan(index, stretch.start, stretch.end)
                for stretch in stretches[index]
                if stretch.strength == strength
            ]
            for index in indices
        ]
        filled = [of_message for of_message in parts if of_message]
        if not filled:
            continue
        match strength:
            case "instruction":
                return [part for of_message in filled for part in of_message]
            case "after examples":
                return filled[-1][-1:]
            case "in a list":
                return filled[0][:_MOST]
        return filled[0][:1]
    return []


def _stretches(message: DraftMessage, labels: Sequence[str]) -> list[Stretch]:
    """What of a message could be rephrased; of its instructions the first paragraphs, with nothing between them."""
    text = message.text
    lines = lines_of(message, labels)
    beginnings = _beginnings(lines)
    outside = _outside_examples(lines, beginnings)
    stretches: list[Stretch] = []
    leading = 0  # instructions so far
    is_open = True  # whether a further paragraph would still follow them
    for run in _runs(outside):
        stretch = _stretch(text, run[0].start, run[-1].end) if run[0].kind == "prose" else None
        if stretch and (stretch.strength != "instruction" or (is_open and leading < _MOST)):
            stretches.append(stretch)
            leading += stretch.strength == "instruction"
        # An output sentence separates what comes after it.
        is_whole = stretch is not None and stretch.end == _stripped(text, run[0].start, run[-1].end)[1]
        if leading and not is_whole and run[0].kind != "blank":
            is_open = False
    for row, line in enumerate(lines):
        bullet = BULLET.match(text, line.start, line.end)
        if line.kind == "field":
            stretches += _beside_field(message, line)
        elif line.kind == "prose" and _is_last(lines, row, beginnings):
            stretches += _renamed(_stretch(text, line.start, line.end), "after examples", of="instruction")
        elif line.kind == "bullet" and bullet and line in outside:
            stretches += _renamed(_stretch(text, bullet.end(), line.end), "in a list", of="instruction")
        elif line.kind == "lead" and line in outside and not _ANNOUNCES.search(text, line.start, line.end):
            stretches += _renamed(_stretch(text, line.start, line.end), "lead")
    return stretches


def _is_last(lines: Sequence[Line], row: int, beginnings: Set[int]) -> bool:
    """Whether a line is a paragraph that ends a section: what comes next opens something, or is the sample."""
    below = next((below for below in range(row + 1, len(lines)) if lines[below].kind != "blank"), None)
    if below is None or row == 0 or lines[row - 1].kind != "blank":
        return False
    return below in beginnings or lines[below].kind in ("field", *_OPENING)


def _renamed(stretch: Stretch | None, strength: Strength, *, of: Strength | None = None) -> list[Stretch]:
    return [replace(stretch, strength=strength)] if stretch and of in (None, stretch.strength) else []


def _beside_field(message: DraftMessage, line: Line) -> Iterator[Stretch]:
    """What shares its line with a field: the text before the field, or else each whole sentence."""
    text = message.text
    inside = message.fields_in(line.start, line.end)
    if not inside:
        return
    before = _stretch(text, line.start, inside[0].start)
    if before and before.strength == "instruction" and text[before.end - 1] in _CLOSING:
        yield replace(before, strength="beside a field")
        return
    for start, end in _sentences(text, line.start, line.end):
        if _strength([text[start:end]]) == "instruction":
            yield Stretch(start, end, "beside a field")
        elif _says_something(text[start:end], [text[field.start : field.end] for field in inside]):
            yield Stretch(start, end, "prose")


def _says_something(sentence: str, fields: Sequence[str]) -> bool:
    """Whether a sentence is more than a caption and its field, such as ``Review: {text}``."""
    for field in fields:
        sentence = sentence.replace(field, " ")
    caption = re.match(r"\W*\w+(?:\s\w+)?\s*:", sentence)
    return caption is None and len(re.findall(r"\w+", sentence)) >= _FEWEST_BESIDE_FIELD


def _beginnings(lines: Sequence[Line]) -> set[int]:
    """The rows with which examples begin: those that announce them, or begin as the sample does (``Mail:``)."""
    captions = {}
    on_its_line = set()
    above = 0
    for row, line in enumerate(lines):
        if line.kind == "field":
            on_its_line.add(line.text.partition("{")[0].strip())
            if lines[above].kind in _OPENING:
                captions[above] = lines[above].text
        if line.kind != "blank":
            above = row
    starts = tuple(start for start in on_its_line if start.endswith((":", ">")))
    beginnings = set()
    for row, line in enumerate(lines):
        announces = line.kind in _OPENING and _EXAMPLES.match(line.text) is not None
        begins_alike = line.text in captions.values() or line.text.startswith(starts)
        if row not in captions and line.kind != "field" and (announces or begins_alike):
            beginnings.add(row)
    return beginnings


def _outside_examples(lines: Sequence[Line], beginnings: Set[int]) -> list[Line]:
    """The lines outside of examples, which extend to the next heading, tag or field."""
    outside = []
    is_inside = False
    for row, line in enumerate(lines):
        is_inside = row in beginnings or (is_inside and line.kind not in ("field", *_OPENING))
        if not is_inside:
            outside.append(line)
    return outside


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


def _stretch(text: str, start: int, end: int) -> Stretch | None:
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
    if strength != "instruction" and n_words(text[first:last]) < _FEWEST_WORDS:
        return None
    return Stretch(first, last, strength)


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
