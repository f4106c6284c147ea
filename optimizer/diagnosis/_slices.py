"""Slices: failing samples that share a phrase, which a person or a note can use to name them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.metrics import sample_consistency
from psopt.tasks import sample_phrases
from psopt.text import field_and_phrase, has_content
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View
    from psopt.tasks import Sample


@dataclass(frozen=True, eq=False)
class PhraseIndex:
    """Phrases and the texts that show them."""

    # The order depends only on the texts: longest first, then alphabetical, so that the first of equally good phrases
    # is the most specific. Phrases of a row's field name it: ``subject: bill``.
    phrases: tuple[str, ...]
    shown: sparse.csr_array  # 1 where a text shows a phrase

    @classmethod
    def of(cls, texts: Sequence[str], *, min_texts: int = 3, phrases: Sequence[str] | None = None) -> PhraseIndex:
        """Index the phrases that at least `min_texts` texts show, or only the given `phrases`."""
        by_text = [sample_phrases(text) for text in texts]
        if phrases is None:
            frequency = Counter(itertools.chain.from_iterable(by_text))
            frequent = (phrase for phrase, n in frequency.items() if n >= min_texts)
            # the most specific first
            words = {phrase: field_and_phrase(phrase)[1] for phrase in frequent}
            phrases = sorted(words, key=lambda phrase: (-len(words[phrase].split()), -len(phrase), phrase))
        column = {phrase: index for index, phrase in enumerate(phrases)}
        rows: list[int] = []
        columns: list[int] = []
        for row, of_text in enumerate(by_text):
            in_text = [column[phrase] for phrase in of_text if phrase in column]
            columns += in_text
            rows += [row] * len(in_text)
        shown = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(column)))
        return cls(tuple(phrases), shown)

    def purity(self, labelled: Sequence[Sample], labels: Sequence[str]) -> NDArray[np.float64]:
        """Share of each label among labelled samples that show a phrase, (n_phrases, n_labels) in [0, 1).

        Two texts without a label are added to the count, so that three of three is weaker than thirty of thirty.
        """
        in_labelled = PhraseIndex.of([sample.text for sample in labelled], phrases=self.phrases)
        one_hot = np.eye(len(labels))[[labels.index(str(sample.label)) for sample in labelled]]
        counts = np.asarray(in_labelled.shown.T @ one_hot)
        return np.asarray(counts / (counts.sum(axis=1, keepdims=True) + 2))


# .3 to .6 give the same slices, with precision .96; .8 has .98, but 12 slices cover .33 instead of .40 of the errors.
LEAST_PURITY = 0.6
# A phrase of one failing sample is an anecdote. 1 covers .51 of all errors (worst precision .53), 2 .50, 3 .46.
LEAST_MEMBERS = 2
MOST_SLICES = 12  # per view
MOST_SIBLINGS = 3  # 12 slices without siblings cover .32 of the errors, with one .38, with three .40, with six .40
# In samples. .05 and .3 give the same 24 slices by accuracy (18 and 17 by sensitivity), 1 gives 20 (7).
_LEAST_BENEFIT = 0.3


@dataclass(frozen=True, slots=True)
class Contrast:
    """Without classes: how many weak samples show what a slice is named by, and how many others.

    Samples above the mean severity are weak. Samples of slices found before are not counted.
    """

    weak_showing: int  # weak samples that show it
    weak: int  # weak samples in all
    others_showing: int
    others: int
    p_value: float  # the share of tasks whose weak samples share nothing in which the best phrase stands out as much


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

    @classmethod
    def of(
        cls, predictions: Predictions, members: NDArray[np.int64], severities: NDArray[np.float64], **more: Any
    ) -> FailureSlice:
        """A slice of these samples, by their indices and all samples' severities; the rest of its fields is `more`."""
        in_order = members[np.argsort(-severities[members], kind="stable")]
        unstable = predictions.sensitivities
        return cls(
            samples=tuple(predictions.samples[row].id for row in in_order),
            severity=float(severities[members].sum()),
            share=float(unstable[members].sum() / (unstable.sum() or 1.0)),  # 0 if every sample is stable
            **more,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, with the keys of weak_spots.json and of ``diagnose --json``."""
        data = asdict(self)
        data["need"] = data.pop("severity")
        if self.contrast is None:
            del data["contrast"]
        return {**data, "size": len(self.samples), "topic": self.topic}

    @property
    def topic(self) -> str:
        """The phrases, readable: ``"what color"; begins with "when"; subject contains "bill"``."""
        return "; ".join(map(_readable, self.phrases))


Signs = Callable[["Sequence[str]"], "NDArray[np.bool_]"]
"""Which phrases are signs of which class: (n_phrases, n_labels) bool."""


def find_slices(
    predictions: Predictions, views: Sequence[View], *, labelled: Sequence[Sample] = (), signs: Signs | None = None
) -> tuple[FailureSlice, ...]:
    """Find what failing samples have in common, view by view, the slice that covers most severity first.

    A greedy cover. It takes the phrase whose texts of one class carry most severity, minus the right answers that the
    phrase's other texts would lose if it indicated that class. Then it removes the samples that the phrase explains,
    and repeats. It needs labels; without them `find_open_slices` finds what samples share.

    From `labelled`, more labelled samples (all of train), it is estimated how reliably a phrase indicates a class.
    `signs` restricts the names of slices to phrases that it accepts as signs of their class.
    """
    index = PhraseIndex.of(predictions.texts)
    if not index.phrases:
        return ()
    purity = index.purity(labelled or predictions.samples, predictions.labels)
    # "not" and "was a" name no group, though they may mark a class
    says_something = np.array([has_content(phrase) for phrase in index.phrases], dtype=np.bool_)
    is_sign = (purity >= LEAST_PURITY) & says_something[:, None]
    if signs is not None:
        is_sign &= signs(index.phrases)
    purity = np.where(is_sign, purity, 0.0)
    slices = (_cover(predictions, view, index, purity) for view in views)
    return tuple(itertools.chain.from_iterable(slices))


def _cover(predictions: Predictions, view: View, index: PhraseIndex, purity: NDArray[np.float64]) -> list[FailureSlice]:
    """Cover failing samples by slices; `purity` is 0 where a phrase is no sign of a label."""
    labels, truth, right = predictions.labels, predictions.truth, predictions.share_right
    uncovered = severity(predictions, view).copy()
    one_hot = np.eye(len(labels))[truth]
    lost = index.shown.T @ (right[:, None] * (1 - one_hot))
    slices: list[FailureSlice] = []
    while len(slices) < MOST_SLICES:
        failing = uncovered[:, None] * one_hot
        is_possible = (purity > 0) & (index.shown.T @ (failing > 0) >= LEAST_MEMBERS)
        benefit = np.where(is_possible, (index.shown.T @ failing - lost) * purity, -np.inf)
        main, label = divmod(int(np.argmax(benefit)), len(labels))
        if benefit[main, label] < _LEAST_BENEFIT:
            break
        best_first = np.argsort(-benefit[:, label], kind="stable").tolist()
        columns = with_siblings(index.phrases, [place for place in best_first if benefit[place, label] > 0])
        shows = np.asarray(index.shown[:, columns].sum(axis=1)).ravel() > 0
        own = shows & (truth == label)
        members = np.flatnonzero(own & (uncovered > 0))
        gain = (1 - right)[own].sum() - right[shows & ~own].sum()
        slices.append(
            FailureSlice.of(
                predictions,
                members,
                uncovered,
                view=view,
                label=labels[label],
                predicted=predictions.most_answered(members, besides=label),
                phrases=tuple(index.phrases[column] for column in columns),
                gain=float(gain / len(truth)),
            )
        )
        uncovered[own] = 0
    return slices


def with_siblings(phrases: Sequence[str], best_first: Sequence[int]) -> list[int]:
    """The best phrase, and of the others the best ones that differ from it in one word."""
    main, *others = best_first
    siblings = (place for place in others if differ_in_one_word(phrases[main], phrases[place]))
    return [main, *itertools.islice(siblings, MOST_SIBLINGS)]


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


def class_consistencies(predictions: Predictions) -> list[float | None]:
    """Each sample's mean consistency with its class; None without classes."""
    if not predictions.is_labelled or not predictions.answers.has_consistency:
        return [None] * len(predictions.samples)
    return list(predictions.consistencies.tolist())


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
