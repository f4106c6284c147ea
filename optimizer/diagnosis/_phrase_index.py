"""Which samples show which phrase: the table that slices and notes are found in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import sample_phrases
from psopt.text import field_and_phrase
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PhraseIndex:
    """Phrases and the texts that show them."""

    # In an order that depends on the texts only: longest first, then by alphabet, so that the first of several equally
    # good phrases is the most specific. Those of a row's fields name them: ``subject: bill``.
    phrases: tuple[str, ...]
    shown: sparse.csr_array  # 1 where a text shows a phrase

    @classmethod
    def of(cls, texts: Sequence[str], *, min_texts: int = 3, phrases: Sequence[str] | None = None) -> PhraseIndex:
        """Index the phrases that at least `min_texts` texts show, or just the given `phrases`."""
        by_text = [sample_phrases(text) for text in texts]
        if phrases is None:
            frequency = Counter(phrase for of_text in by_text for phrase in of_text)
            frequent = (phrase for phrase, n in frequency.items() if n >= min_texts)
            phrases = sorted(frequent, key=_most_specific_first)
        column = {phrase: index for index, phrase in enumerate(phrases)}
        rows = []
        columns = []
        for row, of_text in enumerate(by_text):
            for phrase in of_text:
                if phrase in column:
                    rows.append(row)
                    columns.append(column[phrase])
        shown = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(column)))
        return cls(tuple(phrases), shown)

    def purity(self, texts: Sequence[str], labels: NDArray[np.int64], n_labels: int) -> NDArray[np.float64]:
        """Share of each label among labelled texts that show a phrase: (n_phrases, n_labels) in [0, 1).

        Counted with two texts of no label added, so that three of three says less than thirty of thirty.
        """
        in_labelled = PhraseIndex.of(texts, phrases=self.phrases)
        one_hot = np.eye(n_labels)[labels]
        counts = np.asarray(in_labelled.shown.T @ one_hot)
        return np.asarray(counts / (counts.sum(axis=1, keepdims=True) + 2))


def _most_specific_first(phrase: str) -> tuple[int, int, str]:
    _, words = field_and_phrase(phrase)
    return (-len(words.split()), -len(phrase), phrase)
