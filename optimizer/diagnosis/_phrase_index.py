"""Which samples show which phrase: the table in which slices and notes are found."""

from __future__ import annotations

import itertools
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
    from psopt.tasks import Sample


@dataclass(frozen=True, eq=False)
class PhraseIndex:
    """Phrases and the texts that show them."""

    # The order depends only on the texts: longest first, then alphabetical, so that the first of equally good phrases
    # is the most specific. Phrases of a row's field name it: ``subject: bill``.
    phrases: tuple[str, ...]
    shown: sparse.csr_array  # 1 where a text shows a phrase

    @classmethod
    def of(cls, texts: Sequence[str], *, min_texts: int = 3, phrases: Sequence[str] | None = None) -> PhraseIndex:
        """Index the phrases that at least `min_texts` texts show, or only the given `phrases`."""
        by_text = [sample_phrases(text) for text in texts]
        if phrases is None:
            frequency = Counter(itertools.chain.from_iterable(by_text))
            frequent = (phrase for phrase, n in frequency.items() if n >= min_texts)
            phrases = sorted(frequent, key=_most_specific_first)
        column = {phrase: index for index, phrase in enumerate(phrases)}
        rows: list[int] = []
        columns: list[int] = []
        for row, of_text in enumerate(by_text):
            in_text = [column[phrase] for phrase in of_text if phrase in column]
            columns += in_text
            rows += [row] * len(in_text)
        shown = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(column)))
        return cls(tuple(phrases), shown)

    def purity(self, labelled: Sequence[Sample], labels: Sequence[str]) -> NDArray[np.float64]:
        """Share of each label among labelled samples that show a phrase: (n_phrases, n_labels) in [0, 1).

        Two texts without a label are added to the count, so that three of three is weaker than thirty of thirty.
        """
        in_labelled = PhraseIndex.of([sample.text for sample in labelled], phrases=self.phrases)
        one_hot = np.eye(len(labels))[[labels.index(str(sample.label)) for sample in labelled]]
        counts = np.asarray(in_labelled.shown.T @ one_hot)
        return np.asarray(counts / (counts.sum(axis=1, keepdims=True) + 2))


def _most_specific_first(phrase: str) -> tuple[int, int, str]:
    _, words = field_and_phrase(phrase)
    return (-len(words.split()), -len(phrase), phrase)
