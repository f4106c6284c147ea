"""A task description taken apart: what must stay as it is, how it can be framed, and where a sentence can be added."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Form = Literal["command", "question", "statement"]

KEPT = "\ue000"
"""Opens the mark that stands for a part that is kept as it is."""
KEPT_END = "\ue001"
_MARK = re.compile(rf"{KEPT}(\d+){KEPT_END}")
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
    rf"[{KEPT}{KEPT_END}]",
)

_COMMAND = re.compile(
    r"analy[sz]e|annotate|assess|assign|categori[sz]e|choose|classify|compare|consider|decide|detect|determine|discern"
    r"|distinguish|evaluate|examine|extract|identify|infer|inspect|interpret|predict|read|recogni[sz]e|verify",
    re.IGNORECASE,
)
_COMMAND_OR_NOUN = re.compile(
    r"answer|check|divide|estimate|figure|file|filter|find|flag|give|group|guess|indicate|judge|label|look|map|mark|match"
    r"|name|pick|place|put|rank|rate|return|review|route|say|score|select|separate|sort|specify|split|spot|state|tag|tell"
    r"|use|work",
    re.IGNORECASE,
)
_AFTER_A_COMMAND = re.compile(
    r"a|all|an|any|as|at|between|each|every|exactly|from|given|how|if|into|its?|me|my|one|only|our|out|some|that|the|their"
    r"|them|these|this|those|to|us|what|whether|which|who|whom|whose|with|your",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(
    r"are|can|could|did|do|does|has|have|how|in|is|of|should|to|was|were|what|when|where|which|who|whom|whose|why|will"
    r"|would",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:please,?|kindly|your (?:task|job|goal|role) is to"
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


def read_description(text: str, protect: Sequence[str] = (), keep: Sequence[str] = ()) -> Description:
    """Take a description apart; words to `protect` in any case, parts to `keep` byte for byte.

    >>> read_description("Please say whether the text is positive.").core
    'Say whether the text is positive.'
    >>> read_description('Is it "spam"?').kept
    ('"spam"',)
    """
    kept: list[str] = []
    as_written = {" ".join(part.split()): part for part in keep}

    def put_away(part: re.Match[str]) -> str:
        kept.append(as_written.get(part.group(), part.group()))
        return f"{KEPT}{len(kept) - 1}{KEPT_END}"

    words = sorted((re.escape(word) for word in protect if word.strip()), key=len, reverse=True)
    whole = [re.escape(part) for part in sorted(as_written, key=len, reverse=True)]
    patterns = [*whole, *_VERBATIM, *(rf"(?<!\w)(?i:{word})(?!\w)" for word in words)]
    marked = re.sub("|".join(patterns), put_away, " ".join(text.split()))
    return description_of(marked, tuple(kept))


def description_of(text: str, kept: tuple[str, ...]) -> Description:
    """A text that holds marks of kept parts already, as a description."""
    core = _without_frame(text)
    return Description(text, core, _form(core), kept)


def reads_as_command(text: str) -> bool:
    """Tell whether a text begins with an imperative.

    >>> reads_as_command("Sort the mail"), reads_as_command("Sort of mail")
    (True, False)
    """
    return _form(text) == "command"


def continued(text: str) -> str:
    """A text as it goes on after other words: its first word in lower case, unless it is all capitals."""
    first = text.split(" ", 1)[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def begun(text: str) -> str:
    """A text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def with_sentence(text: str, sentence: str) -> str:
    """Add a sentence: after a text, or before it where what comes after would not stand apart.

    >>> with_sentence("Sort it", "Be careful."), with_sentence("The class is:", "Be careful.")
    ('Sort it. Be careful.', 'Be careful. The class is:')
    """
    if _is_closed(text):
        return f"{text} {sentence}"
    if _is_address(text) or re.search(r"[\w)\]}\"'”’»`>]$", text) is None:
        return f"{sentence} {text}"
    return f"{text}. {sentence}"


def _is_closed(text: str) -> bool:
    return re.search(r"[.!?…][\"'”’»)\]]*$", text) is not None


def _is_address(text: str) -> bool:
    """Whether a text ends in an address, which a full stop would spoil."""
    return "://" in text.rsplit(" ", 1)[-1]


def _without_frame(text: str) -> str:
    frame = _POLITE.match(text)
    core = text[frame.end() :] if frame else text
    return begun(core) if frame and _form(core) == "command" else text


def _form(text: str) -> Form:
    first, second = [*text.split(" ", 2), "", ""][:2]
    if _COMMAND.fullmatch(first) and second:
        return "command"
    if _COMMAND_OR_NOUN.fullmatch(first) and (_AFTER_A_COMMAND.fullmatch(second.rstrip(",.:;")) or second[:1] == KEPT):
        return "command"
    if _QUESTION_WORD.fullmatch(first) and re.match(r"[^.!?]*\?", text):
        return "question"
    return "statement"
