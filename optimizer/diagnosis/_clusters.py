"""Classes that split: clusters of samples that are answered alike, and unlike the rest of their class.

The clusters are the blocks of the consistency matrix (figure 4 of Errica et al. shows them for Entity: colours against
animals); the texts are only used to name them.

The constants were measured on 500 questions of TREC's train with minilm's original prompt. Its classes split into 24
clusters of 479 samples. Chance was measured by shuffling each class's answers among its samples, five times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex, distinctive_words
from psopt.metrics import pairwise_consistency
from psopt.text import field_and_phrase, phrase_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Matrix = NDArray[np.float64]
    Indices = NDArray[np.int64]

_MOST_OF_A_CLASS = 1000  # the matrix is quadratic: 8 MB
_MOST_CLUSTERS = 6  # 4 gives 15 clusters of 345 samples; 8 and 20 give the same as 6
_LEAST_MEMBERS = 3  # two samples that are alike are only a pair
_LEAST_WITHIN = 0.6  # .5 admits one looser cluster, .7 leaves 18
# By chance there are 7 to 10 clusters without a gap, 6 or 7 at .1, up to 4 at .2, up to 2 at .25 and none at .4.
_LEAST_GAP = 0.25
_MOST_PHRASES = 4  # one phrase names .25 of the samples, two .37, four .42, eight .43
# Of the other 1,935 train questions, .79 of those that show the phrases are of the class. At .7 it is .92, but then
# only .38 instead of .42 of the samples are named; at .4 it is .66.
_LEAST_PURITY = 0.6


@dataclass(frozen=True, slots=True)
class AnswerCluster:
    """Samples of one class that are answered alike."""

    label: str  # their class
    answered: str  # their most frequent answer
    # Mean consistency within the cluster, and with the rest of the class, in [0, 1]
    within: float
    across: float
    wrong: float  # share of wrong answers to them, in [0, 1]
    words: tuple[str, ...]  # what distinguishes their texts from the rest of the class
    phrases: tuple[str, ...]  # shared by them and, among labelled texts, a sign of their class
    samples: tuple[str, ...]  # ids; those that show one of the phrases first
    n_named: int  # how many of the samples show one of the phrases


def find_clusters(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> tuple[AnswerCluster, ...]:
    """Find the clusters into which the classes split, those with most wrong answers first.

    A class's samples are joined by average linkage on one minus their consistency; the number of clusters is the one
    with the highest silhouette. A cluster counts if it has three members, a mean consistency of .6 within it, and .25
    less with the rest of the class. In a class with more than 1,000 samples only the first 1,000 are used. For
    `labelled` see `find_slices`; without labels there are no classes, and no clusters.
    """
    if not predictions.is_labelled:
        return ()
    naming = _Naming(predictions, labelled or predictions.samples)
    wrong = predictions.share_wrong
    clusters = []
    for index, label in enumerate(predictions.labels):
        of_class = predictions.members(label)[:_MOST_OF_A_CLASS]
        texts = [predictions.texts[member] for member in of_class]
        for members, within, across in _clusters(predictions.p_tau, of_class):
            phrases, in_order, n_named = naming.name(members, of_class, index)
            clusters.append(
                AnswerCluster(
                    label=label,
                    answered=str(predictions.most_answered(members)),
                    within=within,
                    across=across,
                    wrong=float(wrong[members].mean()),
                    words=distinctive_words(texts, np.searchsorted(of_class, members)),
                    phrases=phrases,
                    samples=tuple(predictions.samples[member].id for member in in_order),
                    n_named=n_named,
                )
            )
    return tuple(sorted(clusters, key=lambda cluster: -cluster.wrong * len(cluster.samples)))


def _clusters(p_tau: NDArray[np.generic], of_class: Indices) -> Iterator[tuple[Indices, float, float]]:
    """The members of each cluster of a class, and its mean consistency within and with the rest."""
    if len(of_class) < 2 * _LEAST_MEMBERS:
        return
    matrix = pairwise_consistency(p_tau[of_class])
    numbers = _partition(matrix)
    for number in range(numbers.max() + 1):
        own = numbers == number
        n = int(own.sum())
        if n < _LEAST_MEMBERS or n == len(own):
            continue
        # without the diagonal: a sample agrees with itself
        within = float((matrix[np.ix_(own, own)].sum() - n) / (n * (n - 1)))
        across = float(matrix[np.ix_(own, ~own)].mean())
        if within >= _LEAST_WITHIN and within - across >= _LEAST_GAP:
            yield of_class[own], within, across


def _partition(matrix: Matrix) -> Indices:
    """The cluster of each sample, by the number of clusters that separates them best."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import silhouette_score

    distances = 1 - matrix
    np.fill_diagonal(distances, 0)
    best, best_score = np.zeros(len(matrix), dtype=np.int64), 0.0
    # Rows that differ only by rounding are one point, and there cannot be more clusters than points.
    n_points = len(np.unique(distances.round(12), axis=0))
    for n_clusters in range(2, min(_MOST_CLUSTERS, len(matrix) - 1, n_points) + 1):
        linkage = AgglomerativeClustering(n_clusters=n_clusters, metric="precomputed", linkage="average")
        numbers = linkage.fit_predict(distances)
        separation = float(silhouette_score(distances, numbers, metric="precomputed"))
        if separation > best_score:
            best, best_score = numbers, separation
    return best


class _Naming:
    """Names a cluster by phrases that its members share and that indicate its class."""

    def __init__(self, predictions: Predictions, labelled: Sequence[Sample]) -> None:
        self._index = PhraseIndex.of(predictions.texts, min_texts=2)
        self._purity = self._index.purity(labelled, predictions.labels)
        self._wrong = predictions.share_wrong

    def name(self, members: Indices, of_class: Indices, label: int) -> tuple[tuple[str, ...], Indices, int]:
        """Phrases that cover most wrong answers and distinguish the cluster within its class.

        Returned with the members, those that show a phrase first, and the number of those.
        """
        if not self._index.phrases:
            return (), members, 0
        shown = self._index.shown[members].toarray() > 0
        in_class = self._index.shown[of_class].sum(axis=0)
        distinctive = self._purity[:, label] * shown.sum(axis=0) / np.maximum(in_class, 1)
        pure = self._purity[:, label] >= _LEAST_PURITY
        uncovered = self._wrong[members].copy()
        phrases: list[int] = []
        for _ in range(_MOST_PHRASES):
            n_new = (shown & (uncovered[:, None] > 0)).sum(axis=0)
            benefit = np.where(pure & (n_new >= 2), (uncovered @ shown) * distinctive, 0)
            best = int(benefit.argmax())
            if benefit[best] <= 0:
                break
            phrases.append(best)
            uncovered[shown[:, best]] = 0
        named = shown[:, phrases].any(axis=1)
        texts = tuple(_anywhere(self._index.phrases[column]) for column in phrases)
        return texts, np.concatenate([members[named], members[~named]]), int(named.sum())


def _anywhere(phrase: str) -> str:
    """A phrase at any position in its text or field."""
    field, alone = field_and_phrase(phrase)
    return phrase_of_field(field, alone.removeprefix("^"))
