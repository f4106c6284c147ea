"""The words that tell some texts from the others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.text import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_PRIOR = 0.5
_LEAST_TEXTS = 2
_LEAST_Z = 1.0


def telling_words(texts: Sequence[str], members: NDArray[np.int64] | Sequence[int], most: int = 4) -> tuple[str, ...]:
    """Return the words that members show much more often than the others, most telling first.

    By the z-score of the log-odds ratio of texts that show a word, with a prior proportional to the word's frequency in
    all texts (Monroe, Colaresi and Quinn, "Fightin' Words", 2008). A word that only one member shows tells nothing,
    nor does one within a standard error of none.

    >>> telling_words(["what color is it ?", "what color are they ?", "who is it ?", "who are they ?"], [0, 1])
    ('color', 'what')
    """
    chosen = set(map(int, members))
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for index, text in enumerate(texts):
        (inside if index in chosen else outside).update(set(words_of(text)))
    n_in, n_out = len(chosen), len(texts) - len(chosen)
    scores = {}
    for word, n in inside.items():
        share = (n + outside[word]) / len(texts)
        if share == 1:
            continue
        a, b = n + _PRIOR * share, outside[word] + _PRIOR * share
        odds_in, odds_out = a / (n_in + _PRIOR - a), b / (n_out + _PRIOR - b)
        z = (np.log(odds_in) - np.log(odds_out)) / np.sqrt(1 / a + 1 / b)
        if n >= _LEAST_TEXTS and z > _LEAST_Z:
            scores[word] = float(z)
    return tuple(sorted(scores, key=lambda word: (-scores[word], word))[:most])
