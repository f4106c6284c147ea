"""Samples to look at: suspects, whose label or model is wrong, and which samples to label first."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import votes
from psopt.tasks import FREE, shown_words, subset
from psopt.text import percent, without_markup, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


# In ten well-known test sets at most 10 % of the labels are wrong, 3.4 % on average (Northcutt, Athalye and Mueller,
# "Pervasive label errors in test sets", 2021). If more of a class look wrong, the model is the likelier cause.
MOST_OF_A_CLASS = 0.1
_FEWEST_WORDINGS = 2  # under one wording all answers are trivially the same
_MOST_TEXTS = 5_000  # for fitting the classifier, which takes a second or two
_N_FOLDS = 5  # the usual number; fewer if a class is smaller
_LEAST_OF_A_CLASS = 3  # a class of two leaves too few samples to learn from
# Share of answers that name one other class. Alone it does not separate a stable model error from a label error.
_AS_GOOD_AS_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sample that is always given the same answer, never the label."""

    id: str
    text: str
    label: str
    answered: str  # what is answered instead
    n_wordings: int  # under how many wordings it was asked
    by_words: bool | None  # whether a classifier of words finds the answer likelier too; None if it cannot judge
    of_class: float  # the share of the label's samples (without classes, of all) that are suspect, in [0, 1]
    is_rather_the_model: bool  # whether that share is too high for wrong labels: the model does not know this class
    is_kept_out: bool  # whether it is excluded from examples and from evidence for edits: nothing supports its label


@dataclass(frozen=True, slots=True)
class Suspects:
    """The suspects among samples; first those where a word classifier also disagrees, of classes the model knows."""

    samples: tuple[Suspect, ...] = ()
    n_samples: int = 0  # the number of samples searched

    @property
    def kept_out(self) -> frozenset[str]:
        """The ids of those excluded from examples and evidence."""
        return frozenset(suspect.id for suspect in self.samples if suspect.is_kept_out)

    @property
    def line(self) -> str:
        """A one-line summary; empty without suspects."""
        return suspects_line(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain JSON data, as in suspect_labels.json and ``diagnose --json``."""
        return {"n_samples": self.n_samples, "samples": [asdict(suspect) for suspect in self.samples]}


def suspects_line(suspects: dict[str, Any]) -> str:
    """Say in one line how many samples are suspect, and for how many the model is the likelier cause.

    >>> one = {"by_words": None, "is_rather_the_model": False}
    >>> suspects_line({"n_samples": 50, "samples": [one]})
    '1 of 50 samples (2.0 %) is always given the same answer, never the label'
    """
    samples = suspects["samples"]
    if not samples:
        return ""
    share = percent(len(samples) / suspects["n_samples"])
    verb = "is" if len(samples) == 1 else "are"
    of = f"{len(samples)} of {suspects['n_samples']} samples ({share} %)"
    line = f"{of} {verb} always given the same answer, never the label"
    if n_by_words := sum(bool(sample["by_words"]) for sample in samples):
        line += f"; for {n_by_words} a word classifier also disagrees"
    if n_of_model := sum(sample["is_rather_the_model"] for sample in samples):
        line += f"; {n_of_model} of them are of classes that the model gets wrong too often to blame the labels"
    return line


def find_suspects(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Suspects:
    """Find the samples that are always given the same answer, never the label.

    That alone does not separate a wrong label from a stable error of the model, so each suspect also shows a word
    classifier's judgement, and how many samples of its class are suspect. Free answers have no suspects, since many
    may be right. The classifier also learns from `labelled`, more labelled samples (all of train).
    """
    n_samples = len(predictions.samples)
    is_open = predictions.answers.open is not None
    if not predictions.is_labelled or (is_open and predictions.answers.spec.form == FREE):
        return Suspects(n_samples=n_samples)
    n_asked = predictions.asked.sum(axis=1)
    are_read = (predictions.is_read == predictions.asked).all(axis=1)
    are_alike = (n_asked >= _FEWEST_WORDINGS) & (predictions.counts.max(axis=1) == n_asked)
    alike = np.flatnonzero(are_read & are_alike & (predictions.n_right == 0))
    if not len(alike):
        return Suspects(n_samples=n_samples)
    classes = [""] * n_samples
    by_words: list[bool | None] = [None] * len(alike)
    if not is_open:
        classes = [str(sample.label) for sample in predictions.samples]
        likely, _ = _likely_classes(predictions, labelled)
        answers = predictions.counts[alike, : likely.shape[1]].argmax(axis=1)
        pairs = zip(likely[alike, answers].tolist(), likely[alike, predictions.truth[alike]].tolist(), strict=True)
        by_words = [None if math.isnan(of_answer + own) else of_answer > own for of_answer, own in pairs]
    sizes, n_alike = Counter(classes), Counter(classes[row] for row in alike)
    suspects = []
    for row, words in zip(alike.tolist(), by_words, strict=True):
        n, size = n_alike[classes[row]], sizes[classes[row]]
        is_rather_the_model = n > max(1, MOST_OF_A_CLASS * size)
        is_kept_out = not is_rather_the_model if words is None else words
        sample = predictions.samples[row]
        answered, n_wordings = next(iter(predictions.answers_to(row).items()))
        of_sample = sample.id, str(sample.text), str(sample.label), answered, n_wordings
        suspects.append(Suspect(*of_sample, words, n / size, is_rather_the_model, is_kept_out))
    suspects.sort(key=lambda suspect: (not suspect.by_words, suspect.is_rather_the_model))
    return Suspects(tuple(suspects), n_samples)


def without_suspects(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Predictions:
    """Return the predictions without the samples whose label nothing supports; all of them if none would be left."""
    kept_out = find_suspects(predictions, labelled=labelled).kept_out
    if not 0 < len(kept_out) < len(predictions.samples):
        return predictions
    return predictions.of_samples(np.array([sample.id not in kept_out for sample in predictions.samples]))


def suspect_labels(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Flags:
    """Return which samples may be mislabelled: (N,) bool.

    A label is suspect if a word classifier fitted without the sample finds another class as likely as is usual for that
    class, and the sample's own class less likely than usual (confident learning: Northcutt, Jiang and Chuang, 2021). It
    is also suspect if nine of ten answers name the same other class, and the classifier, if it can judge, prefers that
    one too. A false alarm is cheap: the sample is only not shown as an example. `labelled` as in `find_suspects`.
    """
    if not predictions.is_labelled:
        return np.zeros(len(predictions.samples), dtype=bool)
    likely, usual = _likely_classes(predictions, labelled)
    rows = np.arange(len(likely))
    own = likely[rows, predictions.truth]
    others = likely.copy()
    others[rows, predictions.truth] = np.nan
    counts = predictions.counts[:, : likely.shape[1]].copy()
    counts[rows, predictions.truth] = 0
    answered = counts.argmax(axis=1)
    is_sure = counts[rows, answered] >= _AS_GOOD_AS_ALL * np.maximum(predictions.counts.sum(axis=1), 1)
    # What the classifier cannot judge is nan, which is not less than anything.
    by_words = ((others >= usual) & (others > own[:, None])).any(axis=1) & (own < usual[predictions.truth])
    return np.asarray(by_words | (is_sure & ~(likely[rows, answered] <= own)))


def _likely_classes(predictions: Predictions, labelled: Sequence[Sample]) -> tuple[Floats, Floats]:
    """How likely each class is for each sample by its words, (N, C), and on average for its own samples, (C,)."""
    own = {sample.id for sample in predictions.samples}
    others = [sample for sample in labelled if sample.id not in own and sample.label in predictions.labels]
    samples = [*predictions.samples]
    if len(samples) < _MOST_TEXTS:
        samples += subset(others, _MOST_TEXTS - len(samples), seed=0)
    truth = np.array([predictions.labels.index(str(sample.label)) for sample in samples])
    likely = np.full((len(samples), len(predictions.labels)), np.nan)
    words = tuple(without_markup(shown_words(sample.text)) for sample in samples)
    rows, classes, p = _out_of_fold(words, tuple(truth.tolist()))
    likely[np.ix_(rows, classes)] = p
    usual = np.full(len(predictions.labels), np.nan)
    for label in classes:
        usual[label] = likely[truth == label, label].mean()
    return likely[: len(predictions.samples)], usual


@functools.lru_cache(maxsize=4)  # a run repeats this for train in every round
def _out_of_fold(texts: tuple[str, ...], labels: tuple[int, ...]) -> tuple[Indices, Indices, Floats]:
    """The rows that could be judged, the classes that could be learnt, and each class's probability per row."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import ComplementNB

    truth = np.array(labels, dtype=np.int64)
    sizes = np.bincount(truth)
    rows = np.flatnonzero(sizes[truth] >= _LEAST_OF_A_CLASS)
    classes = np.unique(truth[rows])
    nothing = np.array([], dtype=np.int64), np.array([], dtype=np.int64), np.zeros((0, 0))
    if len(classes) < 2:
        return nothing
    try:
        words = TfidfVectorizer(sublinear_tf=True).fit_transform([texts[row] for row in rows.tolist()])
    except ValueError:  # no word in any text
        return nothing
    folds = StratifiedKFold(min(_N_FOLDS, int(sizes[classes].min())), shuffle=True, random_state=0)
    # With uneven classes, such as tickets, the complement of a class is more informative than its few texts.
    p = cross_val_predict(ComplementNB(), words, truth[rows], cv=folds, method="predict_proba")
    return rows, classes, np.asarray(p)


_NEAR_COPY = 0.8  # of two texts' distinct words: the same threshold as for examples (`psopt.proposals`)


@dataclass(frozen=True, slots=True)
class ToLabel:
    """A sample that is worth a label."""

    id: str
    text: str
    sensitivity: float  # S of its answers, in [0, 1]
    answer: str  # the majority answer over the wordings
    agreement: float  # the share of wordings that gave it, in (0, 1]


def samples_to_label(predictions: Predictions, n: int) -> list[ToLabel]:
    """Return at most n samples, highest S first, then with the smaller share of the vote; near copies are left out."""
    answers, shares, spreads, _ = votes(predictions)
    first: list[ToLabel] = []
    taken: list[set[str]] = []
    for row in np.lexsort((shares, -spreads.round(9))).tolist():
        if len(first) == n:
            break
        sample = predictions.samples[row]
        words = set(words_of(sample.text))
        if not any(len(words & earlier) >= _NEAR_COPY * len(words | earlier) for earlier in taken):
            first.append(ToLabel(sample.id, str(sample.text), float(spreads[row]), answers[row], float(shares[row])))
            taken.append(words)
    return first
