"""Suspect labels: samples whose text, or whose answers, speak for another class than the one they are given."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import shown_words, subset
from psopt.text import without_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

_MOST_TEXTS = 5_000  # that the classifier is fitted to; it takes a second or two
_N_FOLDS = 5
_LEAST_OF_A_CLASS = 3  # a class of two has no fold to be learnt from without the sample itself
# Share of answers that name one other class. Alone they tell a stable error of the model as well as one of the label.
_AS_GOOD_AS_ALL = 0.9


def suspect_labels(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> NDArray[np.bool_]:
    """Tell which samples may be mislabelled: (N,) bool.

    Two witnesses are heard: the model that answered, and a classifier of words, fitted without the sample. A label is
    suspect where the classifier finds another class as likely as is usual for that class, and the sample's own less
    likely than usual (confident learning: Northcutt, Jiang and Chuang, 2021); or where nine of ten answers name the
    same other class, and the classifier, if it can judge, prefers that one too. Suspicion is cheap: it keeps a sample
    from being shown as an example, where there are many others.

    Parameters
    ----------
    predictions : Predictions
        With labels; without them nothing is suspect.
    labelled : sequence of Sample, optional
        More labelled samples (all of train), from which the classifier learns.
    """
    if not predictions.is_labelled:
        return np.zeros(len(predictions.samples), dtype=bool)
    likely, usual = likely_classes(predictions, labelled)
    rows = np.arange(len(likely))
    own = likely[rows, predictions.truth]
    others = likely.copy()
    others[rows, predictions.truth] = np.nan
    counts = predictions.counts[:, : likely.shape[1]].copy()
    counts[rows, predictions.truth] = 0
    answered = counts.argmax(axis=1)
    is_sure = counts[rows, answered] >= _AS_GOOD_AS_ALL * np.maximum(predictions.counts.sum(axis=1), 1)
    # What the classifier can't judge is nan, and not less than anything.
    by_words = ((others >= usual) & (others > own[:, None])).any(axis=1) & (own < usual[predictions.truth])
    return np.asarray(by_words | (is_sure & ~(likely[rows, answered] <= own)))


def likely_classes(
    predictions: Predictions, labelled: Sequence[Sample]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How likely each class is for each sample, by its words, (N, C); and for its own samples usually, (C,)."""
    own = {sample.id for sample in predictions.samples}
    others = [sample for sample in labelled if sample.id not in own and sample.label in predictions.labels]
    room = max(0, _MOST_TEXTS - len(predictions.samples))
    samples = [*predictions.samples, *(subset(others, room, seed=0) if room else ())]
    truth = np.array([predictions.labels.index(str(sample.label)) for sample in samples])
    likely = np.full((len(samples), len(predictions.labels)), np.nan)
    words = tuple(without_markup(shown_words(sample.text)) for sample in samples)
    rows, classes, p = _out_of_fold(words, tuple(truth.tolist()))
    likely[np.ix_(rows, classes)] = p
    usual = np.full(len(predictions.labels), np.nan)
    for label in classes:
        usual[label] = likely[truth == label, label].mean()
    return likely[: len(predictions.samples)], usual


@functools.lru_cache(maxsize=4)  # a run asks the same of train in every round
def _out_of_fold(
    texts: tuple[str, ...], labels: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The rows that could be judged, the classes that could be learnt, and how likely each of these is for each row."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import ComplementNB

    truth = np.array(labels, dtype=np.int64)
    sizes = np.bincount(truth)
    rows = np.flatnonzero(sizes[truth] >= _LEAST_OF_A_CLASS)
    classes = np.unique(truth[rows])
    nothing = np.array([], dtype=np.int64)
    if len(classes) < 2:
        return nothing, nothing, np.zeros((0, 0))
    try:
        words = TfidfVectorizer(sublinear_tf=True).fit_transform([texts[row] for row in rows.tolist()])
    except ValueError:  # not a single word in any text
        return nothing, nothing, np.zeros((0, 0))
    folds = StratifiedKFold(min(_N_FOLDS, int(sizes[classes].min())), shuffle=True, random_state=0)
    # Of uneven classes, as those of tickets are, the complement of a class tells more than its few texts.
    p = cross_val_predict(ComplementNB(), words, truth[rows], cv=folds, method="predict_proba")
    return rows, classes, np.asarray(p)
