"""Which paragraphs of a prompt give the instruction, found by rule where the author has marked none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from psopt.templates._lines import BULLET, CAPTION, OUTPUT, VERBS, lines_of
from psopt.templates._literals import json_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import Span
    from psopt.templates._lines import Line

Strength = Literal["instruction", "prose", "role"]
"""Prose that says what to do; prose of which that can't be told (in other languages); prose that names a role alone."""

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
"""A sentence that fixes the answer after words of its own; the only sentence of a paragraph is an instruction all the
same, of which that part is protected."""
_CLOSING = ":.?!"  # ends what stands before a field, so that the field is no part of its sentence
_EXAMPLES = re.compile(r"\W*(?:\w+\s+)?examples?\b", re.IGNORECASE)
_MOST = 3  # chosen: paragraphs in a row that are rephrased; what comes after them is detail rather than instruction
_FEWEST_BESIDE_FIELD = 2  # chosen: 'Sentiment of "{text}"?'
_UNSPACED = re.compile(r"[\u3040-\u9fff\u0e00-\u0e7f]")  # Japanese, Chinese, Thai
_FEWEST_LETTERS = 6  # chosen: a short sentence of Chinese
_FEWEST_WORDS = 3  # chosen: fewer words are a caption


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text that could be rephrased, and how plainly it is an instruction."""

    start: int
    end: int
    strength: Strength
    block: int


def instructions_in(text: str, fields: Sequence[Span], labels: Sequence[str]) -> list[Stretch]:
    """Find the prose of a text that could be rephrased, in its order; `block` counts what stands together."""
    stretches: list[Stretch] = []
    block = 0
    for lines in _runs(_without_examples(text, lines_of(text, fields, labels))):
        if lines[0].kind == "prose":
            stretch = _stretch(text, lines[0].start, lines[-1].end, block)
            stretches += [stretch] if stretch else []
            whole = stretch is not None and stretch.end == _stripped(text, lines[0].start, lines[-1].end)[1]
            block += 0 if whole else 1  # an output sentence parts what comes after it
        elif lines[0].kind != "blank":
            block += 1
    return stretches


def leading_instructions(stretches: Sequence[Stretch]) -> list[Stretch]:
    """The first paragraphs that give an instruction: those that follow one another without anything between."""
    instructions = [stretch for stretch in stretches if stretch.strength == "instruction"]
    return [stretch for stretch in instructions if stretch.block == instructions[0].block][:_MOST]


def instruction_beside_field(text: str, fields: Sequence[Span], labels: Sequence[str]) -> Stretch | None:
    """Find an instruction that shares its line with a field: what stands before the field, else its whole sentence."""
    weaker = None
    for line in lines_of(text, fields, labels):
        inside = [field for field in fields if line.start <= field.start and field.end <= line.end]
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


def instructions_in_list(text: str, fields: Sequence[Span], labels: Sequence[str]) -> list[Stretch]:
    """Find the items of a list that give instructions."""
    stretches = []
    for line in _without_examples(text, lines_of(text, fields, labels)):
        bullet = BULLET.match(text, line.start, line.end) if line.kind == "bullet" else None
        stretch = _stretch(text, bullet.end(), line.end, 0) if bullet else None
        if stretch and stretch.strength == "instruction":
            stretches.append(stretch)
    return stretches[:_MOST]


def _says_something(sentence: str, fields: Sequence[str]) -> bool:
    """Whether a sentence is more than a caption and its field, such as ``Review: {text}``."""
    for field in fields:
        sentence = sentence.replace(field, " ")
    caption = re.match(r"\W*\w+(?:\s\w+)?\s*:", sentence)
    return caption is None and len(re.findall(r"\w+", sentence)) >= _FEWEST_BESIDE_FIELD


def _without_examples(text: str, lines: Sequence[Line]) -> list[Line]:
    """Leave out what stands under a heading that promises examples, up to the next heading, tag or field."""
    kept = []
    skipping = False
    for line in lines:
        if line.kind in ("heading", "lead", "tag", "field"):
            skipping = line.kind != "field" and _EXAMPLES.match(text, line.start, line.end) is not None
        if not skipping:
            kept.append(line)
    return kept


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one kind together; each enclosed line is a run of its own."""
    runs: list[list[Line]] = []
    for line in lines:
        enclosed = (line.start, line.end) != (line.outer_start, line.outer_end)
        if runs and not enclosed and runs[-1][-1].kind == line.kind and runs[-1][-1].end == runs[-1][-1].outer_end:
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _stretch(text: str, start: int, end: int, block: int) -> Stretch | None:
    """The sentences of a paragraph that do not fix how the answer looks: the first ones in a row."""
    caption = CAPTION.match(text, _stripped(text, start, end)[0], end)
    start = caption.end() if caption else start
    sentences = _sentences(text, start, end)
    kept: list[tuple[int, int]] = []
    for sentence in sentences:
        if OUTPUT.match(text, *sentence) or json_objects(text[slice(*sentence)]):
            if kept:
                break
        elif not kept or not _CONTRACT.search(text, *sentence):
            kept.append(sentence)
        else:
            break
    if not kept:
        return None
    first, last = kept[0][0], kept[-1][1]
    strength = _strength([text[left:right] for left, right in kept])
    if strength != "instruction" and not _is_sentence(text[first:last]):
        return None
    return Stretch(first, last, strength, block)


def _is_sentence(text: str) -> bool:
    """Whether a text is more than a caption; scripts that part no words by spaces are counted by their letters."""
    return len(text.split()) >= _FEWEST_WORDS or len(_UNSPACED.findall(text)) >= _FEWEST_LETTERS


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
