"""A rephraser for any description, by rules that can't change its meaning: frames around it, synonyms in it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError

from ._description import read_description
from ._frames import HELDOUT_FRAMES, SEARCH_FRAMES, Frames
from ._set import RephrasingSet, comparable
from ._swap import Swap
from ._synonyms import HELDOUT_SWAPS, SEARCH_SWAPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DEPTHS = (1, 1, 2, 2, 3, 3)
"""How much the rephrasings of a set change, in turn; 3 is three changes or more."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One side of the tables: what to search with, or what to hold out."""

    frames: Frames
    swaps: tuple[Swap, ...]


SEARCH, HELDOUT = Rules(SEARCH_FRAMES, SEARCH_SWAPS), Rules(HELDOUT_FRAMES, HELDOUT_SWAPS)


@dataclass(frozen=True, slots=True)
class _Recipe:
    swaps: tuple[Swap, ...]
    frame: str
    tail: str

    @property
    def depth(self) -> int:
        return min(3, len(self.swaps) + bool(self.frame) + bool(self.tail))


def rephrase_by_rules(
    description: str,
    noun: str = "text",
    n_search: int = 10,
    n_heldout: int = 10,
    seed: int = 42,
    *,
    protect: Sequence[str] = (),
) -> RephrasingSet:
    """Rephrase a description by rule.

    The first ones change little, later ones more. What is held out uses frames and synonyms that the search set does
    not use. Quotations, anything in braces, addresses and the words to protect stay as they are.

    Parameters
    ----------
    description : str
        Any English task description; white space is collapsed.
    noun : str
        What one sample is called.
    n_search, n_heldout : int
        How many; the description itself is the first of `n_search`.
    seed : int
        Decides the order; a larger set begins with the smaller one of the same seed.
    protect : sequence of str
        Words that are neither swapped nor brought in (the labels).

    Raises
    ------
    InputError
        If the description is empty, or the rules give fewer than that.

    Examples
    --------
    >>> found = rephrase_by_rules("Decide whether the review is positive.", "review", 4, 2, seed=1)
    >>> for text in (*found.search, *found.heldout):
    ...     print(text)
    """
    original = " ".join(description.split())
    if not original:
        raise InputError("a task description is needed, and this one is empty")
    rephrased = rephrasings(original, noun, SEARCH, seed, protect, avoid=(original,))
    search = (original, *itertools.islice(rephrased, n_search - 1))
    heldout = tuple(itertools.islice(rephrasings(original, noun, HELDOUT, seed, protect, avoid=search), n_heldout))
    check_enough("search", search, n_search)
    check_enough("held-out", heldout, n_heldout)
    return RephrasingSet(original, search, heldout, "rules")


def check_enough(kind: str, texts: Sequence[str], wanted: int) -> None:
    """Raise InputError if there are fewer texts than wanted."""
    if len(texts) < wanted:
        raise InputError(
            f"{wanted} {kind} rephrasings were asked for; the rules give {len(texts)} of this description: ask for fewer"
        )


def rephrasings(
    original: str, noun: str, rules: Rules, seed: int, protect: Sequence[str], avoid: Iterable[str]
) -> Iterator[str]:
    """Yield rephrasings by one side of the rules, distinct from each other and from those to avoid."""
    description = read_description(original, protect)
    recipes = _in_turn(_recipes(description, rules, protect), seed)
    seen = {comparable(text) for text in avoid}
    for text in itertools.chain(
        _unframed(description, rules), (_write(one, description, noun, protect) for one in recipes)
    ):
        if comparable(text) not in seen:
            seen.add(comparable(text))
            yield text
