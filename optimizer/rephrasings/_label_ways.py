"""Wordings that say a task by its labels: how people put it who see the choices beside what they write.

"Route the ticket." is as good as a long description where the labels stand below it. Rules that turn the description's
own sentence round never say so; without such wordings S comes out lower than under people's.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from psopt.rephrasings._description import begun, continued, reads_as_command
from psopt.rephrasings._sentence_readings import readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.rephrasings._wordings import Side

# Chosen, not measured. More labels than that nobody enumerates in a sentence, and a longer description holds more than
# the labels tell.
_MOST_NAMED = 8
_MOST_WORDS = 20
_EVERY = 3
"""One wording in so many is by labels: most people describe the task."""

# In each {labels} are named and {noun} is what a sample is called; each second one names none.
_ALONE: dict[str, tuple[str, ...]] = {
    "search": (
        "Which of these fits the {noun}: {labels}?",
        "Label the {noun}.",
        "Sort the {noun} into one of these groups: {labels}.",
        "Which class does the {noun} belong to?",
        "There are {n} kinds of {noun}: {labels}. Name this one's.",
        "Pick the class of the {noun}.",
    ),
    "heldout": (
        "{labels}: where does the {noun} go?",
        "Tag the {noun}.",
        "Put the {noun} under {labels}, whichever suits it best.",
        "Which category is the {noun} in?",
        "Is it {labels} that this {noun} would be filed under?",
        "Assign the {noun} to its category.",
    ),
}
# For labels that say how much, or yes and no: of what stands in the description alone.
_BESIDE: dict[str, tuple[str, ...]] = {
    "search": (
        "{labels}? {description}",
        "{description} Choose between {all}.",
        "Which of these is right, {labels}? {description}",
    ),
    "heldout": (
        "Answer {labels}: {continued}",
        "{description} It can be {labels}.",
        "Say {labels}. {description}",
    ),
}
_SCALES = """
yes no true false maybe unsure unknown unclear none all some any both neither high low medium middle mid good
bad better worse best worst positive negative neutral mixed more less most least same different equal other
agree disagree pass fail passed failed valid invalid ok okay correct incorrect right wrong relevant irrelevant
small large big little short long easy hard simple difficult strong weak severe mild minor major critical normal
first second third left up down in out on off present absent never rarely sometimes often always
"""
_OF_WHAT = frozenset(_SCALES.split())
_NOT_SAID = re.compile(r"\b(?:not|never|no|only|unless|except|without|but|if|also)\b|n['’]t\b|\d", re.IGNORECASE)
_SAYS_WHAT = re.compile(r"[^\W\d_]{2,}")
_SENTENCE_ENDS = re.compile(r"[.!?:;](?=\s)|\n")


def in_the_words_of_labels(description: str, noun: str, labels: Sequence[str], side: Side) -> Iterator[str]:
    """Yield wordings that name the labels, or leave the task to them; none where these, or the rules, don't suffice.

    Only a description of one plain English sentence is said so: what further sentences, exceptions or conditions say is
    in no label. Where labels don't say of what they are ("yes", "high", "positive"), the description stays beside them.
    """
    is_plain = not _SENTENCE_ENDS.search(description.strip()) and not _NOT_SAID.search(description)
    if not is_plain or len(description.split()) > _MOST_WORDS or not readings(description):
        return
    if len(labels) < 2 or not all(_SAYS_WHAT.search(label) for label in labels):
        return
    templates = _ALONE if _say_of_what(labels) else _BESIDE
    for template in templates[side]:
        if len(labels) > _MOST_NAMED and ("{labels}" in template or "{all}" in template):
            continue
        if "{continued}" in template and not reads_as_command(description):
            continue
        yield begun(
            template.format(
                noun=noun,
                n=len(labels),
                labels=_listed(labels, "or"),
                all=_listed(labels, "and"),
                description=description if description[-1:] in ".?!" else f"{description}.",
                continued=continued(description),
            )
        )


def mixed(by_rules: Iterable[str], by_labels: Iterable[str], *, first: int) -> Iterator[str]:
    """Yield the wordings by rule with one by labels at the place `first`, and at every third one after that."""
    rules, labels = iter(by_rules), iter(by_labels)
    for place in itertools.count():
        of_labels = next(labels, None) if place % _EVERY == first else None
        wording = of_labels if of_labels is not None else next(rules, None)
        if wording is None:
            return
        yield wording


def _say_of_what(labels: Sequence[str]) -> bool:
    """Whether labels tell by themselves what they are about."""
    return not any(set(label.casefold().replace("_", " ").replace("-", " ").split()) & _OF_WHAT for label in labels)


def _listed(labels: Sequence[str], conjunction: str) -> str:
    return f"{', '.join(labels[:-1])} {conjunction} {labels[-1]}"
