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
    found = [0.0] * len(names)
    said, reached = "", 1.0
    for token, alternatives in answer:
        if not alternatives:
            break
        followed = 0.0
        for text, logprob in alternatives:
            open_labels = _open(said + text, names)
            probability = reached * math.exp(logprob)
            if text == token and len(open_labels) > 1:
                followed = probability
                continue
            for index in open_labels:
                found[index] += probability / len(open_labels)
        said += token
        if not followed:
            return [*found, max(0.0, 1.0 - sum(found))]
        reached = followed
    last = [names.index(_clean(said))] if _clean(said) in names else _open(said, names)
    for index in last:
        found[index] += reached / len(last)
    return [*found, max(0.0, 1.0 - sum(found))]


def _open(said: str, names: Sequence[str]) -> list[int]:
    """Which labels an answer may still become: those it begins, or, if it is complete, the longest that it contains."""
    text = _clean(said)
    beginning = [index for index, name in enumerate(names) if name.startswith(text)]
    if beginning:
        return beginning
    ended = [index for index, name in enumerate(names) if text.startswith(name)]
    return sorted(ended, key=lambda index: -len(names[index]))[:1]


def _clean(said: str) -> str:
    return said.lstrip(" \t\n\"'*`").casefold()
