"""Which samples show which phrase: the table in which slices and notes are found."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import sample_phrases, shown_words
from psopt.text import field_and_phrase, topic_words, words_of
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


_PRIOR = 0.5  # texts: the least that keeps odds finite, as in the Haldane-Anscombe correction of an odds ratio
_LEAST_TEXTS = 2  # one text with a phrase is no pattern
_MOST_WORDS = 4  # words that name a group
_LEAST_Z = 1.0  # standard errors: lists show only the best few words; without good ones they stay empty


def distinctive_words(texts: Sequence[str], members: NDArray[np.int64] | Sequence[int]) -> tuple[str, ...]:
    """Return the words that members show much more often than the others, the most distinctive first.

    Ranked by the z-score of the log-odds ratio of texts that show a word, with a prior proportional to the word's
    frequency in all texts (Monroe, Colaresi and Quinn, "Fightin' Words", 2008). It leaves out words that only one
    member shows, words within a standard error of no difference, and common words: "of, to" tells a reader nothing.

    >>> distinctive_words(["what color is it ?", "what color are they ?", "who is it ?", "who are they ?"], [0, 1])
    ('color',)
    """
    member_indices = set(map(int, members))
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for index, text in enumerate(texts):
        counts = inside if index in member_indices else outside
        counts.update(set(words_of(shown_words(text))))
    n_in = len(member_indices)
    n_out = len(texts) - n_in
    scores = {}
    for word, n in inside.items():
        share = (n + outside[word]) / len(texts)
        if share == 1 or not topic_words(f"^{word}"):  # a word in all texts has infinite odds
            continue
        in_members = n + _PRIOR * share
        in_others = outside[word] + _PRIOR * share
        log_odds = np.log(in_members / (n_in + _PRIOR - in_members))
        log_odds_of_others = np.log(in_others / (n_out + _PRIOR - in_others))
        z = (log_odds - log_odds_of_others) / np.sqrt(1 / in_members + 1 / in_others)
        if n >= _LEAST_TEXTS and z > _LEAST_Z:
            scores[word] = float(z)
    return tuple(sorted(scores, key=lambda word: (-scores[word], word))[:_MOST_WORDS])
