"""What a sentence of a task description says, in parts, by which `_ways` can say it otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.rephrasings._description import KEPT, begun, continued, reads_as_command
from psopt.rephrasings._grammar import (
    DETERMINER,
    as_clause,
    as_indirect,
    as_phrase,
    as_question,
    is_plural,
    resolved,
)
from psopt.rephrasings._passive import compact_phrase, passive_clause, passive_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

_OBJECT = r"(?P<o>[^,.;:!?]{1,80}?)"
_SORT = r"(?:classify|categori[sz]e|sort|group|label|file|arrange|organi[sz]e|divide)"
_BY = r"(?:by|based on|according to|on the basis of|depending on)"
_INTO = r"(?:into|to one of|to exactly one of|under one of|in one of)"
_BY_CRITERION = re.compile(
    rf"{_SORT} {_OBJECT}(?P<k> into [^,;:!?]{{1,60}}?)? {_BY} (?P<c>(?:(?!\bas\b)[^,;:!?]){{2,120}}?)"
    r"(?P<end> into [^,;:!?]{1,60})?",
    re.IGNORECASE,
)
_INTO_CLASSES = re.compile(
    rf"(?:{_SORT}|assign|allocate|route|forward|send|direct|dispatch|put|place|match) {_OBJECT} (?:in|into|to|under|with)"
    r" (?P<x>(?:one of|the|a|an|exactly one of) [^;:!?]{2,140})",
    re.IGNORECASE,
)
_AS_ALTERNATIVES = re.compile(
    rf"(?:{_SORT}|mark|tag|flag|rate|annotate) {_OBJECT} as (?:either )?(?P<ab>[^.;:!?]{{1,80}} or [^,.;:!?]{{1,40}})",
    re.IGNORECASE,
)
_CONDITION = r"\b(?:if|when|unless|depending|based|according|by|because|whether)\b"
_ASK = (
    r"(?:decide|determine|identify|say|state|tell(?: me| us)?|judge|find out|figure out|work out|check|see|indicate|specify"
    r"|predict|assess|establish|report|settle|name|choose|select|pick|recogni[sz]e|detect)"
)
_ASKED = re.compile(rf"{_ASK} (?P<w>(?:whether|if|which|what|who|how|why|where) .+)", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:determine|identify|name|give|state|predict|establish|recogni[sz]e|detect|find|assess|infer|indicate|specify|report)"
    r" (?P<f>(?:the|its) .+)",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"(?:choose|select|pick|find|give) (?P<x>the (?!.*\bof\b).+)", re.IGNORECASE)
_GIVEN = re.compile(rf"(?:you are|you're|you will be|you'll be) (?:given|shown) (?P<o>(?:a|an|the|one|some) .+)", re.IGNORECASE)
_READ = re.compile(r"(?:carefully )?read (?P<o>(?:the|this|each|every|a|an|all) [^,;:]+?)(?: carefully| closely)?", re.IGNORECASE)
_GIVEN_DO = re.compile(r"given (?P<o>(?:the|an?|this|each|one) [^,;:]+), (?P<d>.+)", re.IGNORECASE)
_ROLE = re.compile(r"(?:you are|you're|act as) (?P<r>(?:an?|the) (?!task|text|list)[^;:!?]+)", re.IGNORECASE)
_WORK = re.compile(r"you (?P<d>(?:work|read|route|sort|handle|label|answer|classify|review|check|help|look) .+)", re.IGNORECASE)
_ON_CONDITION = re.compile(r"if (?P<a>[^,;:]+), (?:then )?(?P<b>[^;:]+)", re.IGNORECASE)
_FORBIDDEN = re.compile(r"(?:please )?(?:do not|don['’]t|never) (?P<v>[^;:]+)", re.IGNORECASE)
_POLITE = re.compile(r"(?:please,?|you (?:should|must|need to|have to|are to)|your (?:task|job) is to) ", re.IGNORECASE)
_JOINT = re.compile(r"(?:,? and then|, then|,? and) (?=(\w+) )")
_LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a sentence: the name of the ways to say it, and what goes into their slots."""

    name: str
    slots: dict[str, str]


def readings(sentence: str) -> list[Reading]:
    """Every way in which an English sentence is understood; none of one that is not.

    >>> [reading.name for reading in readings("Classify the text by its topic.")]
    ['classified by', 'asked', 'named']
    >>> readings("Der Text ist gut.")
    []
    """
    if sentence.endswith(":") or sentence.isupper():
        return []
    if sentence.endswith("?"):
        return list(_of_question(sentence[:-1].rstrip()))
    core = _POLITE.sub("", sentence.rstrip(". "), count=1) if _POLITE.match(sentence) else sentence.rstrip(". ")
    return list(_of_statement(core))


def _of_question(question: str) -> Iterator[Reading]:
    clause = as_indirect(question)
    if clause is None:
        return
    yield from _of_clause(clause, question)


def _of_statement(text: str) -> Iterator[Reading]:
    """Readings of an order, or of a sentence about the one who is to do it."""
    if match := _GIVEN_DO.fullmatch(text):
        yield Reading("given, do", {"{o}": match["o"], **_ends(match["d"])})
        return
    if match := _ON_CONDITION.fullmatch(text):
        yield Reading("on condition", {"{a}": match["a"], "{b}": match["b"], "{B}": begun(match["b"])})
        return
    for name, pattern in (("forbidden", _FORBIDDEN), ("given", _GIVEN), ("role", _ROLE)):
        if match := pattern.fullmatch(text):
            yield Reading(name, {f"{{{slot}}}": value for slot, value in match.groupdict().items()})
            return
    if match := _WORK.fullmatch(text):
        yield Reading("work", _ends(match["d"]))
        return
    if reads_as_command(begun(text)):
        yield from _of_command(text)


def _of_command(text: str) -> Iterator[Reading]:
    first, second = _halves(text)
    if second:
        if match := _READ.fullmatch(first):
            yield Reading("read, do", {"{o}": match["o"], **_ends(second)})
        else:
            yield Reading("do, do", {"{d}": continued(first), "{D}": begun(first), "{e}": continued(second)})
        return
    if match := _READ.fullmatch(text):
        yield Reading("read", {"{o}": match["o"]})
    elif match := _BY_CRITERION.fullmatch(text):
        yield from _by_criterion(match)
    elif (match := _AS_ALTERNATIVES.fullmatch(text)) and not re.search(_CONDITION, match["ab"]):
        yield Reading("called", {"{ab}": match["ab"], **_object(match["o"])})
    elif match := _INTO_CLASSES.fullmatch(text):
        yield from _into(match["o"], match["x"])
    elif match := _ASKED.fullmatch(text):
        yield from _of_clause(match["w"])
    elif match := _NAMED.fullmatch(text):
        yield from _of_phrase(match["f"])
    elif match := _CHOSEN.fullmatch(text):
        yield from _of_choice(match["x"])
    else:
        yield Reading("ordered", {"{d}": continued(text)})


def _halves(text: str) -> tuple[str, str]:
    """Two orders that one sentence gives, or the one."""
    for joint in _JOINT.finditer(text):
        if reads_as_command(begun(text[joint.end() :])) and joint.start() > _LEAST_LETTERS:
            return text[: joint.start()].rstrip(","), text[joint.end() :]
    return text, ""


def _by_criterion(match: re.Match[str]) -> Iterator[Reading]:
    about, criterion = match["o"], match["c"]
    classes = match["k"] or match["end"] or ""
    own = criterion if re.match(rf"(?:{DETERMINER}|its|their|what|who|how)\b", criterion) else f"the {criterion}"
    full = resolved(criterion, _this(about))
    named = {} if full is None else {"{g}": full}
    yield Reading("classified by", {"{c}": own, "{k}": classes, **named, **_object(about)})
    if full is not None and not classes:
        yield from _of_phrase(full)


def _into(about: str, choice: str) -> Iterator[Reading]:
    among = re.fullmatch(r"one of (.+)", choice)
    if among:
        yield Reading("one of", {"{y}": among[1], **_object(about)})
    elif choice.startswith("the "):
        full = resolved(choice, _this(about))
        clause = as_clause(full) if full and re.search(r"\b(?:that|which|who)\b", choice) else None
        if not re.search(r"\b(?:it|they|them|its|their)\b", choice):
            yield Reading("put into", {"{x}": choice, **_object(about)})
        if clause and _this(about) in clause:
            yield from _of_clause(clause)


def _of_phrase(phrase: str) -> Iterator[Reading]:
    clause = as_clause(phrase)
    if clause is not None:
        yield from _of_clause(clause, with_phrase=False)
    yield from _of_name(phrase)


def _of_choice(choice: str) -> Iterator[Reading]:
    clause = as_clause(choice)
    if clause is not None:
        yield from _of_clause(clause, with_phrase=False)
    yield Reading("chosen", {"{x}": choice})


def _of_clause(clause: str, question: str | None = None, *, with_phrase: bool = True) -> Iterator[Reading]:
    clause = re.sub(r"^if\b", "whether", clause, flags=re.IGNORECASE)
    yield _of_indirect(clause)
    direct = question or as_question(clause)
    if direct is not None:
        yield Reading("asked directly", {"{Q}": begun(direct), "{q}": continued(direct)})
    passive = passive_clause(clause)
    if passive is not None:
        yield _of_indirect(passive)
    phrase = as_phrase(clause) if with_phrase else None
    if phrase is not None:
        yield from _of_name(phrase)
    alternatives = re.fullmatch(rf"whether (?P<o>{DETERMINER} [^,;:]{{1,40}}?) is (?P<ab>[^;:]{{1,80}} or [^,;:]{{1,40}})", clause)
    if alternatives and not re.search(_CONDITION, alternatives["ab"]) and KEPT not in alternatives["o"]:
        yield Reading("called", {"{ab}": alternatives["ab"], **_object(alternatives["o"])})


def _of_indirect(clause: str) -> Reading:
    plain = {} if clause.startswith("by ") else {"{n}": clause}
    return Reading("asked", {"{w}": clause, **plain})


def _of_name(phrase: str) -> Iterator[Reading]:
    """A phrase as it is, in the passive voice and in two words; by ``{s}`` where no clause makes it long."""
    if is_plural(phrase):
        return
    for said in (phrase, passive_phrase(phrase), compact_phrase(phrase)):
        if said is not None:
            short = {} if re.search(r"\b(?:that|which|whom|who)\b", said) else {"{s}": said}
            yield Reading("named", {"{f}": said, **short})


def _ends(text: str) -> dict[str, str]:
    return {"{d}": f"{continued(text)}.", "{D}": f"{begun(text)}."}


def _this(phrase: str) -> str:
    """One of several, pointed at: what is asked of each is asked of the one at hand.

    >>> _this("each ticket"), _this("the tickets")
    ('this ticket', 'the tickets')
    """
    return re.sub(r"^(?:each|every|any|an?) ", "this ", phrase)


def _object(phrase: str) -> dict[str, str]:
    several = is_plural(phrase)
    forms = ("them", "are", "do", "belong", "fall") if several else ("it", "is", "does", "belongs", "falls")
    slots = {"{o}": phrase, **dict(zip(("{it}", "{is}", "{does}", "{belongs}", "{falls}"), forms, strict=True))}
    single = re.fullmatch(rf"(?:{DETERMINER}) (?:(?:given|following|provided) )?(.+)", phrase)
    if single is not None:
        slots["{this}"] = f"{'these' if several else 'this'} {single[1]}"
    return slots
