"""A complete diagnosis: the samples that fail, and what they share, with classes and without."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.diagnosis._slices import (
    MOST_SLICES,
    Contrast,
    FailureSlice,
    PhraseIndex,
    class_consistencies,
    find_slices,
    severity,
    with_siblings,
)
from psopt.search_spaces import VIEWS, View
from psopt.tasks import shown_words
from psopt.text import tells_a_topic, words_of
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Vector = NDArray[np.float64]
    Flags = NDArray[np.bool_]


LEVEL = 0.05
"""If weak samples share nothing, a topic may be named in at most this share of tasks, over all views together."""
_LEAST_TEXTS = 3  # different texts that share something, and weak samples among them; two are only a pair
_N_SHUFFLES = 999  # the smallest p-value is then one in a thousand
_AT_ONCE = 100  # shuffles; a table of phrases and shuffles takes about 16 MB for 20,000 phrases
# Samples of mean severity added to each phrase's count: otherwise three samples would reach by chance what thirty
# hardly can. Measured on 100 sets of 100 questions of TREC's train, 12 % of them weak, but 70 % within a topic of 5, 8
# or 12 questions: 0 names the topic in 39, 68 and 78 sets, 2 in 45, 78 and 87, 5 in 45, 83 and 92.
_ADDED = 5


def find_open_slices(predictions: Predictions, views: Sequence[View]) -> tuple[FailureSlice, ...]:
    """Find what unstable or wrong samples share, for each view; nothing that chance would explain as well.

    A slice is named by a phrase that indicates a topic, and by those that differ from it in one word. The phrase with
    most severity above the mean is taken if chance reaches as much with any phrase in at most 5 % of tasks
    (`excess_severity`; Bonferroni over the views); of the samples that don't show it, the next. Texts with the same
    words are one text.
    """
    topics = _Topics.of(predictions.texts)
    slices: list[FailureSlice] = []
    for view in views if topics.phrases else ():
        slices += itertools.islice(_cover(predictions, view, topics, LEVEL / len(views)), MOST_SLICES)
    return tuple(slices)


@dataclass(frozen=True, eq=False)
class _Topics:
    """Phrases that texts can share."""

    phrases: tuple[str, ...]  # the shortest first: of those that the same texts show, the simplest names the topic
    shown: sparse.csr_array  # (n_distinct, n_phrases): which distinct text shows which phrase
    distinct: NDArray[np.int64]  # (N,): the index of each text among the distinct ones

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Topics:
        """Find what some texts share."""
        words = [tuple(words_of(shown_words(text))) for text in texts]
        text_of = dict(zip(words, texts, strict=True))
        place = {own: number for number, own in enumerate(sorted(text_of))}  # whatever the order of samples
        every = PhraseIndex.of([text_of[own] for own in place], min_texts=_LEAST_TEXTS)
        named = [column for column, phrase in reversed(list(enumerate(every.phrases))) if tells_a_topic(phrase)]
        phrases = tuple(every.phrases[column] for column in named)
        distinct = np.array([place[own] for own in words], dtype=np.int64)
        return cls(phrases, sparse.csr_array(every.shown[:, named]), distinct)

    def showing(self, columns: Sequence[int]) -> Flags:
        """Which texts show any of these: (N,) bool."""
        return np.asarray(self.shown[:, columns].sum(axis=1)).ravel()[self.distinct] > 0


def _cover(predictions: Predictions, view: View, topics: _Topics, level: float) -> Iterator[FailureSlice]:
    """A greedy cover: the clearest slice of the texts that none before explains, as long as one is more than chance."""
    severities = severity(predictions, view)
    is_weak = severities > severities.mean()
    n_alike = np.bincount(topics.distinct)
    of_distinct = np.bincount(topics.distinct, weights=severities) / n_alike
    is_unexplained = np.ones(len(n_alike), dtype=np.bool_)
    while clearest := _clearest(of_distinct, topics, is_unexplained, level):
        columns, p_value = clearest
        is_left = is_unexplained[topics.distinct]
        shows = topics.showing(columns) & is_left
        members = np.flatnonzero(shows & is_weak)
        if len(members) < _LEAST_TEXTS:
            return
        yield FailureSlice.of(
            predictions,
            members,
            severities,
            view=view,
            label=None,
            predicted=None,
            phrases=tuple(topics.phrases[column] for column in columns),
            gain=0.0,  # without a class the effect of following the phrase is undefined
            contrast=Contrast(
                weak_showing=len(members),
                weak=int((is_weak & is_left).sum()),
                others_showing=int((~is_weak & shows).sum()),
                others=int((~is_weak & is_left).sum()),
                p_value=p_value,
            ),
        )
        is_unexplained[topics.distinct[shows]] = False


def _clearest(of_distinct: Vector, topics: _Topics, is_left: Flags, level: float) -> tuple[list[int], float] | None:
    """The phrase that stands out most, with its siblings, and its p-value; None if none is surely more than chance."""
    severities = of_distinct[is_left]
    if not severities.size or np.ptp(severities) == 0:
        return None
    shown = topics.shown[is_left]
    n_left = np.asarray(shown.sum(axis=0)).ravel()
    looked_at = np.flatnonzero((n_left >= _LEAST_TEXTS) & (n_left < len(severities)))
    if not looked_at.size:
        return None
    excess, p_values = excess_severity(severities, shown[:, looked_at])
    best_first = np.argsort(-excess, kind="stable")
    sure = best_first[p_values[best_first] <= level]
    if not sure.size:
        return None
    columns = with_siblings(topics.phrases, looked_at[sure].tolist())
    return columns, min(1.0, float(p_values[sure[0]]) * LEVEL / level)


def excess_severity(severities: Vector, shown: sparse.csr_array) -> tuple[Vector, Vector]:
    """How much more samples with a phrase fail, for many phrases, and how often chance does as well with any of them.

    The p-values hold for all phrases together: a phrase's p-value is the share of shuffled severities in which the best
    of all phrases reaches as much (Westfall and Young, "Resampling-Based Multiple Testing", 1993).

    `shown`, (N, n_phrases), is 1 where a sample shows a phrase. The excess is the severity above the mean that a
    phrase's samples carry, over the square root of their number: few samples that fail badly are comparable with many
    that fail a little.
    """
    excess = _excess(severities[:, None], shown).ravel()
    rng = np.random.default_rng(0)
    best_by_chance = []
    for start in range(0, _N_SHUFFLES, _AT_ONCE):
        copies = np.tile(severities, (min(_AT_ONCE, _N_SHUFFLES - start), 1))
        best_by_chance.append(_excess(rng.permuted(copies, axis=1).T, shown).max(axis=0))
    in_order = np.sort(np.concatenate(best_by_chance))
    reached = len(in_order) - np.searchsorted(in_order, excess - 1e-12)
    return excess, np.asarray((1 + reached) / (1 + len(in_order)))


def _excess(severities: Vector, shown: sparse.csr_array) -> Vector:
    """The excess under each column of severities: (n_phrases, n_columns)."""
    n = len(severities)
    above = severities - severities.mean(axis=0)
    size = np.asarray(shown.sum(axis=0)).ravel()
    scale = np.sqrt(size * (n - size) / n + _ADDED)
    return np.asarray(shown.T @ above / scale[:, None])


_MOST_CASES = 20  # per view


@dataclass(frozen=True, slots=True)
class FailureCase:
    """One failing sample: S, mean consistency with its class, and how many of its Q answers are right."""

    id: str
    text: str
    label: str | None
    sensitivity: float
    consistency: float | None
    right: int | None
    answers: dict[str, int]


@dataclass(frozen=True)
class Diagnosis:
    """Where a prompt fails."""

    failure_cases: dict[View, tuple[FailureCase, ...]]  # the most severe first
    slices: tuple[FailureSlice, ...]  # over all views

    def __repr__(self) -> str:
        """How many samples fail by each view, and how many groups they form: their texts would fill screens."""
        cases = ", ".join(f"{len(cases)} by {view}" for view, cases in self.failure_cases.items())
        return f"<Diagnosis: failure cases {cases}; {len(self.slices)} groups>"

    @property
    def groups(self) -> tuple[FailureSlice, ...]:
        """The slices, under their name in version 0.1."""
        return self.slices

    def of_views(self, views: Sequence[str]) -> Diagnosis:
        """Return only the slices of these views."""
        return replace(self, slices=tuple(failing for failing in self.slices if failing.view in views))

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain JSON data (`groups` and `weak` of the contract)."""
        return {
            "groups": [failing.to_dict() for failing in self.slices],
            "weak": {view: [asdict(case) for case in cases] for view, cases in self.failure_cases.items()},
        }


def diagnose_predictions(predictions: Predictions, *, labelled: Sequence[Sample] = ()) -> Diagnosis:
    """Diagnose predictions by every view that their labels allow (see `find_slices` and `find_open_slices`)."""
    views: tuple[View, ...] = ("sensitivity", "accuracy") if predictions.is_labelled else ("sensitivity",)
    if predictions.is_labelled and predictions.answers.open is None:
        views = VIEWS
        slices = find_slices(predictions, views, labelled=labelled)
    else:
        slices = find_open_slices(predictions, views)
    return Diagnosis({view: _most_severe(predictions, view) for view in views}, slices)


def _most_severe(predictions: Predictions, view: View) -> tuple[FailureCase, ...]:
    """Failing samples, the most severe first; for consistency class by class, as in the paper."""
    severities = severity(predictions, view)
    failing = [index for index in np.argsort(-severities, kind="stable").tolist() if severities[index] > 0]
    if view == "consistency":
        truth = predictions.truth.tolist()
        of_class = max(1, _MOST_CASES // len(predictions.labels))
        by_class = {label: [index for index in failing if truth[index] == label] for label in set(truth)}
        failing = [index for index in failing if index in by_class[truth[index]][:of_class]]
        failing = sorted(failing[:_MOST_CASES], key=truth.__getitem__)
    unstable, alike = predictions.sensitivities.tolist(), class_consistencies(predictions)
    right = predictions.n_right.tolist() if predictions.is_labelled else [None] * len(unstable)
    cases = ((index, predictions.samples[index]) for index in failing[:_MOST_CASES])
    return tuple(
        FailureCase(of.id, of.text, of.label, unstable[row], alike[row], right[row], predictions.answers_to(row))
        for row, of in cases
    )
