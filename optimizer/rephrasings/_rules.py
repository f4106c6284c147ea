"""A rephraser for any description, by rules that can't change its meaning: frames around it, synonyms in it."""

from __future__ import annotations

import itertools
from numbers import Integral
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.rephrasings._description import read_description
from psopt.rephrasings._recipes import HELDOUT, SEARCH, Rules, in_turn, recipes_for
from psopt.rephrasings._set import RephrasingSet, comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def rephrase_by_rules(
    description: str,
    noun: str = "text",
    n_search: int = 10,
    n_heldout: int = 10,
    seed: int = 42,
    *,
    protect: Sequence[str] = (),
) -> RephrasingSet:
    r"""Rephrase a description by rule.

    The first ones make one change, the next two, three or more, and so on in turn. What is held out uses frames and
    synonyms that the search set does not use. Quotations, anything in braces, addresses and the words to protect stay
    as they are.

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
        If a number is too small, the description is empty, or the rules give fewer than that.

    Examples
    --------
    >>> rephrased = rephrase_by_rules("Decide whether the review is positive.", "review", 5, 2, seed=1)
    >>> print(*rephrased.search, sep="\n")
    Decide whether the review is positive.
    Can you please decide whether the review is positive?
    You need to decide whether the review is positive.
    Your task: Decide if the review is positive.
    You should decide whether the review is positive. Read the review closely first.
    >>> print(*rephrased.heldout, sep="\n")
    You are a specialist in work of this kind. Decide whether the review is positive.
    Turn to the review below. Decide whether the review is positive.
    """
    check_numbers(n_search, n_heldout, seed)
    original = " ".join(description.split())
    if not original:
        raise InputError("a task description is needed, and this one is empty")
    rephrased = rephrasings(original, noun, SEARCH, seed, protect, avoid=(original,))
    search = (original, *itertools.islice(rephrased, n_search - 1))
    heldout = tuple(itertools.islice(rephrasings(original, noun, HELDOUT, seed, protect, avoid=search), n_heldout))
    check_enough("search", search, n_search)
    check_enough("held-out", heldout, n_heldout)
    return RephrasingSet(original, search, heldout, "rules")


def check_numbers(n_search: int, n_heldout: int, seed: int) -> None:
    """Raise InputError if a number of rephrasings or a seed can't be meant."""
    for name, number, least in (("n_search", n_search, 1), ("n_heldout", n_heldout, 1), ("seed", seed, 0)):
        if not isinstance(number, Integral) or number < least:
            raise InputError(f"{name} must be a whole number, at least {least}, not {number!r}")


def check_enough(kind: str, texts: Sequence[str], wanted: int) -> None:
    """Raise InputError if there are fewer texts than wanted."""
    if len(texts) < wanted:
        raise InputError(
            f"{wanted} {kind} rephrasings were asked for; the rules give {len(texts)} of this description; ask for less"
        )


def rephrasings(
    original: str, noun: str, rules: Rules, seed: int, protect: Sequence[str], avoid: Iterable[str]
) -> Iterator[str]:
    """Yield rephrasings by one side of the rules, distinct from each other and from those to avoid."""
    description = read_description(original, protect)
    noun = " ".join(noun.split()) or "text"
    seen = {comparable(text) for text in avoid}
    for recipe in in_turn(recipes_for(description, rules.without(protect)), seed):
        text = recipe.follow(description, noun, protect)
        if comparable(text) not in seen:
            seen.add(comparable(text))
            yield text
