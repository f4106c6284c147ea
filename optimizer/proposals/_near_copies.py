"""Near copies of texts that edits must not have seen: an example that is one would tell its answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import shown_words
from psopt.text import without_markup, words_of
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from numpy.typing import NDArray

NEAR_COPY = 0.8
_QUOTES = 0.9
_NEARLY_ALL = 0.95
_LEAST_TEXTS = 10  # of fewer, what all hold may be what they are about
_LEAST_QUOTED = 8  # distinct words; fewer are a way of asking ("what is the capital of .."), and no text of its own


class NearCopies:
    """Finds out whether a text is nearly one of others, by the words that both hold.

    A near copy shares four fifths of all distinct words of the two (Jaccard's index), or holds, or stands in, the other
    but for a tenth of the shorter one's words, where these are eight or more: a mail that quotes another. Order and
    repetition do not count.

    Words of `shared`, which nearly all samples hold, tell none from another: a policy, a list of tools, a form that all
    are written in. They count only in a text that has no others.

    The texts are read once; each text that is asked about takes time in proportion to those that hold its words. Both
    thresholds were chosen by judgement, not measured.
    """

    def __init__(self, texts: Iterable[str], shared: Set[str] = frozenset()) -> None:
        self._shared = shared
        self._columns: dict[str, int] = {}
        indices: list[int] = []
        ends = [0]
        for text in texts:
            indices += [self._columns.setdefault(word, len(self._columns)) for word in self._telling(text)]
            ends.append(len(indices))
        shape = (len(ends) - 1, len(self._columns))
        ones = np.ones(len(indices), dtype=np.int32)
        self._sizes = np.diff(ends)
        self._shown = sparse.csr_array((ones, indices, ends), shape=shape).tocsc()

    def holds(self, text: str) -> bool:
        """Tell whether one of the texts is nearly this one."""
        words = self._telling(text)
        columns = [self._columns[word] for word in words if word in self._columns]
        if not columns:
            return False
        shared: NDArray[np.int64] = np.asarray(self._shown[:, columns].sum(axis=1)).ravel()
        either = self._sizes + len(words) - shared
        shorter = np.minimum(self._sizes, len(words))
        quotes = (shorter >= _LEAST_QUOTED) & (shared >= _QUOTES * shorter)
        return bool(((shared >= NEAR_COPY * either) | quotes).any())

    def _telling(self, text: str) -> set[str]:
        words = words_in(text)
        return words - self._shared or words


def words_in(text: str) -> set[str]:
    """The distinct words that a sample shows."""
    return set(words_of(without_markup(shown_words(text))))


def held_by_nearly_all(parts: Iterable[Set[str]]) -> frozenset[str]:
    """What nearly all of the sets hold, of ten or more."""
    sets = list(parts)
    counts = Counter(part for held in sets for part in held)
    return frozenset(part for part, n in counts.items() if n >= max(_LEAST_TEXTS, _NEARLY_ALL * len(sets)))
