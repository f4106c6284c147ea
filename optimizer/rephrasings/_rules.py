"""A rephraser for any description, by rules that keep its meaning: said otherwise, framed, with synonyms in it."""

from __future__ import annotations

import itertools
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.rephrasings._description import read_description
from psopt.rephrasings._label_ways import in_the_words_of_labels, mixed
from psopt.rephrasings._other_words import in_other_words
from psopt.rephrasings._passages import in_step, protected_texts, read_passages
from psopt.rephrasings._recipes import HELDOUT, SEARCH, Rules, in_turn, recipes_for
from psopt.rephrasings._set import RephrasingSet, comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.rephrasings._description import Description


NOTHING_TO_REPHRASE = (
    "nothing of this prompt may be said otherwise: all of it is fields, lists, data formats and the form of the "
    "answer; mark instructions with <rephrase>..</rephrase>"
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
) -> RephrasingSet:
    r"""Rephrase a description by rule.

    English sentences that are understood are said otherwise (as a question, an order or a request, in the passive
    voice, with their clauses in another order, at length or in a few words; see `restatements`), with other words in
    them and frames around them; one in five frames the sentence as it was. What is held out uses templates, frames and
    synonyms that the search set does not use. Of other sentences, and other languages, only frames and synonyms are
    left. Quotations, numbers, anything in braces, addresses and the words to protect stay as they are.

    Parameters
    ----------
    description : str
        Any English task description; white space is collapsed, but in a template's.
    noun : str
        What one sample is called.
    n_search, n_heldout : int
        How many; the description itself is the first of `n_search`.
    seed : int
        Decides the order; a larger set begins with the smaller one of the same seed.
    protect : sequence of str
        Words that are neither swapped nor brought in (the labels).
    n_parts : int
        Of how many parts the description is, where it is a template's (see `Prompt.template`); 0 where it is not.
    labels : sequence of str
        What stands below the description in every prompt. Of a short one, one wording in three then says the task by
        them ("Label the message."), as people do who see the choices.

    Raises
    ------
    InputError
        If a number is too small, the description is empty, or the rules give fewer than that.

    Examples
    --------
    >>> rephrased = rephrase_by_rules("Decide whether the review is positive.", "review", 5, 2, seed=1)
    >>> print(*rephrased.search, sep="\n")
    Decide whether the review is positive.
    Make up your mind about whether the review is positive.
    A colleague wants to know: is the review positive? Precision is what counts.
    Tell me whether the review is positive.
    Answer the following: Is the review positive?
    >>> print(*rephrased.heldout, sep="\n")
    Suppose somebody asked you whether the review is positive. Give the reply.
    This is the job at hand. Here is the point to be cleared up: is the review positive?
    """
    check_numbers(n_search, n_heldout, seed)
    original = description if n_parts else " ".join(description.split())
    if not original.strip():
        raise InputError("a task description is needed, and this one is empty")
    rephrase = partial(rephrasings_of_parts if n_parts else rephrasings, restate=True)
    named = () if n_parts else labels
    rephrased = rephrase(original, noun, SEARCH, seed, protect, avoid=(original,))
    searched = mixed(rephrased, in_the_words_of_labels(original, noun, named, "search"), first=0)
    search = (original, *itertools.islice(_distinct(searched, (original,)), n_search - 1))
    rephrased = rephrase(original, noun, HELDOUT, seed, protect, avoid=search)
    held_out = mixed(rephrased, in_the_words_of_labels(original, noun, named, "heldout"), first=1)
    heldout = tuple(itertools.islice(_distinct(held_out, search), n_heldout))
    check_enough("search", search, n_search)
    check_enough("held-out", heldout, n_heldout)
    return RephrasingSet(original, search, heldout, "rules", n_parts=n_parts)


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
    original: str,
    noun: str,
    rules: Rules,
    seed: int,
    protect: Sequence[str],
    avoid: Iterable[str],
    *,
    restate: bool = False,
) -> Iterator[str]:
    """Yield rephrasings by one side of the rules, distinct from each other and from those to avoid.

    Without `restate` they are framed and swap words, and nothing is said otherwise.
    """
    description = read_description(original, protect)
    write = in_other_words if restate else _by_recipe
    return _distinct(write(description, noun, rules.without(protect), seed, protect), avoid)


def rephrasings_of_parts(
    original: str,
    noun: str,
    rules: Rules,
    seed: int,
    protect: Sequence[str],
    avoid: Iterable[str],
    *,
    restate: bool = False,
) -> Iterator[str]:
    """Yield rephrasings of a template's description, in which each passage is rephrased on its own.

    Passages that instruct (commands and questions, else the longest) are framed and swap words, as a description of one
    part does; in others words are swapped, and where there are none to swap, nothing. A passage of which the rules give
    fewer comes round again. With `restate` what is understood of any passage is said otherwise too.
    """
    passages = read_passages(original, protect)
    if not passages.texts:
        raise InputError(NOTHING_TO_REPHRASE)
    readings = [read_description(text, protect, protected_texts(text, protect)) for text in passages.texts]
    framed = [place for place, reading in enumerate(readings) if reading.form != "statement"]
    framed = framed or [max(range(len(readings)), key=lambda place: len(readings[place].text))]
    allowed = rules.without(protect)
    write = in_other_words if restate else _by_recipe
    choices = []
    for place, reading in enumerate(readings):
        own = allowed if place in framed else allowed.swaps_alone
        seeds = [seed, place] if place else seed
        choices.append(_distinct(write(reading, noun, own, seeds, protect), [passages.texts[place]]))
    return _distinct((passages.joined(texts) for texts in in_step(choices, passages.texts)), avoid)


def _by_recipe(
    description: Description, noun: str, rules: Rules, seed: int | Sequence[int], protect: Sequence[str]
) -> Iterator[str]:
    noun = " ".join(noun.split()) or "text"
    for recipe in in_turn(recipes_for(description, rules), seed):
        yield recipe.follow(description, noun, protect)


def _distinct(texts: Iterable[str], avoid: Iterable[str]) -> Iterator[str]:
    seen = {comparable(text) for text in avoid}
    for text in texts:
        if comparable(text) not in seen:
            seen.add(comparable(text))
            yield text
