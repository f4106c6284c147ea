"""Groups of samples in need that mean alike: clusters within class and confusion direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from psopt.diagnosis._groups import Group
from psopt.diagnosis._telling_words import telling_words
from psopt.diagnosis._views import need

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions


class Embed(Protocol):
    """Texts to unit vectors, (n, d)."""

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]: ...


_LEAST_MEMBERS = 3
_FARTHEST = 0.75  # mean cosine distance within a cluster; texts of one topic are at .5 to .7, chance pairs at .9
_DIMENSIONS = 50


def find_clusters(predictions: Predictions, *, embed: Embed | None = None, most: int = 12) -> tuple[Group, ...]:
    """Cluster the samples that are wrong or shake, by average linkage on cosine distance, the biggest need first.

    Parameters
    ----------
    predictions : Predictions
        With labels; without them there is nothing to be confused, and no cluster.
    embed : callable, optional
        By default latent semantic analysis of the texts themselves.
    most : int
    """
    if not predictions.is_labelled:
        return ()
    texts = [sample.text for sample in predictions.samples]
    vectors = (embed or _by_words)(texts)
    groups = [
        _group(predictions, members, direction)
        for direction, candidates in _directions(predictions)
        for members in _clusters(vectors, candidates)
    ]
    return tuple(sorted(groups, key=lambda group: -group.need)[:most])


def _directions(predictions: Predictions) -> Iterator[tuple[tuple[int, int], NDArray[np.int64]]]:
    """Samples in need by (class, what they are taken for most)."""
    counts, truth = predictions.counts.copy(), predictions.truth
    counts[np.arange(len(truth)), truth] = 0
    taken_for = counts.argmax(axis=1)
    in_need = counts.sum(axis=1) > 0
    for label in range(len(predictions.labels)):
        for other in range(predictions.n_classes):
            members = np.flatnonzero(in_need & (truth == label) & (taken_for == other))
            if len(members) >= _LEAST_MEMBERS:
                yield (label, other), members


def _clusters(vectors: NDArray[np.float32], members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    from sklearn.cluster import AgglomerativeClustering

    linked = AgglomerativeClustering(
        n_clusters=None, distance_threshold=_FARTHEST, metric="cosine", linkage="average"
    ).fit_predict(vectors[members])
    clusters = [members[linked == number] for number in range(linked.max() + 1)]
    return [cluster for cluster in clusters if len(cluster) >= _LEAST_MEMBERS]


def _group(predictions: Predictions, members: NDArray[np.int64], direction: tuple[int, int]) -> Group:
    label, other = direction
    wrong = predictions.share_wrong
    unstable = need(predictions, "sensitivity")[members]
    needs = np.maximum(wrong[members], unstable)
    in_order = members[np.argsort(-needs, kind="stable")]
    words = telling_words([sample.text for sample in predictions.samples], members)
    return Group(
        view="sensitivity" if unstable.sum() >= wrong[members].sum() else "accuracy",
        label=predictions.labels[label],
        predicted=predictions.class_names[other],
        phrases=words,
        samples=tuple(predictions.samples[index].id for index in in_order),
        need=float(needs.sum()),
        gain=0.0,  # no phrase, so no rule can tell where a note would do harm
        how="meaning",
    )


def _by_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """Latent semantic analysis: unit vectors, or zeros for a text without a known word."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    except ValueError:  # not a single word in any text
        return np.eye(len(texts), dtype=np.float32)
    n_dimensions = min(_DIMENSIONS, min(weights.shape) - 1)
    if n_dimensions < 1:
        return np.eye(len(texts), dtype=np.float32)
    vectors = TruncatedSVD(n_dimensions, random_state=0).fit_transform(weights)
    vectors += 1e-9  # a text of nothing but rare words has no direction, and cosine needs one
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
