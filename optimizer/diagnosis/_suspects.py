"""Suspects: samples that are always given the same answer, never the label: label or model is wrong."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.tasks import FREE, shown_words, subset
from psopt.text import without_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Flags = NDArray[np.bool_]


# Of ten well-known test sets at most 10 % of the labels are wrong, 3.4 % in the mean (Northcutt, Athalye and Mueller,
# "Pervasive label errors in test sets", 2021). Where more of a class look so, the model is the likelier cause.
MOST_OF_A_CLASS = 0.1
_FEWEST_WORDINGS = 2  # under one wording every answer is alike
_MOST_TEXTS = 5_000  # that the classifier is fitted to; it takes a second or two
_N_FOLDS = 5  # customary; fewer where a class is smaller
_LEAST_OF_A_CLASS = 3  # a class of two has no fold to be learnt from without the sample itself
# Share of answers that name one other class. Alone they tell a stable error of the model as well as one of the label.
_AS_GOOD_AS_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sample that is always given the same answer, never the label."""

    id: str
    text: str
    label: str
    answered: str  # what is answered instead
    n_wordings: int  # under how many wordings it was asked about
    # Whether a classifier of words, fitted to other samples, takes the answer for likelier than the label too; None
    # where it can't judge
    by_words: bool | None
    # The share of the label's samples that look so, in [0, 1]; of answers without classes, of all samples
    of_class: float
    # Whether that is more than wrong labels are likely to be: the model does not know this class
    is_rather_the_model: bool
    is_kept_out: bool  # whether the sample is no example and no evidence for edits: nothing speaks for its label


@dataclass(frozen=True, slots=True)
class Suspects:
    """The suspects among samples, those first whose words speak for the answer too and whose class is else known."""

    samples: tuple[Suspect, ...] = ()
    n_samples: int = 0  # among how many they were looked for

    @property
    def kept_out(self) -> frozenset[str]:
        """The ids of those that are no examples and no evidence."""
        return frozenset(suspect.id for suspect in self.samples if suspect.is_kept_out)

    @property
    def line(self) -> str:
        """What there is to say, in a line; empty where there are none."""
        return suspects_line(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain JSON data, as suspect_labels.json and ``diagnose --json`` have them."""
        return {"n_samples": self.n_samples, "samples": [asdict(suspect) for suspect in self.samples]}


def suspects_line(suspects: dict[str, Any]) -> str:
    """Say in a line how many samples are suspect, and how many of them it rather is the model that is wrong about.

    >>> one = {"by_words": None, "is_rather_the_model": False}
    >>> suspects_line({"n_samples": 50, "samples": [one]})
    '1 of 50 samples (2 %) is always given the same answer, never the label'
    """
    samples = suspects["samples"]
    if not samples:
        return ""
    share = f"{100 * len(samples) / suspects['n_samples']:.2g} %"
    verb = "is" if len(samples) == 1 else "are"
    of = f"{len(samples)} of {suspects['n_samples']} samples ({share})"
    line = f"{of} {verb} always given the same answer, never the label"
    if n_by_words := sum(bool(sample["by_words"]) for sample in samples):
        line += f"; for {n_by_words} a word classifier also disagrees"
    if n_of_model := sum(sample["is_rather_the_model"] for sample in samples):
        line += f"; {n_of_model} of them are of classes that the model gets wrong too often to blame the labels"
    return line


def find_suspects(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Suspects:
    """Find the samples that are always given the same answer, never the label.

    That alone does not tell a wrong label from an error that the model makes steadily. So beside each stands what a
    classifier of words says, and how many of its class look so. Free answers have no suspects: what is right is one
    of many there.

    Parameters
    ----------
    predictions : Predictions
        Without labels nothing is suspect.
    labelled : sequence of Sample, optional
        More labelled samples (all of train), from which the classifier learns.
    """
    n_samples = len(predictions.samples)
    open_answers = predictions.answers.open
    if not predictions.is_labelled or (open_answers is not None and predictions.answers.spec.form == FREE):
        return Suspects(n_samples=n_samples)
    alike = np.flatnonzero(_are_alike_and_wrong(predictions))
    if not len(alike):
        return Suspects(n_samples=n_samples)
    classes = [str(sample.label) if open_answers is None else "" for sample in predictions.samples]
    sizes, n_alike = Counter(classes), Counter(classes[row] for row in alike)
    by_words = _by_words(predictions, alike, labelled) if open_answers is None else [None] * len(alike)
    suspects = []
    for row, words in zip(alike.tolist(), by_words, strict=True):
        n, size = n_alike[classes[row]], sizes[classes[row]]
        is_rather_the_model = n > max(1, MOST_OF_A_CLASS * size)
        sample = predictions.samples[row]
        suspects.append(
            Suspect(
                sample.id,
                str(sample.text),
                str(sample.label),
                next(iter(predictions.answers_to(row))),
                int(predictions.asked[row].sum()),
                words,
                n / size,
                is_rather_the_model,
                is_kept_out=words if words is not None else not is_rather_the_model,
            )
        )
    suspects.sort(key=lambda suspect: (not suspect.by_words, suspect.is_rather_the_model))
    return Suspects(tuple(suspects), n_samples)


def without_suspects(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Predictions:
    """Return the predictions without the samples of which nothing speaks for the label."""
    kept_out = find_suspects(predictions, labelled=labelled).kept_out
    if not kept_out:
        return predictions
    return predictions.of_samples(np.array([sample.id not in kept_out for sample in predictions.samples]))


def _are_alike_and_wrong(predictions: Predictions) -> Flags:
    """Which samples have answers that are all the same, all readable, and all wrong: (N,)."""
    n_asked = predictions.asked.sum(axis=1)
    are_read = (predictions.is_read == predictions.asked).all(axis=1)
    are_alike = predictions.counts.max(axis=1) == n_asked
    return np.asarray((n_asked >= _FEWEST_WORDINGS) & are_read & are_alike & (predictions.n_right == 0))


def _by_words(predictions: Predictions, rows: NDArray[np.int64], labelled: Sequence[Sample]) -> list[bool | None]:
    """Whether the answer to each of the rows is likelier by its words than the label is; None where nobody knows."""
    likely, _ = _likely_classes(predictions, labelled)
    answered = predictions.counts[rows, : likely.shape[1]].argmax(axis=1)
    of_answer, own = likely[rows, answered], likely[rows, predictions.truth[rows]]
    has_both = ~(np.isnan(of_answer) | np.isnan(own))
    return [bool(of_answer[place] > own[place]) if has_both[place] else None for place in range(len(rows))]


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
    likely, usual = _likely_classes(predictions, labelled)
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


def _likely_classes(
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
