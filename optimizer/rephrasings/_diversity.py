"""How much rephrasings differ from each other, measured by their words and without a model."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
from psopt.rephrasings._passages import outside, protected_ranges, read_passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.rephrasings._set import RephrasingSet

TAME = 0.3
"""Below this diversity, S is reported as underestimated. On TREC with smollm2 (calibrated, 60 questions, 6 wordings)
rephrasings by rule showed .84 of the S under people's wordings at a diversity of .39, and .75 of it at .21.
Sets that people wrote have .6 to .85. `benchmarks/rephrasings.py` measures it again."""


def diversity(texts: Sequence[str]) -> float:
    """Measure how much texts differ in their words and word order.

    For a pair of texts, it is the share of the words and neighbouring word pairs of one that the other lacks; the one
    with fewer counts, so that a frame around the same sentence adds nothing. The result is the mean over all pairs:
    from 0 (every text is contained in every other) to 1 (no two share a word); NaN for fewer than two texts.

    >>> diversity(["Label the review.", "Please label the review."])
    0.0
    >>> diversity(["Label the review.", "Is this review good or bad?"])
    0.8
    """
    grams = [_grams(text) for text in texts]
    if len(grams) < 2:
        return float("nan")
    return float(np.mean([_distance(first, second) for first, second in itertools.combinations(grams, 2)]))


def diversity_of_instructions(texts: Sequence[str], labels: Sequence[str] = ()) -> float | None:
    """Return the `diversity` of what may be reworded in these texts; None for fewer than two.

    What every rephrasing must keep says nothing about how they differ, and does not count: enumerated labels, fields,
    quotations, lists, data formats, the form of the answer. A text that occurs in several layouts counts once.

    >>> texts = ["Label it as good or bad.", "How would you describe it: as good or bad?"]
    >>> diversity_of_instructions(texts, ["good", "bad"]), diversity_of_instructions(texts[:1])
    (0.286, None)
    """
    value = diversity([_instructions(text, labels) for text in dict.fromkeys(texts)])
    return None if np.isnan(value) else round(value, 3)


def diversity_of(rephrasings: RephrasingSet, labels: Sequence[str] = ()) -> dict[str, float | None]:
    """Return the `diversity_of_instructions` of the search set and of the held-out one."""
    sets = {"search": rephrasings.search, "heldout": rephrasings.heldout}
    return {name: diversity_of_instructions(texts, labels) for name, texts in sets.items()}


def tame_note(value: float | None) -> str | None:
    """The note next to S where rephrasings are too similar; None where they are not.

    >>> tame_note(0.7)
    >>> tame_note(0.2)[:79]
    'these wordings are too similar (diversity .20, below .30); S is underestimated,'
    """
    if value is None or value >= TAME:
        return None
    figures = f"diversity {value:.2f}, below {TAME:.2f}".replace("0.", ".")
    return (
        f"these wordings are too similar ({figures}); S is underestimated, since people's wordings differ "
        "more. Let a model write others: --rephraser MODEL"
    )


def _instructions(text: str, labels: Sequence[str]) -> str:
    instructions = " ".join(read_passages(text, labels).texts) or text
    return " ".join(outside(instructions, protected_ranges(instructions, labels)))


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return frozenset([*zip(words, strict=False), *itertools.pairwise(words)])


def _distance(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> float:
    fewer = min(len(first), len(second))
    return 1 - len(first & second) / fewer if fewer else float(first != second)
