"""The words by which some texts differ from the others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import shown_words
from psopt.text import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_PRIOR = 0.5  # texts: the least that keeps odds finite, as in the Haldane-Anscombe correction of an odds ratio
_LEAST_TEXTS = 2
_LEAST_Z = 1.0  # standard errors: lists show the best few words anyhow, so this only keeps empty ones from being filled


def distinctive_words(
    texts: Sequence[str], members: NDArray[np.int64] | Sequence[int], most: int = 4
) -> tuple[str, ...]:
    """Return the words that members show much more often than the others, the most distinctive first.

    By the z-score of the log-odds ratio of texts that show a word, with a prior proportional to the word's frequency in
    all texts (Monroe, Colaresi and Quinn, "Fightin' Words", 2008). A word that only one member shows is left out,
    and so is one within a standard error of no difference.

    >>> distinctive_words(["what color is it ?", "what color are they ?", "who is it ?", "who are they ?"], [0, 1])
    ('color', 'what')
    """
    chosen = set(map(int, members))
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for index, text in enumerate(texts):
        (inside if index in chosen else outside).update(set(words_of(shown_words(text))))
    n_in = len(chosen)
    n_out = len(texts) - n_in
    scores = {}
    for word, n in inside.items():
        share = (n + outside[word]) / len(texts)
        if share == 1:  # a word of all texts; its odds are infinite
            continue
        in_members = n + _PRIOR * share
        in_others = outside[word] + _PRIOR * share
        log_odds = np.log(in_members / (n_in + _PRIOR - in_members))
        log_odds_of_others = np.log(in_others / (n_out + _PRIOR - in_others))
        z = (log_odds - log_odds_of_others) / np.sqrt(1 / in_members + 1 / in_others)
        if n >= _LEAST_TEXTS and z > _LEAST_Z:
            scores[word] = float(z)
    return tuple(sorted(scores, key=lambda word: (-scores[word], word))[:most])
