"""Saying a task description otherwise, sentence by sentence, by the ways that fit what each sentence says."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.rephrasings._description import Description, begun, continued, description_of, reads_as_command
from psopt.rephrasings._framing import fill
from psopt.rephrasings._passages import in_step
from psopt.rephrasings._sentence_readings import Reading, readings
from psopt.rephrasings._set import comparable
from psopt.rephrasings._wordings import reworded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.rephrasings._recipes import Rules
    from psopt.rephrasings._ways import Ways

_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z\ue000])")
_MOST = 60
"""Restatements of one description at most: three times a usual Q; long texts have thousands of combinations."""
_WHOLE = {"ordered", "work"}
"""Readings whose slot is the whole sentence, and no order within it."""
_SLOT = re.compile(r"\{\w+\}")
# What must come again as often as it was there, else a restatement is dropped: kept parts, numbers, and words on which
# the meaning hangs.
_EXACT = re.compile(r"\ue000\d+\ue001|\d+(?:[.,]\d+)*")
_HARD = re.compile(
    r"\b(?:no|without|only|unless|except|exactly|at least|at most|always|all|both|neither|nor|either|first|last|most"
    r"|least|other|none)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|cannot|on no account)\b|n['’]t\b", re.IGNORECASE)


def restatements(
    description: Description, rules: Rules, seed: Sequence[int], protect: Sequence[str] = ()
) -> list[Description]:
    """Every sentence of a description said otherwise, where it is understood; in an order that the seed decides.

    Empty where no sentence is understood. Kept parts come again as often, and so do numbers and negations.
    """
    sentences = _SENTENCE_END.split(description.text)
    rng = np.random.default_rng(seed)
    choices = [_said_otherwise(sentence, rules.ways, rng) for sentence in sentences]
    if not any(choices):
        return []
    texts = [" ".join(chosen) for chosen in itertools.islice(in_step(choices, sentences), _MOST)]
    return [description_of(reworded(text, rules.side, rng, protect), description.kept) for text in texts]


def _said_otherwise(sentence: str, ways: Ways, rng: np.random.Generator) -> list[str]:
    """One sentence in all ways that fit, those of each kind of reading by turns, so that neighbours differ."""
    understood = [(reading, _inner_orders(reading, ways, rng)) for reading in readings(sentence)]
    piles = []
    for name in dict.fromkeys(reading.name for reading, _ in understood):
        alike = [of_name for of_name in understood if of_name[0].name == name]
        templates = [ways[name][int(place)] for place in rng.permutation(len(ways[name]))]
        said = [
            _filled(template, *alike[(place + turn) % len(alike)], place)
            for turn in range(len(alike))
            for place, template in enumerate(templates)
        ]
        piles.append([text for text in said if text is not None and _says_the_same(sentence, text)])
    mixed = [text for layer in itertools.zip_longest(*piles) for text in layer if text is not None]
    distinct = {comparable(text): text for text in reversed(mixed) if comparable(text) != comparable(sentence)}
    return list(reversed(distinct.values()))


def _inner_orders(reading: Reading, ways: Ways, rng: np.random.Generator) -> dict[str, list[str]]:
    """The orders within a sentence of several parts, each as it is and said otherwise, as far as it stays an order."""
    orders = {}
    for slot in ("{d}", "{e}", "{b}"):
        order = reading.slots.get(slot, "").rstrip(".")
        if reading.name not in _WHOLE and reads_as_command(begun(order)):
            said = _said_otherwise(f"{begun(order)}.", ways, rng)
            kept = [text[:-1] for text in said if reads_as_command(text) and re.fullmatch(r"[^.?!]+\.", text)]
            orders[slot] = [order, *kept]
    return orders


def _filled(template: str, reading: Reading, orders: dict[str, list[str]], place: int) -> str | None:
    """A template with a reading's parts in its slots; None where they don't fit: a slot is empty, or says more."""
    slots = dict(reading.slots)
    for slot, choices in orders.items():
        end = "." if slots[slot].endswith(".") else ""
        order = choices[(place + 1) % len(choices)] + end
        slots[slot] = continued(order)
        slots[slot.upper()] = begun(order)
    if any(slot not in slots for slot in _SLOT.findall(template)):
        return None
    return begun(fill(template, slots)) if not slots.get("{k}") or "{k}" in template else None


def _says_the_same(sentence: str, said: str) -> bool:
    """Whether kept parts, numbers, negations and hard words are those of the sentence."""
    if len(_NEGATION.findall(sentence)) != len(_NEGATION.findall(said)):
        return False
    if Counter(_EXACT.findall(sentence)) != Counter(_EXACT.findall(said)):
        return False
    return not Counter(map(str.casefold, _HARD.findall(sentence))) - Counter(map(str.casefold, _HARD.findall(said)))
