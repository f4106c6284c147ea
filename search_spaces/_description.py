"""A task description taken apart: what must stay as it is, how it can be framed, and what may follow it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Form = Literal["command", "question", "statement"]

KEPT = "\ue000"
"""Opens the mark that stands for a part that is kept as it is."""
_KEPT_END = "\ue001"
_MARK = re.compile(rf"{KEPT}(\d+){_KEPT_END}")
_VERBATIM = (
    r"https?://\S+",
    r"\"[^\"]*\"",
    r"“[^“”]*”",
    r"(?<!\w)'[^']*'(?!\w)",
    r"(?<!\w)‘[^‘]*?’(?!\w)",
    r"`[^`]*`",
    r"\{[^{}]*\}",
    r"\[[^\[\]]*\]",
    r"<[^<>]*>",
    rf"[{KEPT}{_KEPT_END}]",
)

_COMMANDS = frozenset(
    [
        "analyse",
        "analyze",
        "annotate",
        "assess",
        "assign",
        "categorise",
        "categorize",
        "choose",
        "classify",
        "compare",
        "consider",
        "decide",
        "detect",
        "determine",
        "discern",
        "distinguish",
        "evaluate",
        "examine",
        "extract",
        "identify",
        "infer",
        "inspect",
        "interpret",
        "predict",
        "read",
        "recognise",
        "recognize",
        "verify",
    ]
)
_COMMANDS_OR_NOUNS = frozenset(
    [
        "answer",
        "check",
        "estimate",
        "figure",
        "find",
        "flag",
        "give",
        "group",
        "guess",
        "indicate",
        "judge",
        "label",
        "look",
        "map",
        "mark",
        "match",
        "name",
        "pick",
        "place",
        "put",
        "rank",
        "rate",
        "return",
        "review",
        "route",
        "say",
        "score",
        "select",
        "separate",
        "sort",
        "specify",
        "state",
        "tag",
        "tell",
        "use",
        "work",
    ]
)
_AFTER_A_COMMAND = frozenset(
    [
        "a",
        "all",
        "an",
        "any",
        "as",
        "at",
        "between",
        "each",
        "every",
        "exactly",
        "from",
        "given",
        "how",
        "if",
        "into",
        "it",
        "its",
        "me",
        "my",
        "one",
        "only",
        "our",
        "out",
        "some",
        "that",
        "the",
        "their",
        "them",
        "these",
        "this",
        "those",
        "to",
        "us",
        "what",
        "whether",
        "which",
        "who",
        "whom",
        "whose",
        "with",
        "your",
    ]
)
_QUESTION_WORDS = frozenset(
    [
        "are",
        "can",
        "could",
        "did",
        "do",
        "does",
        "has",
        "have",
        "how",
        "in",
        "is",
        "of",
        "should",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "would",
    ]
)
_POLITE = re.compile(
    r"(?:please|kindly|your (?:task|job|goal|role) is to"
    r"|you (?:should|must|need to|have to|are to|are asked to|will)|(?:I|we) (?:want|need|would like) you to) ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Description:
    """A description, read for rephrasing.

    Attributes
    ----------
    text : str
        On one line, a mark in the place of each part that is kept as it is.
    core : str
        The same without a polite frame of its own ("Please ..", "Your task is to .."), so that it can get another.
    form : str
        What the core is: ``command`` (begins with an imperative), ``question`` or ``statement``.
    kept : tuple of str
        The parts that are kept: quotations, anything in braces, addresses, protected words.
    """

    text: str
    core: str
    form: Form
    kept: tuple[str, ...]

    @property
    def is_one_sentence(self) -> bool:
        """Whether words may be put after the core within its sentence."""
        return re.search(r"[.!?:;] ", self.core) is None and re.search(r"\w\.?$", self.core) is not None

    def restore(self, text: str) -> str:
        """Put the kept parts back in the place of their marks."""
        return _MARK.sub(lambda mark: self.kept[int(mark[1])], text)


def read_description(text: str, protect: Sequence[str] = ()) -> Description:
    """Take a description apart.

    >>> read_description('Please say if it is "spam".')
    Description(text='Please say if it is \ue0000\ue001.', core='Say if it is \ue0000\ue001.', form='command', kept=('"spam"',))
    """
    kept: list[str] = []

    def put_away(found: re.Match[str]) -> str:
        kept.append(found.group())
        return f"{KEPT}{len(kept) - 1}{_KEPT_END}"

    words = sorted((re.escape(word) for word in protect if word.strip()), key=len, reverse=True)
    patterns = [*_VERBATIM, *(rf"(?<!\w)(?i:{word})(?!\w)" for word in words)]
    marked = re.sub("|".join(patterns), put_away, " ".join(text.split()))
    core = _without_frame(marked)
    return Description(marked, core, _form(core), tuple(kept))


def continued(text: str) -> str:
    """A text as it goes on after other words: its first word in lower case, unless it is all capitals."""
    first = text.split(" ", 1)[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def begun(text: str) -> str:
    """A text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def can_be_followed(text: str) -> bool:
    """Whether another sentence may follow: not after a colon, nor where a full stop would spoil an address."""
    return _is_closed(text) or (re.search(r"[\w)\]}\"'”’»`>]$", text) is not None and "://" not in text.split()[-1])


def followed_by(text: str, sentence: str) -> str:
    """Add a sentence.

    >>> followed_by("Sort it", "Be careful."), followed_by('Say "yes."', "Be careful.")
    ('Sort it. Be careful.', 'Say "yes." Be careful.')
    """
    return f"{text}{'' if _is_closed(text) else '.'} {sentence}"


def _is_closed(text: str) -> bool:
    return re.search(r"[.!?…][\"'”’»)\]]*$", text) is not None


def _without_frame(text: str) -> str:
    frame = _POLITE.match(text)
    core = text[frame.end() :] if frame else text
    return begun(core) if frame and _form(core) == "command" else text


def _form(text: str) -> Form:
    first, second = [*text.split(" ", 2), "", ""][:2]
    second = second.rstrip(",.:;").casefold()
    if first.casefold() in _COMMANDS and second:
        return "command"
    if first.casefold() in _COMMANDS_OR_NOUNS and (second in _AFTER_A_COMMAND or second.startswith(KEPT)):
        return "command"
    if first.casefold() in _QUESTION_WORDS and re.match(r"[^.!?]*\?", text):
        return "question"
    return "statement"
