"""Groups of samples in need that share a phrase, by which a person or a note can name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.diagnosis._views import need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View
    from psopt.tasks import Sample

_LEAST_PURITY = 0.6
_LEAST_MEMBERS = 2
_MOST_SIBLINGS = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Samples in need of one class that share a phrase.

    Attributes
    ----------
    view : str
        The view by which they are in need.
    label : str or None
        Their class; None in a diagnosis without labels.
    predicted : str or None
        What they are taken for most often, if not their class.
    phrases : tuple of str
        What they share: the main phrase, then its siblings, which differ from it in one word.
    samples : tuple of str
        Ids, most in need first.
    need : float
        The sum of their need, in samples.
    gain : float
        Share of all answers that would turn right if everything that shows the phrases were given `label`; negative
        where that would harm. 0 without labels.
    how : str
        ``phrases`` if they share some, ``meaning`` if they are a cluster; its phrases then are telling words.
    """

    view: View
    label: str | None
    predicted: str | None
    phrases: tuple[str, ...]
    samples: tuple[str, ...]
    need: float
    gain: float
    how: Literal["phrases", "meaning"] = "phrases"

    @property
    def topic(self) -> str:
        """The phrases, readable: ``what color; begins with "when"``."""
        if self.how == "meaning":
            return f"like: {', '.join(self.phrases)}" if self.phrases else "alike in meaning"
        return "; ".join(
            f'begins with "{phrase[1:]}"' if phrase.startswith("^") else f'"{phrase}"' for phrase in self.phrases
        )


def find_groups(
    predictions: Predictions, view: View, *, most: int = 12, known: Sequence[Sample] = ()
) -> tuple[Group, ...]:
    """Find what the samples in need have in common, the group that carries most need first.

    A greedy cover: the phrase whose texts of one class carry most need, less the right answers that the same phrase's
    other texts would lose if it were taken as a sign of that class; then the samples it explains are taken out, and
    again. Without labels the need above the mean is covered, and no class is named.

    Parameters
    ----------
    known : sequence of Sample, optional
        More labelled samples (all of train) from which to tell how surely a phrase means a class.
    """
    if not predictions.is_labelled:
        return _unlabelled_groups(predictions, most)
    cover = _Cover(predictions, view, known)
    groups: list[Group] = []
    while len(groups) < most:
        group = cover.next_group()
        if group is None:
            break
        groups.append(group)
    return tuple(groups)


class _Cover:
    """The state of the greedy cover: what need is left."""

    def __init__(self, predictions: Predictions, view: View, known: Sequence[Sample]) -> None:
        self._predictions, self._view = predictions, view
        self._truth, self._right = predictions.truth, predictions.share_right
        self._left = need(predictions, view).copy()
        texts = [sample.text for sample in predictions.samples]
        self._index = PhraseIndex.of(texts)
        n_labels = len(predictions.labels)
        self._one_hot = np.eye(n_labels)[self._truth]
        samples = known or predictions.samples
        labels = np.array([predictions.labels.index(sample.label) for sample in samples])
        self._purity = self._index.purity([sample.text for sample in samples], labels, n_labels)

    def next_group(self) -> Group | None:
        """The best group of what is left, or None."""
        if not self._index.phrases:
            return None
        worth = self._worth()
        phrase, label = np.unravel_index(int(np.argmax(worth)), worth.shape)
        if worth[phrase, label] < 0.3:  # a third of one sample: nothing to speak of
            return None
        columns = [int(phrase), *self._siblings(int(phrase), int(label), worth)]
        return self._take(columns, int(label))

    def _worth(self) -> NDArray[np.float64]:
        """Need covered less right answers lost, by phrase and label; -inf where the phrase is no sign of the label."""
        shown = self._index.shown
        covered = np.asarray(shown.T @ (self._left[:, None] * self._one_hot))
        lost = np.asarray(shown.T @ (self._right[:, None] * (1 - self._one_hot)))
        members = np.asarray(shown.T @ ((self._left[:, None] > 0) * self._one_hot))
        possible = (self._purity >= _LEAST_PURITY) & (members >= _LEAST_MEMBERS)
        return np.where(possible, (covered - lost) * self._purity, -np.inf)

    def _siblings(self, phrase: int, label: int, worth: NDArray[np.float64]) -> list[int]:
        """Phrases that differ from this one in one word and speak for the same label, best first."""
        main = self._index.phrases[phrase]
        alike = [
            other
            for other, text in enumerate(self._index.phrases)
            if worth[other, label] > 0 and _differ_in_one_word(main, text)
        ]
        return sorted(alike, key=lambda other: -worth[other, label])[:_MOST_SIBLINGS]

    def _take(self, columns: list[int], label: int) -> Group:
        shows = np.asarray(self._index.shown[:, columns].sum(axis=1)).ravel() > 0
        own = shows & (self._truth == label)
        members = np.flatnonzero(own & (self._left > 0))
        in_order = members[np.argsort(-self._left[members], kind="stable")]
        gain = (1 - self._right)[own].sum() - self._right[shows & ~own].sum()
        group = Group(
            view=self._view,
            label=self._predictions.labels[label],
            predicted=self._predictions.most_answered(members, besides=label),
            phrases=tuple(self._index.phrases[column] for column in columns),
            samples=tuple(self._predictions.samples[index].id for index in in_order),
            need=float(self._left[members].sum()),
            gain=float(gain / len(self._truth)),
        )
        self._left[own] = 0
        return group


def _unlabelled_groups(predictions: Predictions, most: int) -> tuple[Group, ...]:
    unstable = need(predictions, "sensitivity")
    index = PhraseIndex.of([sample.text for sample in predictions.samples])
    excess = unstable - unstable.mean()
    groups: list[Group] = []
    for _ in range(most if index.phrases else 0):
        worth = np.asarray(index.shown.T @ excess)
        best = int(np.argmax(worth))
        if worth[best] < 0.3:
            break
        members = np.flatnonzero(index.shown[:, [best]].toarray().ravel() * (excess > 0))
        members = members[np.argsort(-unstable[members], kind="stable")]
        ids = tuple(predictions.samples[member].id for member in members)
        total = float(unstable[members].sum())
        groups.append(Group("sensitivity", None, None, (index.phrases[best],), ids, total, 0.0))
        excess[index.shown[:, [best]].toarray().ravel() > 0] = np.minimum(0, excess.min())
    return tuple(groups)


def _differ_in_one_word(one: str, other: str) -> bool:
    words, others = one.split(), other.split()
    if len(words) != len(others) or len(words) < 2 or one.startswith("^") != other.startswith("^"):
        return False
    return sum(word.strip("^") != another.strip("^") for word, another in zip(words, others, strict=True)) == 1
