"""What no rephrasing of a template may touch: fields, code, data, quotations, labels, the form of the answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from psopt.text import label_pattern, names_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]

_VERBATIM = re.compile(
    "|".join(
        (
            r"```.*?(?:```|\Z)",
            r"`[^`]*`",
            r"https?://\S+",
            r"\{\{[^{}]*\}\}",
            r"\[\[[^\[\]]*\]\]",
            r"<(?P<tag>[\w.-]+)[^<>]*>[^<>\n.!?]{0,40}</(?P=tag)>",
            r"<[^<>]*>",
            r"\"[^\"]*\"",
            r"“[^“”]*”",
            r"(?<!\w)'[^']*'(?!\w)",
            r"(?<!\w)‘[^‘]*?’(?!\w)",
            r"%\w",
            r"\$\w+",
        )
    ),
    re.DOTALL,
)
_OPEN = {"{": "}", "[": "]"}
# A line that goes on in small letters is a sentence that was broken to fit; any other line begins anew.
_SENTENCE = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"”')]))[ \t]+(?=[^\sa-z])|[ \t]*\n(?=\s*(?:[A-Z#>*{\[<`+•-]|\d+[.)]))"
)
_VERBS = "answer|respond|reply|return|output|print|produce|provide|write|give|end|finish"
_FORM = (
    r"json|xml|yaml|csv|markdown|html|schema|formats?|keys?|fields?|tags?|brackets|lower ?case|upper ?case"
    r"|nothing else|no other|only|alone|exactly one|(?:one|single) (?:word|line|label|letter|number)|last line"
    r"|no (?:explanation|prose|comment)|without (?:any )?(?:explanation|comment|quot|further|other)"
)
# An order about the answer that says its form, up to the sentence's end; or a rule for the answer, or a ban. The bound
# (chosen: a long sentence) keeps the search linear in texts that are no sentences.
_OUTPUT = re.compile(
    rf"(?:(?:please|always|only|then|and|must|should|to) )*\b(?:{_VERBS})(?:s|ing)?\b[^.!?]{{0,300}}?\b(?:{_FORM})\b.*"
    rf"|\b(?:your|the) (?:answer|reply|response|output)s?\b[^.!?]{{0,300}}?\b(?:{_FORM}|must|should)\b.*"
    rf"|\b(?:do not|don't|never) (?:explain|add|include|{_VERBS})\b.*"
    r"|\bno (?:explanations?|comments?|prose|other text)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def protected_ranges(text: str, labels: Sequence[str] = ()) -> list[Span]:
    """Return where a rephrasing must not touch a text, as (start, end), in order and apart from each other.

    These are fields, code, JSON and XML, quotations, addresses, what says the form of the answer, and the labels where
    the text enumerates them (one label alone may be a mere word).

    >>> text = 'Sort the mail about {product}. Answer as JSON: {"team": ".."}'
    >>> [text[start:end] for start, end in protected_ranges(text)]
    ['{product}', 'Answer as JSON: {"team": ".."}']
    """
    verbatim = _merged([*_balanced(text), *(match.span() for match in _VERBATIM.finditer(text))])
    spans = [*verbatim, *_output(text, verbatim), *_labels(text, labels)]
    return _merged(spans)


def sentence_ranges(text: str) -> list[Span]:
    r"""Return the sentences of a text, and its lines where those begin anew, as (start, end); white space between.

    >>> text = "Sort the mail. Be quick.\n- bills"
    >>> [text[start:end] for start, end in sentence_ranges(text)]
    ['Sort the mail.', 'Be quick.', '- bills']
    """
    verbatim = _merged([*_balanced(text), *(match.span() for match in _VERBATIM.finditer(text))])
    return _sentences(text, verbatim)


def _sentences(text: str, verbatim: Sequence[Span]) -> list[Span]:
    outside = [match.span() for match in _SENTENCE.finditer(text) if not _lies_in(match.start(), verbatim)]
    spans = [(before[1], after[0]) for before, after in pairwise([(0, 0), *outside, (len(text), len(text))])]
    stripped = [_stripped(text, span) for span in spans]
    return [span for span in stripped if span[0] < span[1]]


def _lies_in(place: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies within one of the spans, which are in order and apart."""
    before = bisect_left(spans, (place, 0)) - 1
    return before >= 0 and place < spans[before][1]


def _stripped(text: str, span: Span) -> Span:
    words = text[span[0] : span[1]]
    return span[0] + len(words) - len(words.lstrip()), span[1] - len(words) + len(words.rstrip())


def _balanced(text: str) -> Iterator[Span]:
    """Braces and brackets with everything in them; a brace that nothing closes protects nothing."""
    stack: list[tuple[str, int]] = []
    for place, sign in enumerate(text):
        if sign in _OPEN:
            stack.append((_OPEN[sign], place))
        elif stack and sign == stack[-1][0]:
            yield stack.pop()[1], place + 1


def _output(text: str, verbatim: Sequence[Span]) -> Iterator[Span]:
    for start, end in _sentences(text, verbatim):
        match = _OUTPUT.search(text[start:end])
        if match:
            yield start + match.start(), end


def _labels(text: str, labels: Sequence[str]) -> Iterator[Span]:
    named = [label for label in labels if names_label(text, label)]
    if len(named) < 2:
        return
    for label in named:
        for match in label_pattern(label, re.IGNORECASE).finditer(text):
            yield match.span()


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
