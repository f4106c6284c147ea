"""What train shows about phrases: which one may be quoted as a sign of which class.

The constants were examined with ``experiments/proposal_constants.py``.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import sample_phrases, shown_words
from psopt.text import field_and_phrase, phrase_of_field, private_words, tells_a_topic, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.tasks import Sample, Task

_MOST_TEXTS = 5_000  # stratified by class
LEAST_TEXTS = 3  # of a class of any size: two that share a phrase may be by one person
LEAST_SHARE = 0.01  # of a class's texts
LEAST_PURITY = 0.5  # above this the class is likelier than all others together
_TAIL = 0.05  # lower tail of the interval of purity
_FALSE_DISCOVERIES = 0.1  # of the accepted phrases: Benjamini and Hochberg 1995
_AS_SURE = 0.05  # purity that a shorter phrase may lose, as shorter notes are better; chosen by judgement, not measured


@dataclass(frozen=True, eq=False)
class PhraseEvidence:
    """Phrases, and the texts of train that show them as written; texts that differ only in names count as one."""

    labels: tuple[str, ...]
    # How many texts of each class show each phrase; phrases in fewer than `LEAST_TEXTS` texts are left out
    counts: dict[str, NDArray[np.int64]]
    # How many texts of a class must show a phrase: 1 % of its texts, at least three, so that a quoted phrase is about a
    # part of the class and not about a few senders
    least: NDArray[np.int64]
    # The classes that a phrase is a sign of: at least `least` texts, a purity surely over one half, and surely more
    # frequent with the phrase than overall (false discovery rate of 10 %, Benjamini and Hochberg, over all phrases and
    # classes examined)
    signs: dict[str, frozenset[int]]
    # The signs that no shorter phrase implied by them can replace with a purity at most .05 lower
    plainest: frozenset[str]
    private: frozenset[str]  # words that are private in train
    samples: tuple[Sample, ...]  # the distinct ones

    @classmethod
    def of(cls, task: Task) -> PhraseEvidence:
        """Collect the evidence from a task's train."""
        labelled = [sample for sample in task.train if sample.label is not None]
        samples = task.subset(labelled, _MOST_TEXTS, seed=0)
        private = private_words(shown_words(sample.text) for sample in samples)
        if task.spec.is_open:  # without classes no phrase is a sign
            nothing: NDArray[np.int64] = np.array([], dtype=np.int64)
            return cls(tuple(task.labels), {}, nothing, {}, frozenset(), private, tuple(samples))
        distinct = _distinct(samples, private)
        truth = np.array([task.labels.index(str(sample.label)) for sample in distinct], dtype=np.int64)
        sizes = np.bincount(truth, minlength=len(task.labels))
        counts = {phrase: np.bincount(truth[rows], minlength=len(sizes)) for phrase, rows in _holders(distinct).items()}
        phrases = [phrase for phrase in counts if tells_a_topic(phrase) and private.isdisjoint(words_of(phrase))]
        table = np.array([counts[phrase] for phrase in phrases], dtype=np.int64).reshape(-1, len(sizes))
        least = np.maximum(LEAST_TEXTS, np.ceil(LEAST_SHARE * sizes)).astype(np.int64)
        lower = lower_purity(table)
        is_sign = (table >= least) & (lower >= LEAST_PURITY) & is_more_than_chance(table, sizes)
        is_sign &= ~_names_another(phrases, task.labels)
        rows = np.flatnonzero(is_sign.any(axis=1))
        signs = {phrases[row]: frozenset(np.flatnonzero(is_sign[row]).tolist()) for row in rows}
        bounds = dict(zip(phrases, lower, strict=True))
        plainest = frozenset(phrase for phrase in signs if not _has_plainer(phrase, signs, bounds))
        return cls(tuple(task.labels), counts, least, signs, plainest, private, tuple(distinct))

    def is_sign(self, phrases: Sequence[str]) -> NDArray[np.bool_]:
        """Which phrases are the simplest signs of which class: (n_phrases, C) bool."""
        marked = np.zeros((len(phrases), len(self.labels)), dtype=bool)
        for row, phrase in enumerate(phrases):
            if phrase in self.plainest:
                marked[row, list(self.signs[phrase])] = True
        return marked


def lower_purity(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lower end of Jeffreys' interval of each class's share of texts: (n, C) in [0, 1).

    Three of three are .56, five of five .69, thirty of thirty .94 (one-sided, 95 %). Its coverage is near 95 % even for
    few texts (Brown, Cai and DasGupta, 2001).
    """
    from scipy.special import betaincinv

    others = counts.sum(axis=1, keepdims=True) - counts
    return np.where(counts > 0, betaincinv(counts + 0.5, others + 0.5, _TAIL), 0.0)


def is_more_than_chance(counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a class is more frequent with a phrase than overall, by Benjamini and Hochberg's procedure."""
    from scipy.stats import binom, false_discovery_control

    n = counts.sum(axis=1, keepdims=True)
    p = binom.sf(counts - 1, n, sizes / max(1, sizes.sum()))
    return np.asarray(false_discovery_control(p.ravel()).reshape(p.shape) <= _FALSE_DISCOVERIES)


def _names_another(phrases: Sequence[str], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Where a phrase contains the name of a class other than the one it would be a sign of."""
    names = [f" {' '.join(words_of(label))} " for label in labels]
    named = np.zeros((len(phrases), len(labels)), dtype=bool)
    for row, phrase in enumerate(phrases):
        spaced = f" {field_and_phrase(phrase)[1].removeprefix('^')} "
        named[row] = [name in spaced for name in names]
    return np.asarray(named.sum(axis=1, keepdims=True) > named)


def _has_plainer(phrase: str, signs: Mapping[str, frozenset[int]], lower: Mapping[str, NDArray[np.float64]]) -> bool:
    """Whether a shorter phrase, or the same in the whole text, indicates all classes that this one does."""
    labels = list(signs[phrase])
    as_sure = lower[phrase][labels] - _AS_SURE
    plainer = [other for other in implied(phrase) if signs.get(other, frozenset()).issuperset(labels)]
    return any((lower[other][labels] >= as_sure).all() for other in plainer)


def implied(phrase: str) -> set[str]:
    """The other phrases that every text with this phrase shows."""
    field, alone = field_and_phrase(phrase)
    words = alone.removeprefix("^").split()
    shown = set()
    for start, end in combinations(range(len(words) + 1), 2):
        part = " ".join(words[start:end])
        shown |= {part, phrase_of_field(field, part)}
        if start == 0 and alone.startswith("^"):
            shown.add(phrase_of_field(field, f"^{part}"))
    return shown - {phrase}


def _holders(samples: Iterable[Sample]) -> dict[str, NDArray[np.int64]]:
    """Which samples show each phrase, for phrases that enough samples show."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, sample in enumerate(samples):
        for phrase in sample_phrases(sample.text, as_written=True):
            rows[phrase].append(row)
    return {phrase: np.array(rows[phrase]) for phrase in sorted(rows) if len(rows[phrase]) >= LEAST_TEXTS}


def _distinct(samples: Iterable[Sample], private: frozenset[str]) -> list[Sample]:
    """The first of each class's samples that have the same words apart from private ones."""
    first: dict[tuple[str | None, ...], Sample] = {}
    for sample in samples:
        words = [word for word in words_of(shown_words(sample.text)) if word not in private]
        first.setdefault((sample.label, *(words or [sample.text])), sample)
    return list(first.values())
