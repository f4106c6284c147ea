"""An instruction, read for framing: where it begins, whether it orders or asks, and whether it is in English."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from psopt.rephrasings._passages import protected_ranges, sentence_ranges
from psopt.text import FUNCTION_WORDS, words_of

if TYPE_CHECKING:
    from collections.abc import Collection

Form = Literal["order", "question", "statement"]

_VERB = re.compile(
    r"analy[sz]e|annotate|assess|assign|categori[sz]e|choose|classify|compare|consider|decide|detect|determine|discern"
    r"|distinguish|evaluate|examine|extract|identify|infer|inspect|interpret|predict|read|recogni[sz]e|verify",
    re.IGNORECASE,
)
_VERB_OR_NOUN = re.compile(
    r"answer|check|divide|estimate|figure|file|filter|find|flag|give|group|guess|indicate|judge|label|look|map|mark|match"
    r"|name|pick|place|put|rank|rate|return|review|route|say|score|select|separate|sort|specify|split|spot|state|tag|tell"
    r"|use|work",
    re.IGNORECASE,
)
_AFTER_A_VERB = re.compile(
    r"a|all|an|any|as|at|between|each|every|exactly|from|given|how|if|into|its?|me|my|one|only|our|out|some|that|the|their"
    r"|them|these|this|those|to|us|what|whether|which|who|whom|whose|with|your|[{<\[\"'`].*",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORD = re.compile(
    r"are|can|could|did|do|does|has|have|how|in|is|of|should|to|was|were|what|when|where|which|who|whom|whose|why|will"
    r"|would",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:please,?|kindly|your (?:task|job|goal|role) is to"
    r"|you (?:should|must|need to|have to|are to|are asked to|will)|(?:I|we) (?:want|need|would like) you to)\s+",
    re.IGNORECASE,
)
_FEWEST_FOREIGN = 2  # one alone may be a name: "Label La La Land reviews"
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


@cache
def wordings_file() -> dict[str, Any]:
    """Read wordings.toml, once."""
    return tomllib.loads(resources.files("psopt.rephrasings").joinpath("wordings.toml").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """Return one of its lists of words."""
    return frozenset(wordings_file()[name].split())


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction in two pieces."""

    text: str  # the whole, as it was written
    lead: str  # what stands before the first sentence that orders or asks, the space after it included
    # The rest, without a polite frame of its own ("Please ..", "Your task is to .."), so that it can get another
    core: str
    form: Form  # what the core is: ``order`` (begins with an imperative), ``question`` or ``statement``

    @property
    def is_one_sentence(self) -> bool:
        """Whether words may be put after the core within its sentence."""
        ends_plainly = re.search(r"\w\.?$", self.core) is not None and "://" not in self.core.rsplit(None, 1)[-1]
        return len(sentence_ranges(self.core)) == 1 and re.search(r"[:;]\s", self.core) is None and ends_plainly


def read_instruction(text: str, protect: Collection[str] = ()) -> Instruction:
    """Find the first sentence that orders or asks; words to `protect` are never taken for verbs.

    >>> read_instruction("You sort mail. Please say whether it is urgent.").core
    'Say whether it is urgent.'
    """
    protected = {word.casefold() for word in protect}
    for start, end in sentence_ranges(text):
        sentence = text[start:end]
        frame = _POLITE.match(sentence)
        core = sentence[frame.end() :] if frame else sentence
        form = _form(core, protected)
        if form == "order" or (form == "question" and not frame):
            begin = start + (frame.end() if frame else 0)
            return Instruction(text, text[:start], begun(text[begin:]), form)
    return Instruction(text, "", text, "statement")


def continued(text: str) -> str:
    """A text as it goes on after other words: its first word in lower case, unless it is all capitals."""
    first = text.split(None, 1)[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def begun(text: str) -> str:
    """A text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def with_sentence(text: str, sentence: str) -> str:
    """Add a sentence: after a text, or before it where what comes after would not stand apart.

    >>> with_sentence("Sort it", "Be careful."), with_sentence("The class is:", "Be careful.")
    ('Sort it. Be careful.', 'Be careful. The class is:')
    """
    if re.search(r"[.!?…][\"'”’»)\]]*$", text):
        return f"{text} {sentence}"
    if "://" in text.rsplit(" ", 1)[-1] or re.search(r"[\w)\]}\"'”’»`>]$", text) is None:
        return f"{sentence} {text}"
    return f"{text}. {sentence}"


def is_english(text: str) -> bool:
    """Tell whether an instruction may be English; only what is surely another language is not.

    What is protected (fields, quotations, data) does not count. Decided by the alphabet, then by frequent words.

    >>> is_english("Sort the mail by topic."), is_english("Ordne die Anfrage nach ihrem Thema ein.")
    (True, False)
    """
    for start, end in reversed(protected_ranges(text)):
        text = f"{text[:start]} {text[end:]}"
    letters = [sign for sign in text if sign.isalpha()]
    n_latin = sum(_LATIN.match(letter) is not None for letter in letters)
    if 2 * n_latin < len(letters):
        return False
    words = set(words_of(text))
    foreign = word_list("foreign_words")
    n_foreign = len(words & foreign)
    return n_foreign < _FEWEST_FOREIGN or n_foreign <= len(words & FUNCTION_WORDS - foreign - word_list("shared_words"))


def _form(text: str, protected: Collection[str]) -> Form:
    first, second = [*text.split(None, 2), "", ""][:2]
    if first.casefold().rstrip(",.:;") in protected:
        return "statement"
    if _VERB.fullmatch(first) and second:
        return "order"
    if _VERB_OR_NOUN.fullmatch(first) and _AFTER_A_VERB.fullmatch(second.rstrip(",.:;")):
        return "order"
    if _QUESTION_WORD.fullmatch(first) and re.match(r"[^.!?]*\?", text):
        return "question"
    return "statement"
