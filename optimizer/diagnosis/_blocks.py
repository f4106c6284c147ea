"""Classes that fall apart: blocks of samples that are answered alike, and unlike the rest of their class.

The blocks are those of the consistency matrix (Fig. 4 of Errica et al. shows them for Entity: colours against animals);
the texts only name them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.diagnosis._telling_words import telling_words
from psopt.metrics import pairwise_consistency

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Matrix = NDArray[np.float64]
    Indices = NDArray[np.int64]

_MOST_OF_A_CLASS = 1000  # the matrix is quadratic
_MOST_BLOCKS = 6
_LEAST_MEMBERS = 3
_LEAST_WITHIN = 0.6
_LEAST_GAP = 0.25
_MOST_PHRASES = 4
_LEAST_PURITY = 0.6


@dataclass(frozen=True, slots=True)
class Block:
    """Samples of one class that are answered alike.

    Attributes
    ----------
    label : str
        Their class.
    answered : str
        What they are answered most often.
    within, across : float
        Mean consistency among them, and with the rest of their class, in [0, 1].
    wrong : float
        Share of wrong answers to them, in [0, 1].
    words : tuple of str
        What sets their texts apart from the others of their class.
    phrases : tuple of str
        What they share and, among known texts, is a sign of their class.
    samples : tuple of str
        Ids; those that show one of the phrases first.
    n_named : int
        How many of the samples show one of the phrases.
    """

    label: str
    answered: str
    within: float
    across: float
    wrong: float
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    samples: tuple[str, ...]
    n_named: int


def find_blocks(predictions: Predictions, *, known: Sequence[Sample] = ()) -> tuple[Block, ...]:
    """Find the blocks that the classes fall apart into, those with most wrong answers first.

    A class's samples are joined by average linkage on one minus their consistency; the number of blocks is the one with
    the highest silhouette. A block counts if it has three members, a mean consistency of .6 within, and .25 less with
    the rest of the class. Of a class with more than 1,000 samples the first 1,000 are looked at.

    Parameters
    ----------
    predictions : Predictions
        Without labels there are no classes, and no blocks.
    known : sequence of Sample, optional
        More labelled samples (all of train) from which to tell how surely a phrase means a class.
    """
    if not predictions.is_labelled:
        return ()
    naming = _Naming(predictions, known or predictions.samples)
    wrong = predictions.share_wrong
    found = []
    for index, label in enumerate(predictions.labels):
        of_class = np.flatnonzero(predictions.truth == index)[:_MOST_OF_A_CLASS]
        for members, within, across in _blocks(predictions.p_tau, of_class):
            phrases, in_order, n_named = naming.name(members, of_class, index)
            texts = [predictions.samples[i].text for i in of_class]
            found.append(
                Block(
                    label=label,
                    answered=str(predictions.most_answered(members)),
                    within=within,
                    across=across,
                    wrong=float(wrong[members].mean()),
                    words=telling_words(texts, np.searchsorted(of_class, members)),
                    phrases=phrases,
                    samples=tuple(predictions.samples[i].id for i in in_order),
                    n_named=n_named,
                )
            )
    return tuple(sorted(found, key=lambda block: -block.wrong * len(block.samples)))


def _blocks(p_tau: NDArray[np.generic], of_class: Indices) -> Iterator[tuple[Indices, float, float]]:
    """The members of each block of a class, and its mean consistency within and with the rest."""
    if len(of_class) < 2 * _LEAST_MEMBERS:
        return
    matrix = pairwise_consistency(p_tau[of_class])
    blocks = _partition(matrix)
    for number in range(blocks.max() + 1):
        own = blocks == number
        n = int(own.sum())
        if n < _LEAST_MEMBERS or n == len(own):
            continue
        within = float((matrix[np.ix_(own, own)].sum() - n) / (n * (n - 1)))
        across = float(matrix[np.ix_(own, ~own)].mean())
        if within >= _LEAST_WITHIN and within - across >= _LEAST_GAP:
            yield of_class[own], within, across


def _partition(matrix: Matrix) -> Indices:
    """The block of each sample, by the number of blocks that separates them best."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import silhouette_score

    apart = 1 - matrix
    np.fill_diagonal(apart, 0)
    best, best_score = np.zeros(len(matrix), dtype=np.int64), 0.0
    most = min(_MOST_BLOCKS, len(matrix) - 1, len(np.unique(apart.round(12), axis=0)))
    for n_blocks in range(2, most + 1):
        linked = AgglomerativeClustering(n_clusters=n_blocks, metric="precomputed", linkage="average").fit_predict(
            apart
        )
        separation = float(silhouette_score(apart, linked, metric="precomputed"))
        if separation > best_score:
            best, best_score = linked, separation
    return best


class _Naming:
    """Names a block by phrases that its members share and that are a sign of its class."""

    def __init__(self, predictions: Predictions, known: Sequence[Sample]) -> None:
        self._index = PhraseIndex.of([sample.text for sample in predictions.samples], min_texts=2)
        labels = np.array([predictions.labels.index(str(sample.label)) for sample in known])
        texts = [sample.text for sample in known]
        self._purity = self._index.purity(texts, labels, len(predictions.labels)) if self._index.phrases else None
        self._wrong = predictions.share_wrong

    def name(self, members: Indices, of_class: Indices, label: int) -> tuple[tuple[str, ...], Indices, int]:
        """Phrases that cover most wrong answers and set the block apart in its class.

        Returned with the members, those that show one first, and how many these are.
        """
        if self._purity is None:
            return (), members, 0
        shown = self._index.shown[members].toarray() > 0
        in_class = self._index.shown[of_class].sum(axis=0)
        telling = self._purity[:, label] * shown.sum(axis=0) / np.maximum(in_class, 1)
        pure = self._purity[:, label] >= _LEAST_PURITY
        left, phrases = self._wrong[members].copy(), []
        for _ in range(_MOST_PHRASES):
            fresh = (shown & (left[:, None] > 0)).sum(axis=0)
            worth = np.where(pure & (fresh >= 2), (left @ shown) * telling, 0)
            best = int(worth.argmax())
            if worth[best] <= 0:
                break
            phrases.append(best)
            left[shown[:, best]] = 0
        named = shown[:, phrases].any(axis=1)
        texts = tuple(self._index.phrases[column].removeprefix("^") for column in phrases)
        return texts, np.concatenate([members[named], members[~named]]), int(named.sum())
