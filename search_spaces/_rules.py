"""A rephraser for any description, by rules that can't change its meaning: frames around it, synonyms in it."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError

from ._set import RephrasingSet, comparable
from ._wordings import HELDOUT, IMPERATIVES, SEARCH, Wordings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VERBATIM = re.compile(r"(\"[^\"]*\"|“[^”]*”|`[^`]*`|\{[^}]*\}|https?://\S+)")


def rephrase_by_rules(
    description: str, *, n_search: int, n_heldout: int, seed: int = 42, protect: Sequence[str] = ()
) -> RephrasingSet:
    """Rephrase a description by rule.

    The first ones change little, later ones more. What is held out uses frames and synonyms that the search set does
    not use.

    Parameters
    ----------
    description : str
        Any English task description; white space is collapsed.
    n_search, n_heldout : int
        How many; the description itself is the first of `n_search`.
    seed : int
        Decides the order; a larger set begins with the smaller one of the same seed.
    protect : sequence of str
        Words that stay as they are (the labels).

    Raises
    ------
    InputError
        If the rules give fewer than that.
    """
    original = " ".join(description.split())
    kept = {word.casefold() for word in protect}
    search = [original, *itertools.islice(rephrasings(original, SEARCH, seed, kept), n_search - 1)]
    heldout = list(itertools.islice(rephrasings(original, HELDOUT, seed, kept), n_heldout))
    for name, texts, wanted in (("search", search, n_search), ("held-out", heldout, n_heldout)):
        if len(texts) < wanted:
            raise InputError(
                f"{wanted} {name} rephrasings were asked for; the rules give {len(texts)} of this description"
            )
    return RephrasingSet(original, tuple(search), tuple(heldout), "rules")


def rephrasings(original: str, wordings: Wordings, seed: int, protect: set[str]) -> Iterator[str]:
    """Yield distinct rephrasings by one table, those that change least first; never the original."""
    rng = np.random.default_rng([seed, len(original)])
    seen = {comparable(original)}
    swapped = swap_synonyms(original, wordings, protect)
    frames, tails = _frames(original, wordings), wordings.tails
    one_change = [(frame, "") for frame in frames] + [("{D}", tail) for tail in tails]
    two_changes = [(frame, tail) for frame in frames for tail in tails]
    for recipes in (
        [(original, *change) for change in one_change],
        [(swapped, *change) for change in [("{D}", ""), *one_change]],
        [(text, *change) for change in two_changes for text in (original, swapped)],
    ):
        for index in rng.permutation(len(recipes)):
            text = _fill(*recipes[int(index)])
            if comparable(text) not in seen:
                seen.add(comparable(text))
                yield text


def swap_synonyms(text: str, wordings: Wordings, protect: set[str]) -> str:
    """Swap every word of the table for its synonym, outside quotation marks, braces and addresses.

    >>> swap_synonyms('Decide the category of "the category".', SEARCH, set())
    'Determine the class of "the category".'
    """
    phrases = sorted(wordings.synonyms, key=len, reverse=True)
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, phrases))})\b", re.IGNORECASE)

    def swap(match: re.Match[str]) -> str:
        found = match.group()
        if protect & {found.casefold(), *found.casefold().split()}:
            return found
        synonym = wordings.synonyms[found.casefold()]
        return synonym.capitalize() if found[0].isupper() else synonym

    parts = _VERBATIM.split(text)
    return "".join(part if index % 2 else pattern.sub(swap, part) for index, part in enumerate(parts))


def _frames(description: str, wordings: Wordings) -> list[str]:
    first = re.match(r"[^\W\d_]+", description)
    imperative = first is not None and first.group().casefold() in IMPERATIVES
    return [*(wordings.commands if imperative else ()), *wordings.leads]


def _fill(description: str, frame: str, tail: str) -> str:
    """Put a description into a frame. Not by str.format: a description may hold braces of its own."""
    if "{D}" in frame:
        text = frame.replace("{D}", description, 1)
    else:
        text = frame.replace("{d}", description[0].lower() + description[1:], 1)
    if not tail:
        return text
    return f"{text} {tail}" if text[-1] in ".!?" else f"{text}. {tail}"
