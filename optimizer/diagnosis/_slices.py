"""Slices: failing samples that share a phrase, which a person or a note can use to name them.

The constants were measured on TREC's train with minilm's original prompt. Slices were found in 500 questions. Their
*precision* is the share of a slice's label among those of the other 1,935 train questions that show its phrases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.metrics import sample_consistency
from psopt.text import field_and_phrase, has_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View
    from psopt.tasks import Sample


# .3 to .6 give the same slices, with precision .96; .8 has .98, but 12 slices cover .33 instead of .40 of the errors.
LEAST_PURITY = 0.6
# A phrase of one failing sample is an anecdote. 1 covers .51 of all errors (worst precision .53), 2 .50, 3 .46.
LEAST_MEMBERS = 2
MOST_SLICES = 12  # per view
# 12 slices without siblings cover .32 of the errors, with one .38, with three .40, with six .40.
MOST_SIBLINGS = 3
# In samples. .05 and .3 give the same 24 slices by accuracy (18 and 17 by sensitivity), 1 gives 20 (7).
_LEAST_BENEFIT = 0.3


@dataclass(frozen=True, slots=True)
class Contrast:
    """Without classes: how many weak samples show what a slice is named by, and how many others.

    Samples above the mean severity are weak. Samples of slices found before are not counted.
    """

    # How many weak samples show it, and how many weak samples there are
    weak_showing: int
    weak: int
    # The same for all other samples
    others_showing: int
    others: int
    # The share of tasks, whose weak samples share nothing, in which the best of all phrases stands out as much
    p_value: float


@dataclass(frozen=True, slots=True)
class FailureSlice:
    """Failing samples that share a phrase: of one class, or without classes."""

    view: View  # the view by which they fail
    label: str | None  # their class; None without labels, and if answers are not single labels
    predicted: str | None  # their most frequent wrong answer, if any
    # What they share: the main phrase, then its siblings, which differ from it in one word. Texts begin with ``^when``;
    # ``subject: bill`` is a phrase of a field.
    phrases: tuple[str, ...]
    samples: tuple[str, ...]  # ids, the most severe first
    severity: float  # the sum of the samples' severities
    share: float  # the samples' part of the sum of S over all samples, in [0, 1]
    # Share of all answers that would become right if everything that shows the phrases were given `label`; negative if
    # that would harm. 0 without a class.
    gain: float
    contrast: Contrast | None = None  # without classes, how clearly the phrases distinguish them

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, with the keys of weak_spots.json and of ``diagnose --json``."""
        data: dict[str, Any] = {
            "view": self.view,
            "label": self.label,
            "predicted": self.predicted,
            "phrases": self.phrases,
            "samples": self.samples,
            "need": self.severity,
            "share": self.share,
            "gain": self.gain,
            "size": len(self.samples),
            "topic": self.topic,
        }
        if self.contrast is not None:
            data["contrast"] = asdict(self.contrast)
        return data

    @property
    def topic(self) -> str:
        """The phrases, readable: ``"what color"; begins with "when"; subject contains "bill"``."""
        return "; ".join(map(_readable, self.phrases))


Signs = Callable[["Sequence[str]"], "NDArray[np.bool_]"]
"""Which phrases are signs of which class: (n_phrases, n_labels) bool."""


def find_slices(
    predictions: Predictions, view: View, *, labelled: Sequence[Sample] = (), signs: Signs | None = None
) -> tuple[FailureSlice, ...]:
    """Find what failing samples have in common, the slice that covers most severity first.

    A greedy cover. It takes the phrase whose texts of one class carry most severity, minus the right answers that the
    phrase's other texts would lose if it indicated that class. Then it removes the samples that the phrase explains,
    and repeats. It needs labels; without them `find_open_slices` finds what samples share.

    From `labelled`, more labelled samples (all of train), it is estimated how reliably a phrase indicates a class.
    `signs` restricts the names of slices to phrases that it accepts as signs of their class.
    """
    cover = _GreedyCover(predictions, view, labelled or predictions.samples, signs)
    return tuple(islice(iter(cover.next_slice, None), MOST_SLICES))


class _GreedyCover:
    """The state of the greedy cover: the severity that is not covered yet."""

    def __init__(self, predictions: Predictions, view: View, labelled: Sequence[Sample], signs: Signs | None) -> None:
        self._predictions = predictions
        self._view = view
        self._truth = predictions.truth
        self._right = predictions.share_right
        self._uncovered = severity(predictions, view).copy()
        self._index = PhraseIndex.of(predictions.texts)
        self._one_hot = np.eye(len(predictions.labels))[self._truth]
        self._purity = self._index.purity(labelled, predictions.labels)
        # "not" and "was a" name no group, though they may mark a class
        says_something = np.array([has_content(phrase) for phrase in self._index.phrases], dtype=np.bool_)
        self._is_sign = (self._purity >= LEAST_PURITY) & says_something[:, None]
        if signs is not None:
            self._is_sign &= signs(self._index.phrases)

    def next_slice(self) -> FailureSlice | None:
        """The best slice of what is not covered yet, or None."""
        if not self._index.phrases:
            return None
        benefit = self._benefit()
        phrase, label = (int(place) for place in np.unravel_index(int(np.argmax(benefit)), benefit.shape))
        if benefit[phrase, label] < _LEAST_BENEFIT:
            return None
        return self._take([phrase, *self._siblings(phrase, label, benefit)], label)

    def _benefit(self) -> NDArray[np.float64]:
        """Severity covered minus right answers lost, by phrase and label; -inf where the phrase is not a sign of it."""
        shown = self._index.shown
        covered = np.asarray(shown.T @ (self._uncovered[:, None] * self._one_hot))
        lost = np.asarray(shown.T @ (self._right[:, None] * (1 - self._one_hot)))
        members = np.asarray(shown.T @ ((self._uncovered[:, None] > 0) * self._one_hot))
        possible = self._is_sign & (members >= LEAST_MEMBERS)
        return np.where(possible, (covered - lost) * self._purity, -np.inf)

    def _siblings(self, phrase: int, label: int, benefit: NDArray[np.float64]) -> list[int]:
        """Phrases that differ from this one in one word and indicate the same label, best first."""
        main = self._index.phrases[phrase]
        alike = [
            sibling
            for sibling, text in enumerate(self._index.phrases)
            if benefit[sibling, label] > 0 and differ_in_one_word(main, text)
        ]
        return sorted(alike, key=lambda sibling: -benefit[sibling, label])[:MOST_SIBLINGS]

    def _take(self, phrases: list[int], label: int) -> FailureSlice:
        shows = np.asarray(self._index.shown[:, phrases].sum(axis=1)).ravel() > 0
        own = shows & (self._truth == label)
        members = np.flatnonzero(own & (self._uncovered > 0))
        in_order = members[np.argsort(-self._uncovered[members], kind="stable")]
        gain = (1 - self._right)[own].sum() - self._right[shows & ~own].sum()
        failing = FailureSlice(
            view=self._view,
            label=self._predictions.labels[label],
            predicted=self._predictions.most_answered(members, besides=label),
            phrases=tuple(self._index.phrases[phrase] for phrase in phrases),
            samples=tuple(self._predictions.samples[index].id for index in in_order),
            severity=float(self._uncovered[members].sum()),
            share=share_of(members, self._predictions.sensitivities),
            gain=float(gain / len(self._truth)),
        )
        self._uncovered[own] = 0
        return failing


def share_of(members: NDArray[np.int64], sensitivities: NDArray[np.float64]) -> float:
    """The members' part of the sum of S over all samples; 0 if every sample is stable."""
    return float(sensitivities[members].sum() / (sensitivities.sum() or 1.0))


def _readable(phrase: str) -> str:
    field, alone = field_and_phrase(phrase)
    if alone.startswith("^"):
        return f'{field} begins with "{alone[1:]}"'.lstrip()
    return f'{field} contains "{alone}"' if field else f'"{alone}"'


def differ_in_one_word(phrase: str, other: str) -> bool:
    """Whether two phrases of one field have the same length and differ in one word.

    >>> differ_in_one_word("what year", "what day"), differ_in_one_word("year", "day")
    (True, False)
    """
    field, phrase = field_and_phrase(phrase)
    other_field, other = field_and_phrase(other)
    words, others = phrase.split(), other.split()
    if field != other_field or phrase.startswith("^") != other.startswith("^"):
        return False
    if len(words) != len(others) or len(words) < 2:
        return False
    return sum(word.strip("^") != another.strip("^") for word, another in zip(words, others, strict=True)) == 1


def distinct_slices(slices: Iterable[FailureSlice]) -> list[FailureSlice]:
    """One slice per topic and label, from the view where it is most severe; the most severe first."""
    unique: dict[tuple[str, str | None], FailureSlice] = {}
    for failing in sorted(slices, key=lambda failing: -failing.severity):
        unique.setdefault((failing.topic, failing.label), failing)
    return list(unique.values())


def severity(predictions: Predictions, view: View) -> NDArray[np.float64]:
    """How badly each sample fails by one view: (N,) in [0, 1], 0 if it does not.

    ``sensitivity``: S of the sample. ``consistency``: one minus its mean consistency with its class, where S > 0.
    ``accuracy``: the share of wrong answers. All but the first need labels.
    """
    if view == "accuracy":
        return predictions.share_wrong
    unstable = predictions.sensitivities
    if view == "sensitivity":
        return unstable
    # appendix C keeps S > 0: at S = 0 consistency only counts how many of the class get other answers
    return np.where(unstable > 0, 1 - sample_consistency(predictions.p_tau, predictions.truth), 0.0)
