"""Which labels stand in a text? The patterns for reading an answer, made once per list of labels."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Scripts that put no spaces between words (Thai to Khmer, Chinese, Japanese) or glue particles to them (Korean).
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"[^\W_{_UNSPACED}]"  # a letter or a digit of the other scripts
_JOINT = "[-_/&\u2010\u2011]"  # between letters it joins two words into one: non-fiction, yes/no, number_of
_SEPARATOR = r"[\s_\-\u2010\u2011]+"
# Between digits a dash is part of the name (1-5), and at an edge it is a sign (-1, A-).
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s_\-\u2010-\u2013\u2212]+(?=\d)")
_SEPARATORS = re.compile(rf"(?<=[^\W_])(?!(?<=\d)-\d){_SEPARATOR}(?=[^\W_])|\A[_\-]+\s+|\s+[_\-]+\Z|\s+")
_AND = dict.fromkeys(("and", "&"), "(?:and|&)")
_GAP = r"(?:[^\S\n]|[\"'*_`(“”‘’])"  # denials don't reach beyond a clause
_DENIED_BEFORE = re.compile(
    rf"""(?:(?:\b(?:not|never|neither|nor|cannot|non|rather\s+than|instead\s+of|other\s+than)|n['’]t)\b
         (?:{_GAP}++(?!(?:but|so|hence|thus|therefore|because|since)\b)[\w'’]++){{0,5}}
         | \bno | (?:\bnot|\bnever|n['’]t)[^\S\n]*\n | 不是 | 不 | 非){_GAP}*+\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_DENIED_AFTER = re.compile(
    r"[\"'*_`)”’]*\s*(?:(?:is|was|does|can|could|would|should)\s*(?:not|n['’]t)|cannot|is\s+(?:wrong|incorrect))\b",
    re.IGNORECASE,
)
# "<5", "≥ 5" and "> 5" are no 5; "<5>" is one that fills in a place, and one may stand after a tag or an arrow.
_NOT_COMPARED = r"(?<![≤≥])(?<![≤≥<]\s)(?<!<(?!\d+>))(?<![\s\"'*(]>)(?<![\s\"'*(]>\s)(?<!^>)(?<!^>\s)"
# How many characters a denial may span: about six words before a label (`{0,5}` above), "is incorrect" after it.
_BEFORE = 80
_SPACING = 3  # characters read next to a label per letter of the longest label: room for separators
_AFTER = 30


class Standing(NamedTuple):
    """A label that stands in a text, and where."""

    label: int
    start: int
    end: int


class LabelNames:
    """Finds labels in texts as whole words or phrases, in time linear in the text.

    - Case does not matter, nor which of space, `_` and `-` separates the words of a label, unless labels differ in
      nothing else: then only the exact spelling counts.
    - A single letter and two capitals (``US``) count in their own case only. ``A`` and ``I`` do not count as the first
      word of a sentence, where they are more likely English words.
    - A part of a longer word is no label, as in ``Identity``, ``non-fiction``, ``yes/no``, ``2.5`` (not 2) and ``C#``
      (not C). In scripts without spaces a label may stand anywhere.
    - "and" and "&" are the same.
    - A label inside a longer one does not count, nor one that the text around it turns into a longer one, punctuation
      apart: not ``account`` in "account (closed)" where ``account_closed`` is a label.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels = [label.strip() for label in labels]
        folded = Counter(map(str.casefold, labels))
        joined = Counter(map(joined_key, labels))
        longest_first = sorted((len(label), index) for index, label in enumerate(labels))[::-1]
        self._order = [index for _, index in longest_first if labels[index]]
        each = (
            _pattern(labels[index], folded[labels[index].casefold()] > 1, joined[joined_key(labels[index])] > 1)
            for index in self._order
        )
        firsts = "".join({re.escape(label[0]) for label in labels if label})
        keys = [_letters(label) for label in labels]
        self._around = {
            index: list(_longer(key, {*keys} - {key})) for index, key in enumerate(keys) if key and not key.isdigit()
        }
        self._reach = _SPACING * max(map(len, keys), default=0)
        self._pattern = re.compile(r"(?!)")
        if firsts:  # the first letter alone rules most places out; a lookahead finds labels that overlap
            self._pattern = re.compile(rf"(?i:(?=[{firsts}]))(?={'|'.join(each)})")

    def standing(self, text: str, start: int = 0) -> Iterator[Standing]:
        """Yield the labels that stand in a text from `start` on, in order; only the outermost of nested ones."""
        end = -1
        for match in self._pattern.finditer(text, start):
            place = match.lastindex or 0
            standing = Standing(self._order[place - 1], *match.span(place))
            if standing.end <= end:
                continue
            if not self._is_part_of_a_word(text, standing) and not self._is_made_longer(text, standing):
                end = standing.end
                yield standing

    def the_only_one(self, text: str, start: int = 0) -> list[Standing]:
        """Return all places of a text's only label; none if there are other labels, or a denial ("not X")."""
        places: list[Standing] = []
        for standing in self.standing(text, start):
            before = _DENIED_BEFORE.search(text, max(0, standing.start - _BEFORE), standing.start)
            is_denied = before or _DENIED_AFTER.match(text, standing.end, standing.end + _AFTER)
            if is_denied or (places and places[0].label != standing.label):
                return []
            places.append(standing)
        return places

    def _is_made_longer(self, text: str, standing: Standing) -> bool:
        """Whether the text around a label turns it into a longer label, punctuation apart."""
        around = self._around.get(standing.label)
        if not around:
            return False
        before = _letters(text[max(0, standing.start - self._reach) : standing.start])
        after = _letters(text[standing.end : standing.end + self._reach])
        return any(before.endswith(head) and after.startswith(tail) for head, tail in around)

    def _is_part_of_a_word(self, text: str, standing: Standing) -> bool:
        """Check what a pattern can't: combining marks that continue a word, and articles."""
        if standing.end < len(text) and text[standing.end] > "\u02ff":
            mark = unicodedata.category(text[standing.end])[0] == "M"
            return mark and text[standing.end - 1].isalnum()
        if self.labels[standing.label] not in {"A", "I"} or not re.match(r"[ \t]+[a-z]", text[standing.end :][:9]):
            return False
        before = text[max(0, standing.start - 9) : standing.start].rstrip(" \t\"'*_`(“‘")
        return not before or before[-1] in ".!?\n"


def joined_key(label: str) -> str:
    """Return a label without case and separators, and with "and" for "&"; between digits any dash is a hyphen.

    >>> [joined_key(label) for label in ("Human_being", "11 – 50", "AB-")]
    ['humanbeing', '11-50', 'ab-']
    """
    return _SEPARATORS.sub("", _BETWEEN_DIGITS.sub("-", label.casefold().replace("&", "and")))


def _letters(text: str) -> str:
    return re.sub(r"\W|_", "", joined_key(text))


def _longer(key: str, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What stands before and after a label's letters in longer labels."""
    for longer in keys:
        for match in re.finditer(re.escape(key), longer):
            yield longer[: match.start()], longer[match.end() :]


def _pattern(label: str, case_tells: bool, separators_tell: bool) -> str:
    """The pattern of one label, as a group of its own, with what may not stand next to it."""
    gap = r"\s+" if separators_tell else _SEPARATOR
    name = gap.join(_AND.get(part.casefold(), re.escape(part)) for part in re.split(gap, label) if part)
    if not re.search(r"\w", label) or re.search(r"\A[\s_\-]|[\s_\-]\Z", label):
        name = re.escape(label)
    is_short = re.fullmatch(r"\w|[A-Z]{2}", label) is not None and label != "NO"
    flag = "-i" if case_tells or (is_short and not label.isdigit()) else "i"
    return f"{_not_before(label[0], is_short)}(?{flag}:({name})){_not_after(label[-1], is_short)}"


def _not_before(first: str, is_short: bool) -> str:
    if first == ">":
        return r"(?<![\w/-])"  # the end of a tag, or an arrow
    if not re.match(_LETTER, first):
        return ""
    pattern = rf"(?<!{_LETTER})(?<!(?!\d){_LETTER}{_JOINT})"
    if is_short:
        pattern += rf"(?<!{_LETTER}[.'’])"
    if first.isdigit():
        pattern += rf"(?<!\d[.,:/\-])(?<![\-−$€£¥]){_NOT_COMPARED}"
    return pattern


def _not_after(last: str, is_short: bool) -> str:
    if not re.match(_LETTER, last):
        return ""
    pattern = rf"(?!{_LETTER})(?!{_JOINT}{_LETTER})"
    if is_short:
        pattern += rf"(?![+#]|[.'’]{_LETTER})"
    if last.isdigit():
        pattern += r"(?![.,:]\d|\s?[%‰€£¥])"
    return pattern
