"""A rephraser for any English description: frames around the unchanged text, and wordings made of the labels."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError
from psopt.rephrasings._frames import (
    Named,
    by_turns,
    frames_without,
    is_english,
    naming_and_others,
    read_instruction,
    shuffled,
    wordings,
)
from psopt.rephrasings._passages import in_step, named_labels, read_passages
from psopt.rephrasings._set import RephrasingSet, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from psopt.rephrasings._frames import Side

NOTHING_TO_REPHRASE = (
    "nothing of this prompt may be said otherwise: all of it is fields, lists, data formats and the form of the "
    "answer; mark instructions with <rephrase>..</rephrase>"
)
NOT_ENGLISH = (
    "this prompt is not in English, and psopt's own rephrasings are: let a model write some in its language "
    "(--rephraser MODEL), or give yours (--rephrasings-file FILE)"
)


def rephrase_by_rules(
    description: str,
    noun: str = "text",
    n_search: int = 10,
    n_heldout: int = 10,
    seed: int = 42,
    *,
    protect: Sequence[str] = (),
    n_parts: int = 0,
    labels: Sequence[str] = (),
    asks_for_label: bool = False,
    written: Mapping[str, Sequence[str]] | None = None,
) -> RephrasingSet:
    r"""Rephrase an English description by rule.

    The description stays unchanged, and sentences of wordings.toml stand around it ("Your task is to .."). One plain
    sentence may also give way to its labels ("Label the message."), as in the wordings of people who see the choices.
    Held-out rephrasings share no frame with those of the search.

    The description itself is the first of `n_search`; its white space is collapsed, unless it is a template's and has
    `n_parts`. A larger set begins with the smaller one of the same seed. No frame may bring in the words to `protect`.
    The `labels` stand below the description in every prompt; with a template they are named only if its instructions
    enumerate them all. `asks_for_label` says that the prompt asks for nothing else, as psopt's own form does. Texts
    `written` for the description, ``search`` and ``heldout``, take turns with the rephrasings that name the labels.
    Raises InputError if the description is empty or not in English, or there are too few rephrasings.

    >>> rephrased = rephrase_by_rules("Decide whether the review is positive.", "review", 5, 2, seed=1)
    >>> print(*rephrased.search, sep="\n")
    Decide whether the review is positive.
    Can you decide whether the review is positive?
    Task: Decide whether the review is positive.
    Decide whether the review is positive. Be as accurate as possible.
    Please decide whether the review is positive.
    >>> print(*rephrased.heldout, sep="\n")
    We need you to decide whether the review is positive.
    Please follow this instruction: Decide whether the review is positive.
    """
    original = as_rephrased(description, n_parts)
    if not original.strip():
        raise InputError("a task description is needed, and this one is empty")
    if not is_english(original):
        raise InputError(NOT_ENGLISH)
    named = Named(" ".join(noun.split()) or "text", tuple(labels), alone=not n_parts, asks_for_label=asks_for_label)
    avoid = {original}
    if written:
        avoid |= {*written["search"], *written["heldout"]}
    rng = np.random.default_rng([seed, 4])
    texts: dict[Side, list[str]] = {"search": [original], "heldout": []}
    for side, n_wanted in zip(texts, (n_search, n_heldout), strict=True):
        by_rule = rephrasings(original, named, side, seed, protect, [*avoid, *texts["search"]], n_parts=n_parts)
        if written:
            naming, others = naming_and_others(by_rule, labels)
            by_rule = itertools.chain(by_turns(naming, shuffled(written[side], rng)), others)
        texts[side] += itertools.islice(by_rule, n_wanted - len(texts[side]))
        if len(texts[side]) < n_wanted:
            kind = side.replace("heldout", "held-out")
            found = f"the rules give {len(texts[side])} of this description"
            raise InputError(f"{n_wanted} {kind} rephrasings were asked for; {found}; ask for less")
    source = "builtin" if written else "rules"
    return RephrasingSet(original, tuple(texts["search"]), tuple(texts["heldout"]), source, n_parts=n_parts)


def as_rephrased(description: str, n_parts: int) -> str:
    """A description in the form in which it is rephrased: on one line, unless it is a template's and has parts."""
    return description if n_parts else " ".join(description.split())


def rephrasings(
    original: str,
    named: Named,
    side: Side,
    seed: int,
    protect: Sequence[str],
    avoid: Iterable[str],
    *,
    n_parts: int = 0,
) -> Iterator[str]:
    """Yield rephrasings by one side of the rules, distinct from each other and from those to avoid.

    In a template's description, each passage that orders or asks is rephrased on its own or, if there is none, the
    longest. Only the first of them gets sentences around it. A passage with fewer rephrasings uses them again.
    """
    frames = frames_without(side, protect)
    if not n_parts:
        return distinct(wordings(original, frames, named, seed), avoid)
    passages = read_passages(original, protect)
    if not passages.texts:
        raise InputError(NOTHING_TO_REPHRASE)
    texts = dict(enumerate(passages.texts))
    longest = max(texts, key=lambda place: len(texts[place]))
    telling = [place for place, text in texts.items() if read_instruction(text, protect).form != "statement"]
    own = Named(named.noun)
    if len(named_labels(original, named.labels)) == len(named.labels):
        own = replace(own, labels=named.labels)
    choices: list[Iterable[str]] = [()] * len(texts)
    for place in telling or [longest]:
        choices[place] = distinct(wordings(texts[place], frames, own, [seed, place]), [texts[place]])
        own = Named(named.noun, around=False)
    return distinct((passages.joined(texts) for texts in in_step(choices, passages.texts)), avoid)
