"""How a description is changed: which swaps, which frame, which tail; and in which order that is tried."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.rephrasings._description import Description, read_description, with_sentence
from psopt.rephrasings._frames import HELDOUT_FRAMES, NO_FRAMES, SEARCH_FRAMES, Frames
from psopt.rephrasings._framing import fill, fitting_frames, fitting_tails, parts_of
from psopt.rephrasings._swap import holds
from psopt.rephrasings._synonyms import HELDOUT_SWAPS, SEARCH_SWAPS
from psopt.rephrasings._ways import HELDOUT_WAYS, SEARCH_WAYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.rephrasings._swap import Swap
    from psopt.rephrasings._ways import Ways
    from psopt.rephrasings._wordings import Side

_DEPTHS = (1, 1, 2, 2, 3, 3)
"""How many changes the rephrasings of a set make, in turn."""
_SHORTEST_LABEL = 3
"""Shorter labels ("a", "no") are everyday words, and frames may hold them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One side of the tables: what to search with, or what to hold out."""

    side: Side
    frames: Frames
    swaps: tuple[Swap, ...]
    ways: Ways

    def without(self, words: Sequence[str]) -> Rules:
        """The rules that bring none of these words into a description."""
        words = [word.strip() for word in words if word.strip()]
        long_words = [word for word in words if len(word) >= _SHORTEST_LABEL]
        swaps = tuple(swap for swap in self.swaps if not swap.brings(words))
        ways = {
            reading: tuple(way for way in templates if not any(holds(way, word) for word in long_words))
            for reading, templates in self.ways.items()
        }
        return replace(self, frames=self.frames.without(long_words), swaps=swaps, ways=ways)

    @property
    def swaps_alone(self) -> Rules:
        """The rules that put nothing around a text."""
        return replace(self, frames=NO_FRAMES)


SEARCH = Rules("search", SEARCH_FRAMES, SEARCH_SWAPS, SEARCH_WAYS)
HELDOUT = Rules("heldout", HELDOUT_FRAMES, HELDOUT_SWAPS, HELDOUT_WAYS)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to change a description; an empty part changes nothing."""

    swaps: tuple[Swap, ...] = ()
    frame: str = ""
    tail: str = ""

    @property
    def depth(self) -> int:
        """How many changes it makes."""
        return len(self.swaps) + bool(self.frame) + bool(self.tail)

    def follow(self, description: Description, noun: str, protect: Sequence[str] = ()) -> str:
        """Write the description as the recipe says.

        >>> recipe = Recipe(SEARCH.swaps, "Please {d}", "Read {it} closely first.")
        >>> recipe.follow(read_description("Identify the topic of the text."), "text")
        'Please determine the topic of the passage. Read the passage closely first.'
        """
        slots = parts_of(description, self.frame) if self.frame else {"{D}": description.text}
        slots = {slot: description.restore(self._swapped(text)) for slot, text in slots.items()}
        sample = read_description(f"the {noun}", protect)
        slots["{it}"] = sample.restore(self._swapped(sample.text))
        text = fill(self.frame or "{D}", slots)
        return with_sentence(text, fill(self.tail, {"{it}": slots["{it}"]})) if self.tail else text

    def _swapped(self, text: str) -> str:
        for swap in self.swaps:
            text = swap(text)
        return text


def recipes_for(description: Description, rules: Rules) -> list[Recipe]:
    """Every recipe of at most three changes, and all swaps at once with every frame and tail."""
    swaps = tuple(swap for swap in rules.swaps if swap(description.text) != description.text)
    choices = [choice for n_swaps in range(3) for choice in itertools.combinations(swaps, n_swaps)]
    frames = fitting_frames(description, rules.frames)
    tails = fitting_tails(description, rules.frames)
    recipes = [Recipe(*parts) for parts in itertools.product([*choices, swaps], ["", *frames], ["", *tails])]
    return [recipe for recipe in recipes if 0 < recipe.depth <= 3 or recipe.swaps == swaps != ()]


def in_turn(recipes: Sequence[Recipe], seed: int | Sequence[int]) -> Iterator[Recipe]:
    """Shuffle recipes and yield them so that small changes and larger ones take turns, and no frame comes too often."""
    order = np.random.default_rng(seed).permutation(len(recipes))
    piles: dict[int, deque[Recipe]] = {depth: deque() for depth in _DEPTHS}
    for recipe in _varied([recipes[int(index)] for index in order]):
        piles[min(recipe.depth, _DEPTHS[-1])].append(recipe)
    while any(piles.values()):
        for depth in _DEPTHS:
            if piles[depth]:
                yield piles[depth].popleft()


def _varied(recipes: Sequence[Recipe]) -> list[Recipe]:
    """Bring forward what uses its frame (or tail, or swaps, where it has none) less often than others before it."""
    used: Counter[tuple[int, object]] = Counter()
    ranks = []
    for recipe in recipes:
        main_part = (recipe.depth, recipe.frame or recipe.tail or recipe.swaps)
        ranks.append(used[main_part])
        used[main_part] += 1
    return [recipe for _, recipe in sorted(zip(ranks, recipes, strict=True), key=lambda ranked: ranked[0])]
