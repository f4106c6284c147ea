"""From the likeliest tokens of an answer to the probabilities of the labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat._client import Alternatives


def label_probabilities(answer: Alternatives, labels: Sequence[str]) -> list[float]:
    """Return p(label | x, rho) for each label, and last for N/A, from one answer with its top log-probabilities.

    The answer is followed token by token. At each place an alternative that leaves only one label possible gives its
    probability to that label; one that leaves several open is followed where the answer took it, and shared equally
    between them where it did not. What fits no label, and what the server did not list, is N/A. Case and white space
    before the answer don't count.

    >>> answer = [("Num", [("Num", -0.1), ("Ent", -2.5)]), ("ber", [("ber", -0.01)])]
    >>> [round(p, 3) for p in label_probabilities(answer, ["Number", "Entity"])]
    [0.905, 0.082, 0.013]
    """
    names = [label.casefold() for label in labels]
    probabilities = [0.0] * len(names)
    read = ""
    reached = 1.0  # the probability of what was read
    for token, alternatives in answer:
        if not alternatives:
            break
        followed = 0.0
        for text, logprob in alternatives:
            open_labels = _open(read + text, names)
            probability = reached * math.exp(logprob)
            if text == token and len(open_labels) > 1:
                followed = probability
                continue
            for index in open_labels:
                probabilities[index] += probability / len(open_labels)
        read += token
        if not followed:
            return [*probabilities, max(0.0, 1.0 - sum(probabilities))]
        reached = followed
    named = [names.index(_clean(read))] if _clean(read) in names else _open(read, names)
    for index in named:
        probabilities[index] += reached / len(named)
    return [*probabilities, max(0.0, 1.0 - sum(probabilities))]


def _open(beginning: str, names: Sequence[str]) -> list[int]:
    """Which labels an answer may still become: those it begins, or, if it is complete, the longest that it contains."""
    text = _clean(beginning)
    possible = [index for index, name in enumerate(names) if name.startswith(text)]
    if possible:
        return possible
    ended = [index for index, name in enumerate(names) if text.startswith(name)]
    return sorted(ended, key=lambda index: -len(names[index]))[:1]


def _clean(text: str) -> str:
    return text.lstrip(" \t\n\"'*`").casefold()
