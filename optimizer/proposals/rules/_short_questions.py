"""Notes on short questions: how one begins says what it asks for, where nothing longer follows.

"What is" opens questions of every class, and so is a sign of none; "What is an annuity?" asks for a meaning.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals._phrase_evidence import LEAST_PURITY, is_more_than_chance, lower_purity
from psopt.proposals.rules._notes import described
from psopt.search_spaces import Edit, Provenance
from psopt.tasks import inputs_of
from psopt.text import QUESTION_WORDS, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.proposals._phrase_evidence import PhraseEvidence
    from psopt.tasks import Sample, Task

_OPENING_WORDS = 2  # "what is": the first word alone leaves open what is asked, a third one is its topic
_IN_WORDS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHORTEST = 3  # words: an opening, and what it asks about
_LIMITS = np.arange(_SHORTEST, _SHORTEST + len(_IN_WORDS))
_NO_LIMIT = np.iinfo(np.int64).max
_MOST_NOTES = 3  # chosen by judgement, for the size of the search


@dataclass(frozen=True, slots=True)
class ShortQuestion:
    """An opening that is a sign of a class in questions of so many words at most, and not in all that begin so.

    Attributes
    ----------
    opening : str
        Such as ``what is``.
    label : int
    most_words : int
        For which most more texts of train are of the class than of all others together.
    """

    opening: str
    label: int
    most_words: int

    def is_shown(self, text: str) -> bool:
        """Tell whether a text begins so and is as short."""
        words = words_of(text)
        return " ".join(words[:_OPENING_WORDS]) == self.opening and len(words) <= self.most_words

    def condition(self, noun: str) -> str:
        """Name what shows it: ``a question that begins with "what is" and has at most five words``."""
        return f"{described(noun, [f'^{self.opening}'])} and has at most {_IN_WORDS[self.most_words - _SHORTEST]} words"


def notes_on_short_questions(task: Task, predictions: Predictions, evidence: PhraseEvidence) -> list[Edit]:
    """Return notes for the short questions of train whose class is mostly missed, those with most to gain first.

    An opening is quoted by the rules of `PhraseEvidence`: texts of its class enough, surely over half of all that are
    as short, and surely more than by chance (false discovery rate of 10 % over all openings, lengths and classes).
    """
    right = predictions.share_right
    edits = []
    for question in short_questions(evidence):
        shows = np.array([question.is_shown(sample.text) for sample in predictions.samples], dtype=np.bool_)
        own = shows & (predictions.truth == question.label)
        gain = float(((1 - right)[own].sum() - right[shows & ~own].sum()) / len(right))
        if gain > 0:
            label = predictions.labels[question.label]
            condition = question.condition(task.noun)
            ids = tuple(predictions.samples[row].id for row in np.flatnonzero(own & (right < 1)))
            origin = Provenance("rules", "accuracy", condition.partition(" that ")[2], ids)
            text = f"{condition[0].upper()}{condition[1:]} belongs to {label}."
            edits.append(Edit("note", label, text, origin, gain))
    return sorted(edits, key=lambda edit: (-edit.gain, edit.id))[:_MOST_NOTES]


def short_questions(evidence: PhraseEvidence) -> list[ShortQuestion]:
    """The openings that train shows to be signs of a class in short questions alone, by alphabet."""
    truth = np.array([evidence.labels.index(str(sample.label)) for sample in evidence.samples], dtype=np.int64)
    sizes = np.bincount(truth, minlength=len(evidence.labels))
    lengths = _lengths_by_opening(evidence.samples, evidence.private)
    openings = sorted(opening for opening in lengths if f"^{opening}" not in evidence.signs)
    if not openings:
        return []
    counts = np.stack([_counts(lengths[opening], truth, len(sizes)) for opening in openings])
    table = counts.reshape(-1, len(sizes))
    is_sign = (table >= evidence.least) & (lower_purity(table) >= LEAST_PURITY) & is_more_than_chance(table, sizes)
    by_limit = is_sign.reshape(counts.shape)
    is_short_sign = by_limit[:, :-1] & ~by_limit[:, -1:]
    of_short = counts[:, :-1]
    surplus = np.where(is_short_sign, 2 * of_short - of_short.sum(axis=2, keepdims=True), 0)
    found = []
    for place, opening in enumerate(openings):
        limit, label = np.unravel_index(int(np.argmax(surplus[place])), surplus[place].shape)
        if surplus[place, limit, label] > 0:
            found.append(ShortQuestion(opening, int(label), int(_LIMITS[limit])))
    return found


def _lengths_by_opening(samples: Sequence[Sample], private: Iterable[str]) -> dict[str, dict[int, int]]:
    """The rows that begin with each opening of a question, with their numbers of words."""
    secret = frozenset(private)
    lengths: dict[str, dict[int, int]] = defaultdict(dict)
    for row, sample in enumerate(samples):
        words = words_of(sample.text)
        opening = words[:_OPENING_WORDS]
        is_question = len(words) > _OPENING_WORDS and opening[0] in QUESTION_WORDS and len(opening[1]) > 1
        if is_question and secret.isdisjoint(opening) and not inputs_of(sample.text):
            lengths[" ".join(opening)][row] = len(words)
    return lengths


def _counts(lengths: dict[int, int], truth: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """How many texts of each class are as short as each limit allows, and as no limit does: (n_limits + 1, C)."""
    rows = np.array(list(lengths), dtype=np.int64)
    words = np.array(list(lengths.values()), dtype=np.int64)
    return np.stack([np.bincount(truth[rows[words <= limit]], minlength=n_labels) for limit in (*_LIMITS, _NO_LIMIT)])
