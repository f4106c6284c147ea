"""Rephrasings of a description that are said otherwise, with frames around some and synonyms in them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from psopt.rephrasings._framing import fitting_frames, fitting_tails
from psopt.rephrasings._recipes import Recipe, in_turn, recipes_for
from psopt.rephrasings._restate import restatements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.rephrasings._description import Description
    from psopt.rephrasings._recipes import Rules

_RESTATED_IN_A_ROW = 7
"""Then one that only frames the description and swaps words in it: users do that too. Chosen."""
_SHARE_OF_SWAPS = 0.5
"""Of the words that may be swapped, so that both are seen. Chosen."""


def in_other_words(
    description: Description, noun: str, rules: Rules, seed: int | Sequence[int], protect: Sequence[str]
) -> Iterator[str]:
    """Yield the description said otherwise; after every seventh, it comes framed and with swapped words alone.

    Each restatement comes once before any comes again in another frame. Where nothing is understood, all are framed.
    """
    noun = " ".join(noun.split()) or "text"
    framed = (recipe.follow(description, noun, protect) for recipe in in_turn(recipes_for(description, rules), seed))
    restated = _restated(description, noun, rules, seed, protect)
    while True:
        some = list(itertools.islice(restated, _RESTATED_IN_A_ROW))
        some += itertools.islice(framed, 1)
        if not some:
            return
        yield from some


def _restated(
    description: Description, noun: str, rules: Rules, seed: int | Sequence[int], protect: Sequence[str]
) -> Iterator[str]:
    seeds = [int(number) for number in np.atleast_1d(seed)]
    rng = np.random.default_rng([*seeds, 2])
    said = restatements(description, rules, [*seeds, 1], protect)
    decorations = _decorations(rules, rng)
    recipes = [
        _recipes(restatement, rules, rng, _turned(decorations, 5 * place), plain_first=place % 2 == 0)
        for place, restatement in enumerate(said)
    ]
    for layer in itertools.zip_longest(*recipes):
        for recipe, restatement in zip(layer, said, strict=True):
            if recipe is not None:
                yield recipe.follow(restatement, noun, protect)


def _turned(decorations: Sequence[tuple[str, str]], by: int) -> list[tuple[str, str]]:
    """The same from another place on, so that neighbours don't get the same one."""
    start = by % len(decorations) if decorations else 0
    return [*decorations[start:], *decorations[:start]]


def _decorations(rules: Rules, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Every frame without a tail and every tail without a frame, in an order that `rng` decides."""
    frames = rules.frames
    around = [(frame, "") for frame in (*frames.commands, *frames.orders, *frames.questions, *frames.neutral)]
    around += [("", tail) for tail in frames.tails]
    return [around[int(place)] for place in rng.permutation(len(around))]


def _recipes(
    restatement: Description,
    rules: Rules,
    rng: np.random.Generator,
    decorations: Sequence[tuple[str, str]],
    *,
    plain_first: bool,
) -> list[Recipe]:
    """What is put around a restatement: nothing, then a frame or a sentence, or the other way; all swap some words."""
    swaps = [swap for swap in rules.swaps if swap(restatement.text) != restatement.text]
    chosen = tuple(swap for swap in swaps if rng.random() < _SHARE_OF_SWAPS)
    plain = Recipe(chosen)
    if restatement.text.startswith("Hello!"):
        return [plain]
    fitting = {(frame, "") for frame in fitting_frames(restatement, rules.frames)}
    fitting |= {("", tail) for tail in fitting_tails(restatement, rules.frames)}
    around = [Recipe(chosen, *decoration) for decoration in decorations if decoration in fitting]
    return [plain, *around] if plain_first else [*around[:1], plain, *around[1:]]
