"""Slices of failing samples with similar meaning: of one class, and mistaken for the same other class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._phrase_index import distinctive_words
from psopt.diagnosis._slices import MOST_SLICES, FailureSlice
from psopt.tasks import shown_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions


Embed = Callable[["Sequence[str]"], "NDArray[np.float32]"]
"""Texts to unit vectors, (n, d)."""


# Measured on 500 questions of TREC's train with minilm's original prompt and latent semantic analysis: how many samples
# are in slices, and the share of a slice's pairs with the same one of TREC's 50 fine classes ("alike").
_LEAST_MEMBERS = 3  # 2, 3, 4: 246, 166, 118 samples, .55 to .56 of the pairs alike; one pair is not a pattern
_FARTHEST = 0.75  # mean cosine distance. .65: 128 samples, .64 alike; .75: 166, .55; .85: 225, .46; .95: 285, .25
_DIMENSIONS = 50  # 20: 239 samples, .34 alike; 50: 166, .55; 100: 91, .67


def find_slices_by_meaning(predictions: Predictions, *, embed: Embed | None = None) -> tuple[FailureSlice, ...]:
    """Cluster the failing samples by average linkage on cosine distance; the most severe slice comes first.

    Without labels nothing is confused, so there are none. By default latent semantic analysis embeds the texts.
    """
    if not predictions.is_labelled:
        return ()
    vectors = vectors_of(predictions.texts, embed)
    slices: list[FailureSlice] = []
    for label, predicted, failing in _directions(predictions):
        slices += [_slice(predictions, members, label, predicted) for members in clusters_of(vectors, failing)]
    return tuple(sorted(slices, key=lambda failing: -failing.severity)[:MOST_SLICES])


def _directions(predictions: Predictions) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Classes with the most frequent other answers, and the samples that fail so."""
    truth = predictions.truth
    counts = predictions.counts
    counts[np.arange(len(truth)), truth] = 0
    taken_for = counts.argmax(axis=1)
    fails = counts.sum(axis=1) > 0
    for label in range(len(predictions.labels)):
        for predicted in range(predictions.n_classes):
            members = np.flatnonzero(fails & (truth == label) & (taken_for == predicted))
            if len(members) >= _LEAST_MEMBERS:
                yield label, predicted, members


def vectors_of(texts: Sequence[str], embed: Embed | None) -> NDArray[np.float32]:
    """Texts as unit vectors, (n, d): from an encoder, or without one from latent semantic analysis."""
    if embed:
        return embed(texts)
    vectors = _by_words(tuple(map(shown_words, texts)))
    if vectors is None:  # each in a direction of its own
        return np.eye(len(texts), dtype=np.float32)
    return vectors


def clusters_of(vectors: NDArray[np.float32], members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Members with similar meaning, by average linkage: clusters of at least three."""
    from sklearn.cluster import AgglomerativeClustering

    linked = AgglomerativeClustering(
        n_clusters=None, distance_threshold=_FARTHEST, metric="cosine", linkage="average"
    ).fit_predict(vectors[members])
    clusters = [members[linked == number] for number in range(linked.max() + 1)]
    return [cluster for cluster in clusters if len(cluster) >= _LEAST_MEMBERS]


def _slice(predictions: Predictions, members: NDArray[np.int64], label: int, predicted: int) -> FailureSlice:
    wrong = predictions.share_wrong[members]
    unstable = predictions.sensitivities[members]
    severities = np.maximum(wrong, unstable)
    in_order = members[np.argsort(-severities, kind="stable")]
    return FailureSlice(
        view="sensitivity" if unstable.sum() >= wrong.sum() else "accuracy",
        label=predictions.labels[label],
        predicted=predictions.class_names[predicted],
        phrases=distinctive_words(predictions.texts, members),
        samples=tuple(predictions.samples[index].id for index in in_order),
        severity=float(severities.sum()),
        gain=0.0,  # without a phrase no rule can check where a note would harm
        how="meaning",
    )


@functools.lru_cache(maxsize=2)  # all diagnoses of a run are of the same texts
def _by_words(texts: tuple[str, ...]) -> NDArray[np.float32] | None:
    """Latent semantic analysis: unit vectors, or a constant direction for a text without a known word.

    None where words tell no text from another.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    except ValueError:  # no word in any text
        return None
    n_dimensions = min(_DIMENSIONS, min(weights.shape) - 1)
    if n_dimensions < 1:
        return None
    vectors = TruncatedSVD(n_dimensions, random_state=0).fit_transform(weights)
    vectors += 1e-9  # a text with only rare words has no direction, but cosine needs one
    units = np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
    units.setflags(write=False)  # all who ask share them
    return units
