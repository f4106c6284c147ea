"""An instruction, and the sentences of wordings.toml that may stand around it or, by naming the labels, replace it.

Reading an instruction shows where it begins, whether it orders or asks, and whether it is in English.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from psopt.rephrasings._passages import outside, protected_ranges, sentence_ranges
from psopt.text import FUNCTION_WORDS, names_label, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

T = TypeVar("T")
Form = Literal["order", "question", "statement"]

_POLITE = re.compile(
    r"\A(?:please,?|kindly|(?:your )?(?:task|job|goal|instructions?)(?: is to|:)"
    r"|you (?:should|must|need to|have to|are to|are asked to|will)|(?:I|we) (?:want|need|would like) you to)\s+",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_MOSTLY_LATIN = 0.75  # of the letters: Chinese has few, so half of them may be English labels. Chosen, not measured
Side = Literal["search", "heldout"]

# Chosen, not measured: nobody enumerates more labels than this in a sentence, and an instruction of more words says
# more than the labels do.
_MOST_NAMED = 8
_MOST_WORDS = 20
_SHORTEST_LABEL = 3
"""Shorter labels ("a", "no") are everyday words, and frames may contain them."""
_NOT_SAID = re.compile(r"\b(?:not|never|no|only|unless|except|without|but|if|also)\b|n['’]t\b|\d", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?:;](?=\s)|\n")
_SAYS_WHAT = re.compile(r"[^\W\d_]{2,}")
_SLOT = re.compile(r"\{\w+\}")
_LISTS = re.compile(r"\{(?:list|or)\}")
_FIXES_ANSWER = re.compile(r"(?:Answer|Your answer|Respond|Say)\b")
# One order to read and one role are enough: two read badly.
_READING = re.compile(r"\b(?:read|look|go through|consider)\b", re.IGNORECASE)
_ROLE = re.compile(r"\b(?:you are an? |act as |as an? (?:careful|expert|specialist))", re.IGNORECASE)


Frames = dict[str, list[str]]
"""Sentences of one side of wordings.toml, search or held-out, by kind; the file explains each kind."""


@cache
def wordings_file() -> dict[str, Any]:
    """Read wordings.toml, once."""
    return tomllib.loads(resources.files("psopt.rephrasings").joinpath("wordings.toml").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """Return one of the word lists in wordings.toml."""
    return frozenset(wordings_file()[name].split())


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction in two pieces."""

    text: str  # the whole, as it was written
    lead: str  # what stands before the first sentence that orders or asks, including the space after it
    # The rest, without a polite frame of its own ("Please ..", "Your task is to .."), so that it can get another
    core: str
    form: Form  # what the core is: ``order`` (begins with an imperative), ``question`` or ``statement``

    @property
    def is_one_sentence(self) -> bool:
        """Whether words may be appended to the core within its sentence."""
        ends_plainly = re.search(r"\w\.?$", self.core) is not None and "://" not in self.core.rsplit(None, 1)[-1]
        return len(sentence_ranges(self.core)) == 1 and re.search(r"[:;]\s", self.core) is None and ends_plainly


def read_instruction(text: str, protect: Collection[str]) -> Instruction:
    """Find the first sentence that orders or asks; words to `protect` are never taken for verbs.

    >>> read_instruction("You sort mail. Please say whether it is urgent.", ()).core
    'Say whether it is urgent.'
    """
    protected = {word.casefold() for word in protect}
    for start, end in sentence_ranges(text):
        core = _POLITE.sub("", text[start:end])
        form = _form(core, protected)
        if form == "order" or (form == "question" and core == text[start:end]):
            return Instruction(text, text[:start], core[:1].upper() + core[1:] + text[end:], form)
    return Instruction(text, "", text, "statement")


def _continued(text: str) -> str:
    """A text as it continues after other words: its first word in lower case, unless it is all capitals."""
    first = text.split(None, 1)[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def with_sentence(text: str, sentence: str) -> str:
    """Add a sentence: after a text, or before it if a sentence after it would run into it.

    >>> with_sentence("Sort it", "Be careful."), with_sentence("The class is:", "Be careful.")
    ('Sort it. Be careful.', 'Be careful. The class is:')
    """
    if re.search(r"[.!?…][\"'”’»)\]]*$", text):
        return f"{text} {sentence}"
    runs_into_it = "://" in text.rsplit(" ", 1)[-1] or re.search(r"[\w)\]}\"'”’»`>]$", text) is None
    return f"{sentence} {text}" if runs_into_it else f"{text}. {sentence}"


def is_english(text: str) -> bool:
    """Tell whether an instruction may be English; only what is surely in another language is not.

    What is protected (fields, quotations, data) does not count. The alphabet decides first, then Spanish marks, then
    whether frequent foreign words outnumber frequent English ones. A word with a capital may be a name.

    >>> is_english("Sort the mail by topic."), is_english("Ordne die Anfrage nach ihrem Thema ein.")
    (True, False)
    >>> is_english("¿Correo deseado?"), is_english("担当を答えてください: billing、technical。")
    (False, False)
    """
    text = " ".join(outside(text, protected_ranges(text)))
    letters = [sign for sign in text if sign.isalpha()]
    n_latin = sum(_LATIN.match(letter) is not None for letter in letters)
    if _MOSTLY_LATIN * len(letters) > n_latin or "¿" in text or "¡" in text:
        return False
    words = set(words_of(text))
    foreign = word_list("foreign_words")
    n_foreign = len(foreign.intersection(words_of(re.sub(r"\b[^\W\d_a-z]\w*", " ", text))))
    verbs = word_list("verbs") | word_list("verbs_or_nouns")
    english = words & (FUNCTION_WORDS | verbs) - foreign - word_list("shared_words")
    return n_foreign <= len(english)


def _form(text: str, protected: Collection[str]) -> Form:
    first, second = [*text.casefold().split(None, 2), "", ""][:2]
    if first.rstrip(",.:;") in protected:
        return "statement"
    if first.rstrip(",") in word_list("verbs") and second:
        return "order"
    is_object = second.startswith(("{", "<", "[", '"', "'", "`")) or second.rstrip(",.:;") in word_list("after_a_verb")
    if first in word_list("verbs_or_nouns") and is_object:
        return "order"
    if first in word_list("question_words") and re.match(r"[^.!?]*\?", text):
        return "question"
    return "statement"


def frames_without(side: Side, words: Sequence[str]) -> Frames:
    """The sentences of a side that contain none of these words, so that no frame brings in a label."""
    frames: Frames = wordings_file()[side]
    words = [re.escape(word.strip()) for word in words if len(word.strip()) >= _SHORTEST_LABEL]
    if not words:
        return frames
    named = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)

    def is_free(text: str) -> bool:
        return named.search(_SLOT.sub("", text)) is None

    return {kind: list(filter(is_free, texts)) for kind, texts in frames.items()}


@dataclass(frozen=True, slots=True)
class Named:
    """What wordings may say besides the instruction."""

    noun: str  # what one sample is called
    labels: tuple[str, ...] = ()  # the labels, if wordings may name them
    alone: bool = False  # whether labels may replace the instruction, where it says no more than they do
    asks_for_label: bool = False  # whether the prompt asks for nothing but a label, so that a wording may say so too
    # Whether sentences may stand before and after it; otherwise only the order itself is reworded
    around: bool = True

    @property
    def slots(self) -> dict[str, str]:
        """The texts for the slots of frames."""
        joint = "; " if any("," in label for label in self.labels) else ", "
        several = (joint.join(self.labels[:-1]), *self.labels[-1:])
        return {
            "noun": self.noun,
            "list": joint.join(self.labels),
            "or": " or ".join(several),
            "and": " and ".join(several),
        }


def wordings(text: str, frames: Frames, named: Named, seed: int | Sequence[int]) -> Iterator[str]:
    """Yield rewordings of an instruction, their kinds taking turns: plain ones first, then two sentences at once.

    Where labels may be named, every second wording names them all, as people's wordings do. On SmolLM2 a mix of both,
    half and half, shows about the S of people's wordings; those that name none show two thirds to nine tenths of it
    (`experiments/whose_words.py`).
    """
    instruction = read_instruction(text, named.labels)
    rng = np.random.default_rng(seed)
    slots = named.slots
    in_its_form = _in_its_form(instruction, frames, slots)
    in_any: list[str] = []
    closings: list[str] = []
    if named.around:
        in_any = [frame.format(D=text, **slots) for frame in frames["frames"] if _suits(frame, instruction, text)]
        closings = [closing.format(**slots) for closing in frames["closings"]]
    beside = _beside(instruction, frames, named, slots)
    by_labels = _by_labels(instruction, frames, named, slots)
    closed = [with_sentence(text, closing) for closing in closings]
    kinds = [shuffled(kind, rng) for kind in (by_labels, in_its_form, beside, in_any, closed)]
    yield from by_turns(*naming_and_others(by_turns(*kinds), named.labels))
    for pair in shuffled(list(itertools.product([*in_its_form, *in_any, *beside], closings)), rng):
        yield with_sentence(*pair)


def shuffled(values: Sequence[T], rng: np.random.Generator) -> list[T]:
    """The values in a random order."""
    return [values[int(place)] for place in rng.permutation(len(values))]


def by_turns(*kinds: Iterable[str]) -> Iterator[str]:
    """Yield one of each kind in turn, until all are used up."""
    for layer in itertools.zip_longest(*kinds):
        yield from (wording for wording in layer if wording is not None)


def naming_and_others(texts: Iterable[str], labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate the texts that name all labels, if there are labels, from the others.

    >>> naming_and_others(["Is it A1 or B2?", "Sort it.", "A1 it is."], ["A1", "B2"])
    (['Is it A1 or B2?'], ['Sort it.', 'A1 it is.'])
    """
    naming: list[str] = []
    others: list[str] = []
    for text in texts:
        names_all = labels and all(names_label(text, label, match_case=True) for label in labels)
        (naming if names_all else others).append(text)
    return naming, others


def _in_its_form(instruction: Instruction, frames: Frames, slots: dict[str, str]) -> list[str]:
    """The instruction in frames that fit what it is, an order or a question."""
    forms = {"order": frames["orders"], "question": frames["questions"]}.get(instruction.form, [])
    framed = []
    if not instruction.lead and instruction.core != instruction.text:
        framed.append(instruction.core)
    for frame in forms:
        if _suits(frame, instruction, instruction.core):
            core = instruction.core if frame.endswith("}") else instruction.core.removesuffix(".")
            framed.append(instruction.lead + frame.format(D=core, d=_continued(core), **slots))
    return framed


def _suits(frame: str, instruction: Instruction, text: str) -> bool:
    """Whether a frame goes with a text: "Read it. Read it and .." reads badly, and so does "Task: Task .."."""
    if not frame.endswith(("{d}", "{D}")):
        ends_protected = any(end == len(text) for _, end in protected_ranges(text))  # a full stop there stays
        if ends_protected or not instruction.is_one_sentence:
            return False
    if any(kind.search(frame) and kind.search(instruction.text) for kind in (_READING, _ROLE)):
        return False
    first = text.split()[0]
    if first.endswith(":") and first != text and ": {" in frame:
        return False
    return frame.split()[0].casefold().rstrip(":") != first.casefold().rstrip(":")


def _beside(instruction: Instruction, frames: Frames, named: Named, slots: dict[str, str]) -> list[str]:
    """The instruction with the labels named before or after it, or with the form of the answer repeated."""
    if not named.labels or (named.alone and not named.asks_for_label):
        return []
    text = instruction.text
    beside = []
    if len(named.labels) <= _MOST_NAMED:
        closings = frames["label_closings"]
        if not named.asks_for_label:  # "Your answer must be A or B" contradicts a template that asks for JSON
            closings = [closing for closing in closings if not _FIXES_ANSWER.match(closing)]
        beside = [f"{opening.format(**slots)} {text}" for opening in frames["label_openings"]]
        beside += [with_sentence(text, closing.format(**slots)) for closing in closings]
    if named.asks_for_label:
        beside += [with_sentence(text, closing) for closing in frames["answer_closings"]]
    return beside


def _by_labels(instruction: Instruction, frames: Frames, named: Named, slots: dict[str, str]) -> list[str]:
    """Wordings that let the labels express the order or question; none where labels don't suffice.

    Only one plain sentence can be reworded so: labels don't contain further sentences, exceptions or conditions, and
    "yes" or "high" don't say what they are about. What stands before the sentence stays.
    """
    core, labels = instruction.core, named.labels
    if not named.alone or instruction.form == "statement" or len(labels) < 2 or len(core.split()) > _MOST_WORDS:
        return []
    if _SENTENCE_ENDS.search(core.strip()) or _NOT_SAID.search(core):
        return []
    protected = (core[start:end].strip("\"'`“”‘’") for start, end in protected_ranges(core))
    if not set(labels).issuperset(protected):  # fields, addresses, quotations: labels alone don't say them
        return []
    words = set(re.split(r"[\W_]+", " ".join(labels).casefold()))
    if words & word_list("scale_labels") or not all(_SAYS_WHAT.search(label) for label in labels):
        return []
    ways = [way for way in frames["by_labels"] if len(labels) <= _MOST_NAMED or not _LISTS.search(way)]
    return [instruction.lead + way.format(**slots) for way in ways]
