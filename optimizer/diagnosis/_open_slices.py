"""Slices of samples whose answers are not single labels: what unstable or wrong ones share, and steady ones do not.

Without classes a phrase must stand out by severity alone, and significantly: among hundreds of phrases some always
occur in the weakest samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex, distinctive_words
from psopt.diagnosis._slices import MOST_SIBLINGS, MOST_SLICES, Contrast, FailureSlice, differ_in_one_word, severity
from psopt.diagnosis._slices_by_meaning import clusters_of, vectors_of
from psopt.tasks import shown_words
from psopt.text import tells_a_topic, words_of
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis._slices_by_meaning import Embed
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View

    Vector = NDArray[np.float64]
    Flags = NDArray[np.bool_]


LEVEL = 0.05
"""If weak samples share nothing, a topic may be named in at most this share of tasks, over all views together."""
_LEAST_TEXTS = 3  # different texts that share something, and weak samples among them; two are only a pair
_MOST_CLUSTERED = 1000  # most texts that are clustered: linkage is quadratic
_N_SHUFFLES = 999  # the smallest p-value is then one in a thousand
_AT_ONCE = 100  # shuffles; a table of traits and shuffles takes about 16 MB for 20,000 traits
# Samples of mean severity added to each trait's count: otherwise three samples would reach by chance what thirty hardly
# can. Measured on 100 sets of 100 questions of TREC's train, 12 % of them weak, but 70 % within a topic of 5, 8 or 12
# questions: 0 names the topic in 39, 68 and 78 sets, 2 in 45, 78 and 87, 5 in 45, 83 and 92.
_ADDED = 5


def find_open_slices(
    predictions: Predictions, views: Sequence[View], *, embed: Embed | None = None
) -> tuple[FailureSlice, ...]:
    """Find what unstable or wrong samples share, for each view; nothing that chance would explain as well.

    A slice is named by a phrase that indicates a topic or, if none does, by a cluster of texts with similar meaning,
    found without using the answers. The one with most severity above the mean is taken if chance reaches as much with
    any of them in at most 5 % of tasks (`excess_severity`; Bonferroni over the views). Then the samples that show it
    are removed, and the search repeats. Texts with the same words are one text. By default latent semantic analysis of
    the texts themselves embeds them.
    """
    traits = _Traits.of(predictions.texts, embed)
    if not traits.shown.shape[1]:
        return ()
    slices: list[FailureSlice] = []
    for view in views:
        cover = _Cover(predictions, view, traits, LEVEL / len(views))
        slices += islice(iter(cover.next_slice, None), MOST_SLICES)
    return tuple(slices)


@dataclass(frozen=True, eq=False)
class _Traits:
    """What texts can share: phrases, then clusters."""

    phrases: tuple[str, ...]
    shown: sparse.csr_array  # (n_distinct, n_traits): which distinct text shows which trait
    distinct: NDArray[np.int64]  # (N,): the index of each text among the distinct ones

    @classmethod
    def of(cls, texts: Sequence[str], embed: Embed | None) -> _Traits:
        """Find what some texts share, but not all."""
        words = [tuple(words_of(shown_words(text))) for text in texts]
        text_of = dict(zip(words, texts, strict=True))
        in_order = sorted(text_of)  # so that the order of samples does not matter
        firsts = [text_of[own] for own in in_order]
        place = {own: number for number, own in enumerate(in_order)}
        distinct = [place[own] for own in words]
        every = PhraseIndex.of(firsts, min_texts=_LEAST_TEXTS)
        # shortest first: among phrases shown by the same texts, the simplest names the topic
        named = [column for column, phrase in reversed(list(enumerate(every.phrases))) if tells_a_topic(phrase)]
        phrases = tuple(every.phrases[column] for column in named)
        shown = sparse.csr_array(sparse.hstack([every.shown[:, named], _clusters(firsts, embed)]))
        return cls(phrases, shown, np.array(distinct, dtype=np.int64))

    def showing(self, columns: Sequence[int]) -> Flags:
        """Which texts show any of these: (N,) bool."""
        return np.asarray(self.shown[:, columns].sum(axis=1)).ravel()[self.distinct] > 0


class _Cover:
    """The state of the greedy cover for one view: which texts are not explained yet."""

    def __init__(self, predictions: Predictions, view: View, traits: _Traits, level: float) -> None:
        self._level = level
        self._predictions = predictions
        self._view = view
        self._traits = traits
        self._severities = severity(predictions, view)
        self._is_weak = self._severities > self._severities.mean()
        n_alike = np.bincount(traits.distinct)
        self._of_distinct = np.bincount(traits.distinct, weights=self._severities) / n_alike
        self._is_left = np.ones(len(n_alike), dtype=np.bool_)

    def next_slice(self) -> FailureSlice | None:
        """The clearest slice of the unexplained texts, or None if none is surely more than chance."""
        severities = self._of_distinct[self._is_left]
        if not severities.size or np.ptp(severities) == 0:
            return None
        shown = self._traits.shown[self._is_left]
        n_left = np.asarray(shown.sum(axis=0)).ravel()
        looked_at = np.flatnonzero((n_left >= _LEAST_TEXTS) & (n_left < len(severities)))
        if not looked_at.size:
            return None
        excess, p_values = excess_severity(severities, shown[:, looked_at])
        is_sure = p_values <= self._level
        is_phrase = looked_at < len(self._traits.phrases)
        if (is_sure & is_phrase).any():  # a phrase explains itself; a cluster is only used without one
            is_sure &= is_phrase
        if not is_sure.any():
            return None
        best_first = np.argsort(-excess, kind="stable")
        sure = best_first[is_sure[best_first]]
        columns = self._with_siblings(looked_at[sure].tolist())
        return self._take(columns, min(1.0, float(p_values[sure[0]]) * LEVEL / self._level))

    def _with_siblings(self, sure: list[int]) -> list[int]:
        """The first of these traits, best first, and the phrases among them that differ from it in one word."""
        phrases = self._traits.phrases
        main = sure[0]
        if main >= len(phrases):
            return [main]
        alike = [trait for trait in sure if trait < len(phrases) and differ_in_one_word(phrases[main], phrases[trait])]
        return [main, *alike[:MOST_SIBLINGS]]

    def _take(self, columns: list[int], p_value: float) -> FailureSlice | None:
        """The slice of texts with these traits, which then count as explained; None if too few of them are weak."""
        traits = self._traits
        samples = self._predictions.samples
        is_left = self._is_left[traits.distinct]
        shows = traits.showing(columns) & is_left
        members = np.flatnonzero(shows & self._is_weak)
        if len(members) < _LEAST_TEXTS:
            return None
        in_order = members[np.argsort(-self._severities[members], kind="stable")]
        is_named = columns[0] < len(traits.phrases)
        phrases = tuple(traits.phrases[column] for column in columns if is_named)
        failing = FailureSlice(
            view=self._view,
            label=None,
            predicted=None,
            phrases=phrases or distinctive_words(self._predictions.texts, members),
            samples=tuple(samples[index].id for index in in_order),
            severity=float(self._severities[members].sum()),
            gain=0.0,  # without a class the effect of following the phrase is undefined
            how="phrases" if is_named else "meaning",
            contrast=Contrast(
                weak_showing=len(members),
                weak=int((self._is_weak & is_left).sum()),
                others_showing=int((~self._is_weak & shows).sum()),
                others=int((~self._is_weak & is_left).sum()),
                p_value=p_value,
            ),
        )
        self._is_left[traits.distinct[shows]] = False
        return failing


def _clusters(texts: Sequence[str], embed: Embed | None) -> sparse.csr_array:
    """Which text is in which cluster of texts with similar meaning: (n_texts, n_clusters)."""
    n = len(texts)
    clusters = []
    if _LEAST_TEXTS <= n <= _MOST_CLUSTERED:
        clusters = clusters_of(vectors_of(texts, embed), np.arange(n))
    belongs = np.zeros((n, len(clusters)))
    for number, members in enumerate(clusters):
        belongs[members, number] = 1
    return sparse.csr_array(belongs)


def excess_severity(severities: Vector, shown: sparse.csr_array) -> tuple[Vector, Vector]:
    """How much more samples with a trait fail, for many traits, and how often chance does as well with any of them.

    The p-values hold for all traits together: a trait's p-value is the share of shuffled severities in which the best
    of all traits reaches as much (Westfall and Young, "Resampling-Based Multiple Testing", 1993). If severity is
    unrelated to all traits, at least one of them falls below a level in exactly that share of data sets.

    `shown`, (N, n_traits), is 1 where a sample shows a trait. The excess is the severity above the mean that a trait's
    samples carry, over the square root of their number: few samples that fail badly are comparable with many that fail
    a little.
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
    """The excess under each column of severities: (n_traits, n_columns)."""
    n = len(severities)
    above = severities - severities.mean(axis=0)
    size = np.asarray(shown.sum(axis=0)).ravel()
    scale = np.sqrt(size * (n - size) / n + _ADDED)
    return np.asarray(shown.T @ above / scale[:, None])
