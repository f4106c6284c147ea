"""A template's instructions split up: passages that are reworded, and what stays; and how much rewordings differ."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.templates import PART_BREAK, split_description
from psopt.text import label_pattern, names_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.rephrasings._set import RephrasingSet
    from psopt.search_spaces import Prompt


Span = tuple[int, int]

_VERBATIM = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+"  # code and addresses
    r"|<(?P<tag>[\w.-]+)[^<>]*>[^<>\n.!?]{0,40}</(?P=tag)>|<[^<>]*>"
    r"|\"[^\"]*\"|“[^“”]*”|(?<!\w)'[^']*'(?!\w)|(?<!\w)‘[^‘]*?’(?!\w)"  # quotations
    r"|\{\{[^{}]*\}\}|\[\[[^\[\]]*\]\]|%\w|\$\w+",  # fields
    re.DOTALL,
)
_OPEN = {"{": "}", "[": "]"}
# A line that continues in lower case belongs to a wrapped sentence; any other line begins a new one.
_SENTENCE = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"”')]))[ \t]+(?=[^\sa-z])|[ \t]*\n(?=\s*(?:[A-Z#>*{\[<`+•-]|\d+[.)]))"
)
_VERBS = "answer|respond|reply|return|output|print|produce|provide|write|give|end|finish"
_FORM = (
    r"json|xml|yaml|csv|markdown|html|schema|formats?|keys?|fields?|tags?|brackets|lower ?case|upper ?case"
    r"|nothing else|no other|only|alone|exactly one|(?:one|single) (?:word|line|label|letter|number)|last line"
    r"|no (?:explanation|prose|comment)|without (?:any )?(?:explanation|comment|quot|further|other)"
)
# An order about the answer that states its form, up to the end of the sentence; or a rule for the answer, or a ban. The
# bound of 300 characters (chosen: a long sentence) keeps the search linear in texts without sentences.
_OUTPUT = re.compile(
    rf"(?:(?:please|always|only|then|and|must|should|to) )*\b(?:{_VERBS})(?:s|ing)?\b[^.!?]{{0,300}}?\b(?:{_FORM})\b.*"
    rf"|\b(?:your|the) (?:answer|reply|response|output)s?\b[^.!?]{{0,300}}?\b(?:{_FORM}|must|should)\b.*"
    rf"|\b(?:do not|don't|never) (?:explain|add|include|{_VERBS})\b.*"
    r"|\bno (?:explanations?|comments?|prose|other text)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_STRUCTURE = re.compile(r"(?:[-*+•]|\d+[.)])\s|#{1,6}\s|\*\*[^*]+\*\*:?\Z|[A-Z][\w ]{0,30}:\Z")
"""List items and headings: their layout says as much as their words."""


def protected_ranges(text: str, labels: Sequence[str] = ()) -> list[Span]:
    """Return the ranges of a text that a rephrasing must not touch, as (start, end), in order and without overlap.

    These are fields, code, JSON and XML, quotations, addresses, what states the form of the answer, and enumerated
    labels.

    >>> text = 'Sort the mail about {product}. Answer as JSON: {"team": ".."}'
    >>> [text[start:end] for start, end in protected_ranges(text)]
    ['{product}', 'Answer as JSON: {"team": ".."}']
    """
    verbatim = _verbatim(text)
    return _merged([*verbatim, *_output(text, verbatim), *_labels(text, labels)])


def sentence_ranges(text: str) -> list[Span]:
    r"""Return the sentences of a text, and lines that begin new ones, as (start, end), without white space between.

    >>> text = "Sort the mail. Be quick.\n- bills"
    >>> [text[start:end] for start, end in sentence_ranges(text)]
    ['Sort the mail.', 'Be quick.', '- bills']
    """
    return _sentences(text, _verbatim(text))


def _verbatim(text: str) -> list[Span]:
    return _merged([*_balanced(text), *(match.span() for match in _VERBATIM.finditer(text))])


def _sentences(text: str, verbatim: Sequence[Span]) -> list[Span]:
    outside = [match.span() for match in _SENTENCE.finditer(text) if not _lies_in(match.start(), verbatim)]
    spans = [(before[1], after[0]) for before, after in itertools.pairwise([(0, 0), *outside, (len(text), len(text))])]
    return [
        (end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip()))
        for start, end in spans
        if text[start:end].strip()
    ]


def _lies_in(place: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies within one of the spans, which are in order and do not overlap."""
    before = bisect_left(spans, (place, 0)) - 1
    return before >= 0 and place < spans[before][1]


def _balanced(text: str) -> Iterator[Span]:
    """Braces and brackets with everything in them; an unclosed brace protects nothing."""
    stack: list[tuple[str, int]] = []
    for place, sign in enumerate(text):
        if sign in _OPEN:
            stack.append((_OPEN[sign], place))
        elif stack and sign == stack[-1][0]:
            yield stack.pop()[1], place + 1


def _output(text: str, verbatim: Sequence[Span]) -> Iterator[Span]:
    for start, end in _sentences(text, verbatim):
        if match := _OUTPUT.search(text[start:end]):
            yield start + match.start(), end


def _labels(text: str, labels: Sequence[str]) -> Iterator[Span]:
    for label in named_labels(text, labels):
        for match in label_pattern(label, re.IGNORECASE).finditer(text):
            yield match.span()


def named_labels(description: str, labels: Sequence[str]) -> list[str]:
    """The labels that a description enumerates; one label alone may be an ordinary word, two are an enumeration.

    >>> named_labels("Say whether the review is good or bad.", ["good", "bad"])
    ['good', 'bad']
    >>> named_labels("Say how good the review is.", ["good", "bad"])
    []
    """
    named = [label for label in labels if names_label(description, label)]
    return named if len(named) > 1 else []


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a description, and what stands around them."""

    texts: tuple[str, ...]  # sentences that may be reworded, as they were written
    # What stands before the first, between them and after the last; one more than there are passages
    kept: tuple[str, ...]

    def joined(self, texts: Sequence[str]) -> str:
        """The description with other texts in place of the passages.

        >>> Passages(("Sort it.",), ("", " Answer as JSON.")).joined(["Please sort it."])
        'Please sort it. Answer as JSON.'
        """
        return self.kept[0] + "".join(text + after for text, after in zip(texts, self.kept[1:], strict=True))


def read_passages(description: str, labels: Sequence[str] = ()) -> Passages:
    r"""Find the passages of a template's description: sentences in a row, none of which is completely protected.

    >>> read_passages("You sort mail. Be exact.\n- bills\n\nPick a team. Answer as JSON.").texts
    ('You sort mail. Be exact.', 'Pick a team.')
    """
    spans: list[Span] = []
    offset = 0
    for part in split_description(description):
        spans += [(offset + start, offset + end) for start, end in _passages_of(part, labels)]
        offset += len(part) + len(PART_BREAK)
    return Passages(tuple(description[start:end] for start, end in spans), tuple(outside(description, spans)))


def outside(text: str, spans: Iterable[Span]) -> Iterator[str]:
    """Yield the stretches of a text before, between and after spans, which are in order."""
    position = 0
    for start, end in spans:
        yield text[position:start]
        position = end
    yield text[position:]


def _passages_of(part: str, labels: Sequence[str]) -> list[Span]:
    """Runs of sentences that may be reworded."""
    protected = protected_ranges(part, labels)
    runs = itertools.groupby(sentence_ranges(part), lambda span: _is_kept(part, span, protected))
    passages = [list(run) for is_kept, run in runs if not is_kept]
    return [(sentences[0][0], sentences[-1][1]) for sentences in passages]


def passages_of(prompt: Prompt | str) -> list[str]:
    """The parts of a prompt that are rephrased separately; psopt's own form, or a bare description, is one part."""
    if isinstance(prompt, str):
        return [prompt]
    if prompt.template is None:
        return [prompt.description]
    return list(read_passages(prompt.description, prompt.labels).texts) or [prompt.description]


def in_step(choices: Sequence[Iterable[str]], originals: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Combine the texts for each passage: all lists advance together, and shorter ones, or the original, start again.

    After the longest list has ended, the others are shifted against it, so that every combination comes exactly once.

    >>> list(in_step([["a", "b", "c"], ["x"], []], ["A", "X", "Q"]))
    [('a', 'x', 'Q'), ('b', 'x', 'Q'), ('c', 'x', 'Q')]
    """
    lists = [[*texts] or [original] for texts, original in zip(choices, originals, strict=True)]
    longest = max(lists, key=len)
    shifts = [range(1 if texts is longest else len(texts)) for texts in lists]
    for shift in itertools.product(*shifts):
        for number in range(len(longest)):
            yield tuple(texts[(number + ahead) % len(texts)] for texts, ahead in zip(lists, shift, strict=True))


def protected_texts(text: str, labels: Sequence[str] = ()) -> list[str]:
    """The pieces of a text that every rephrasing must contain, as often as the text does."""
    return [text[start:end] for start, end in protected_ranges(text, labels)]


def _is_kept(part: str, sentence: Span, protected: Sequence[Span]) -> bool:
    start, end = sentence
    if _STRUCTURE.match(part[start:end]):
        return True
    first = max(0, bisect_left(protected, (start, 0)) - 1)
    for span in itertools.takewhile(lambda span: span[0] < end, protected[first:]):
        if re.search(r"\w", part[start : max(start, span[0])]):
            return False
        start = max(start, span[1])
    return re.search(r"\w", part[start:end]) is None


TAME = 0.3
"""Below this diversity, S is reported as underestimated. On TREC with smollm2 (calibrated, 60 questions, 6 wordings)
rephrasings by rule showed .84 of the S under people's wordings at a diversity of .39, and .75 of it at .21.
Sets that people wrote have .6 to .85. `benchmarks/rephrasings.py` measures it again."""


def diversity(texts: Sequence[str]) -> float:
    """Measure how much texts differ in their words and word order.

    For a pair of texts, it is the share of the words and neighbouring word pairs of one that the other lacks; the one
    with fewer counts, so that a frame around the same sentence adds nothing. The result is the mean over all pairs:
    from 0 (every text is contained in every other) to 1 (no two share a word); NaN for fewer than two texts.

    >>> diversity(["Label the review.", "Please label the review."])
    0.0
    >>> diversity(["Label the review.", "Is this review good or bad?"])
    0.8
    """
    pairs = itertools.combinations(map(_grams, texts), 2)
    return float(np.mean([_distance(*pair) for pair in pairs])) if len(texts) > 1 else math.nan


def diversity_of_instructions(texts: Sequence[str], labels: Sequence[str]) -> float | None:
    """Return the `diversity` of what may be reworded in these texts; None for fewer than two.

    What every rephrasing must keep says nothing about how they differ, and does not count: enumerated labels, fields,
    quotations, lists, data formats, the form of the answer. A text that occurs in several layouts counts once.

    >>> texts = ["Label it as good or bad.", "How would you describe it: as good or bad?"]
    >>> diversity_of_instructions(texts, ["good", "bad"]), diversity_of_instructions(texts[:1], [])
    (0.286, None)
    """
    value = diversity([_instructions(text, labels) for text in dict.fromkeys(texts)])
    return None if math.isnan(value) else round(value, 3)


def diversity_of(rephrasings: RephrasingSet, labels: Sequence[str]) -> dict[str, float | None]:
    """Return the `diversity_of_instructions` of the search set and of the held-out one."""
    sets = {"search": rephrasings.search, "heldout": rephrasings.heldout}
    return {name: diversity_of_instructions(texts, labels) for name, texts in sets.items()}


def tame_note(value: float | None) -> str | None:
    """The note next to S where rephrasings are too similar; None where they are not.

    >>> tame_note(0.7)
    >>> tame_note(0.2)[:79]
    'these wordings are too similar (diversity .20, below .30); S is underestimated,'
    """
    if value is None or value >= TAME:
        return None
    figures = f"diversity {math.floor(100 * value) / 100:.2f}, below {TAME:.2f}".replace("0.", ".")
    return (
        f"these wordings are too similar ({figures}); S is underestimated, since people's wordings differ "
        "more. Let a model write others: --rephraser MODEL"
    )


def _instructions(text: str, labels: Sequence[str]) -> str:
    instructions = " ".join(read_passages(text, labels).texts) or text
    return " ".join(outside(instructions, protected_ranges(instructions, labels)))


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return frozenset([*zip(words, strict=False), *itertools.pairwise(words)])


def _distance(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> float:
    fewer = min(len(first), len(second))
    return 1 - len(first & second) / fewer if fewer else float(first != second)
