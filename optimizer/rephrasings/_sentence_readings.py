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
from psopt.rephrasings._sentence_patterns import (
    AS_ALTERNATIVES,
    ASKED,
    BY_CRITERION,
    CHOSEN,
    CONDITION,
    EITHER,
    FORBIDDEN,
    GIVEN,
    GIVEN_DO,
    INTO_CLASSES,
    JOINT,
    NAMED,
    ON_CONDITION,
    POLITE,
    READ,
    ROLE,
    WORK,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    core = POLITE.sub("", sentence.rstrip(". "), count=1) if POLITE.match(sentence) else sentence.rstrip(". ")
    return list(_of_statement(core))


def _of_question(question: str) -> Iterator[Reading]:
    clause = as_indirect(question)
    if clause is None:
        return
    yield from _of_clause(clause, question)


def _of_statement(text: str) -> Iterator[Reading]:
    """Readings of an order, or of a sentence about the one who is to do it."""
    if match := GIVEN_DO.fullmatch(text):
        yield Reading("given, do", {"{o}": match["o"], **_ends(match["d"])})
        return
    if match := ON_CONDITION.fullmatch(text):
        yield Reading("on condition", {"{a}": match["a"], "{b}": match["b"], "{B}": begun(match["b"])})
        return
    for name, pattern in (("forbidden", FORBIDDEN), ("given", GIVEN), ("role", ROLE)):
        if match := pattern.fullmatch(text):
            yield Reading(name, {f"{{{slot}}}": value for slot, value in match.groupdict().items()})
            return
    if match := WORK.fullmatch(text):
        yield Reading("work", _ends(match["d"]))
        return
    if reads_as_command(begun(text)):
        yield from _of_command(text)


def _of_command(text: str) -> Iterator[Reading]:
    first, second = _halves(text)
    if second:
        if match := READ.fullmatch(first):
            yield Reading("read, do", {"{o}": match["o"], **_ends(second)})
        else:
            yield Reading("do, do", {"{d}": continued(first), "{D}": begun(first), "{e}": continued(second)})
        return
    if match := READ.fullmatch(text):
        yield Reading("read", {"{o}": match["o"]})
    elif match := BY_CRITERION.fullmatch(text):
        yield from _by_criterion(match)
    elif (match := AS_ALTERNATIVES.fullmatch(text)) and not re.search(CONDITION, match["ab"]):
        yield Reading("called", {"{ab}": match["ab"], **_object(match["o"])})
    elif match := INTO_CLASSES.fullmatch(text):
        yield from _into(match["o"], match["x"])
    elif match := ASKED.fullmatch(text):
        yield from _of_clause(match["w"])
    elif match := NAMED.fullmatch(text):
        yield from _of_phrase(match["f"])
    elif match := CHOSEN.fullmatch(text):
        yield from _of_choice(match["x"])
    else:
        yield Reading("ordered", {"{d}": continued(text)})


def _halves(text: str) -> tuple[str, str]:
    """Two orders that one sentence gives, or the one."""
    for joint in JOINT.finditer(text):
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
    if re.match(r"(?:what|which|who|how) ", criterion) and not classes:
        yield from _of_clause(criterion)
    elif full is not None and not classes:
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
    alternatives = EITHER.fullmatch(clause)
    if alternatives and not re.search(CONDITION, alternatives["ab"]) and KEPT not in alternatives["o"]:
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
