"""What a model answered: the grid that every number is computed from, and the rules by which it is read."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import (
    FIRST_CODE,
    ONE_LABEL,
    WHOLLY,
    AnswerType,
    code_of,
    places_of,
    similarities_of,
    text_of,
    worths_of,
)
from psopt.evaluation._label_rows import LabelRows
from psopt.evaluation._varied import what_varies
from psopt.metrics import prediction_counts, prediction_distribution, sample_consistency, sample_sensitivity
from psopt.models import NOT_ASKED
from psopt.rephrasings import diversity_of_instructions
from psopt.tasks import LABELS, set_written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.settings import Over
    from psopt.tasks import Sample


NA = "N/A"
"""The name of the last class: answers that name no label."""
_FEWEST_CLASSES = 2  # of one answer alone nothing could differ, and ln 1 is nothing to divide by
_HALF = 0.5  # of what a judge can give
_GRIDS = ("array", "probabilities", "metric_scores", "same", "confidence")  # (N, Q) and more


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model answered to N samples under Q rephrasings of one prompt.

    Attributes
    ----------
    array : (N, Q) int
        Indices into `labels`; ``len(labels)`` is N/A. -1 where nobody has asked: every sample is asked at least once.
        Open answers are numbers of `psopt.answers.text_of`.
    samples : tuple of Sample
        The N samples, in the array's order.
    labels : tuple of str
        The C - 1 labels; N/A is the last of the C classes. Where answers are open, the labels that they may name.
    probabilities : (N, Q, C) float or None
        What the model gave each class, where it was asked for that; `array` then holds the most probable ones.
    families : tuple of str
        The family of each of the Q rephrasings, or what is changed of the texts; empty where they are all of one.
    metric_scores : (N, Q) float or None
        What a metric gives each answer, in [0, 1], where something else than the right class decides.
    rephrasings : tuple of str
        The Q texts; empty where only the answers are known.
    no_labels : tuple of NoLabel
        The answers that are N/A and what they said, where the model can tell.
    answers : AnswerType
        How answers are compared with each other and with the truth.
    most_different : int
        Of open answers: how many different ones a sample might have got, by which S is normalised; 0 for as many as
        there are rephrasings.
    judge_measures : mapping of name to float or None
        How far a judge of the answers agrees with itself, where there is one.
    same : (N, Q) int or None
        Which open answers to a sample are the same, numbered as `places`, where something else than they say so.
    parts_read : tuple of str
        What the model reads of each sample's text; empty where that is all of it.
    remarks : mapping of text to str
        What a metric says in words of answers to a sample's text, where it does.
    confidence : (N, Q) float or None
        Of open answers the mean probability of the tokens that the model wrote, in [0, 1], where it was asked for; NaN
        where it is not known.
    model : str
        Which of several models has answered; empty where there is one.
    others : tuple of Predictions
        The answers of further models to the same samples and rephrasings, each with its name.
    over : "worst" or "mean"
        How the scores of several models are made one.
    """

    array: NDArray[np.int64]
    samples: tuple[Sample, ...]
    labels: tuple[str, ...]
    probabilities: NDArray[np.float64] | None = None
    families: tuple[str, ...] = ()
    metric_scores: NDArray[np.float64] | None = None
    rephrasings: tuple[str, ...] = ()
    no_labels: tuple[NoLabel, ...] = ()
    answers: AnswerType = ONE_LABEL
    most_different: int = 0
    judge_measures: Mapping[str, float] | None = None
    same: NDArray[np.int64] | None = None
    confidence: NDArray[np.float64] | None = None
    remarks: Mapping[str, str] = field(default_factory=dict)
    parts_read: tuple[str, ...] = ()
    model: str = ""
    others: tuple[Predictions, ...] = ()
    over: Over = "worst"

    def __repr__(self) -> str:
        """The size: answers would fill screens."""
        n_samples, n_rephrasings = self.array.shape
        return f"<Predictions: {n_samples} samples x {n_rephrasings} rephrasings, {self.answers.name}>"

    @property
    def each(self) -> tuple[Predictions, ...]:
        """Each model's answers by themselves; these, where there is one."""
        return (replace(self, others=()), *self.others) if self.others else (self,)

    @property
    def texts(self) -> list[str]:
        """What the model read of each sample: what it did not read says nothing of its answers."""
        return [*self.parts_read] or [sample.text for sample in self.samples]

    @property
    def n_rephrasings(self) -> int:
        """Q."""
        return int(self.array.shape[1])

    @property
    def varied(self) -> str:
        """What differs between a sample's answers, in words (see `what_varies`)."""
        return what_varies(self.families)

    @property
    def diversity(self) -> float | None:
        """How much the rephrasings differ (see `psopt.rephrasings.diversity`); None of fewer than two texts."""
        return diversity_of_instructions(self.rephrasings, self.labels)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the C classes: the labels, then N/A."""
        return (*self.labels, NA)

    @property
    def n_classes(self) -> int:
        """C, with N/A; of open answers how many different ones a sample can have got."""
        if self.answers.open is None:
            return len(self.labels) + 1
        n_sets = 2 ** len(self.labels) + 1 if self.labels else math.inf
        return int(max(_FEWEST_CLASSES, min(self.most_different or self.n_rephrasings, n_sets)))

    @property
    def is_labelled(self) -> bool:
        """Whether every sample has a label."""
        return all(sample.label is not None for sample in self.samples)

    @property
    def truth(self) -> NDArray[np.int64]:
        """The samples' labels as (N,) indices; of open answers the numbers of what is right.

        Raises ValueError if a sample has no label.
        """
        if self.answers.open is not None:
            return self._references
        return np.array([self.labels.index(sample.label) for sample in self.samples])

    @cached_property
    def _references(self) -> NDArray[np.int64]:
        if not self.is_labelled:
            raise ValueError("a sample has no label")
        return np.array([code_of(str(sample.label)) for sample in self.samples], dtype=np.int64)

    @property
    def true_classes(self) -> NDArray[np.int64]:
        """The classes that C is pooled over, (N,): the samples' labels; open answers have none, and are all of one."""
        return self.truth if self.answers.open is None else np.zeros(len(self.samples), dtype=np.int64)

    def members(self, label: str) -> NDArray[np.int64]:
        """Which samples have a label: (n,) indices."""
        if self.answers.spec.kind == LABELS:
            return np.flatnonzero([label in set_written(str(sample.label)) for sample in self.samples])
        return np.flatnonzero([sample.label == label for sample in self.samples])

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which cells were asked: (N, Q)."""
        return np.asarray(self.array != NOT_ASKED)

    @property
    def is_na(self) -> NDArray[np.bool_]:
        """Which answers name no label, or can't be read: (N, Q)."""
        return np.asarray(self.array == len(self.labels))

    @property
    def is_read(self) -> NDArray[np.bool_]:
        """Which answers were asked for, and could be read: (N, Q)."""
        return self.asked & ~self.is_na

    @property
    def na_rate(self) -> float:
        """The share of answers that name no label, or can't be read."""
        return float(self.is_na.sum() / self.asked.sum())

    @property
    def is_whole(self) -> bool:
        """Whether every sample was asked under every rephrasing."""
        return bool(self.asked.all())

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each class was predicted for each sample, (N, C) int; of open answers each different one."""
        # what nobody has asked is counted as one class more, and left out
        with_unasked = np.where(self.asked, self.places, self.n_classes)
        return prediction_counts(with_unasked, self.n_classes + 1)[:, : self.n_classes]

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The answers as classes, (N, Q): the array; open answers are numbered sample by sample, -1 as there."""
        if self.same is not None:
            return self.same
        return self.array if self.answers.open is None else places_of(self.array, self.answers.open)

    @cached_property
    def similarity(self) -> NDArray[np.float64] | None:
        """How alike two classes are, (C, C), or two answers to each sample, (N, C, C); None where the same or not."""
        if self.answers.open is None:
            return self.answers.similarity
        return similarities_of(self.array, self.places, self.answers.open, self.n_classes)

    @cached_property
    def _worths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.answers.open is None:
            raise ValueError("labels are right or wrong")
        return worths_of(self.array, self.truth, self.answers.open)

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How much each answer counts in the mean quality, (N, Q); None where all count the same."""
        return self._worths[1] if self.answers.spec.kind == LABELS and self.metric_scores is None else None

    @property
    def quality(self) -> NDArray[np.float64] | None:
        """What each answer is worth, (N, Q) in [0, 1]: by a metric, or beside the truth; None if right or wrong."""
        if self.answers.open is not None and self.metric_scores is None:
            return self._worths[0]
        worth = self.answers.worth
        if self.metric_scores is not None or worth is None:
            return self.metric_scores
        return np.where(self.asked, worth[self.truth[:, None], self.array], 0.0)

    @property
    def _known_quality(self) -> NDArray[np.float64]:
        return self._worths[0] if self.quality is None else self.quality

    @property
    def _least_right(self) -> float:
        """What an open answer must be worth to be right; half of what a judge or a metric can give."""
        if self.answers.open is not None and self.metric_scores is not None:
            return _HALF
        return WHOLLY if self.answers.open is None else self.answers.open.least_right

    @property
    def scored(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What every score, interval and test is of: the probabilities where there are any, else the answers."""
        return self.places if self.probabilities is None else self.probabilities

    @property
    def p_tau(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What S and C_y are computed from: the counts, or with probabilities their means over rephrasings, (N, C).

        Where samples were asked under unequally many rephrasings, each one's shares.
        """
        if self.probabilities is not None:
            return prediction_distribution(self.probabilities)
        counts = self.counts
        return counts if self.is_whole else counts / counts.sum(axis=1, keepdims=True)

    @cached_property
    def label_rows(self) -> LabelRows | None:
        """The answers label by label, where they are several labels."""
        if self.answers.spec.kind != LABELS:
            return None
        return LabelRows.of(self.array, [str(sample.label) for sample in self.samples], self.labels)

    @property
    def sensitivities(self) -> NDArray[np.float64]:
        """S of each sample: (N,) in [0, 1]."""
        return sample_sensitivity(self.p_tau, similarity=self.similarity)

    @property
    def consistencies(self) -> NDArray[np.float64]:
        """Mean consistency of each sample with its class: (N,) in [0, 1]; 1 where it is alone in its class."""
        if self.label_rows is not None:
            return self.label_rows.consistency_of_samples
        if self.answers.open is not None:
            return np.ones(len(self.samples))
        return np.nan_to_num(sample_consistency(self.p_tau, self.truth), nan=1.0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right: (N, Q). N/A never is; of graded answers, those that are wholly right.

        An open answer is right if it is the same as a reference, or has half of what a judge or a metric can give.
        """
        if self.answers.open is not None:
            return np.asarray(self.asked & (self._known_quality >= self._least_right))
        return np.asarray(self.array == self.truth[:, None])

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which answers are wrong, N/A among them: (N, Q)."""
        return self.asked & ~self.right

    @property
    def n_right(self) -> NDArray[np.int64]:
        """How many answers to each sample are right: (N,) in [0, Q]."""
        return np.asarray(self.right.sum(axis=1))

    @property
    def share_right(self) -> NDArray[np.float64]:
        """The share of right answers to each sample: (N,) in [0, 1]; of open answers their mean worth."""
        if self.answers.open is not None:
            return np.asarray(np.where(self.asked, self._known_quality, 0.0).sum(axis=1) / self.asked.sum(axis=1))
        return np.asarray(self.right.sum(axis=1) / self.asked.sum(axis=1))

    @property
    def share_wrong(self) -> NDArray[np.float64]:
        """The share of wrong answers to each sample, N/A among them: (N,) in [0, 1]."""
        return 1 - self.share_right

    def answers_to(self, index: int) -> dict[str, int]:
        """How often a sample was answered with which class: those that it was answered with at all.

        Open answers that are the same stand under the first of them.
        """
        if self.answers.open is not None:
            return self._open_answers_to(index)
        return {name: int(n) for name, n in zip(self.class_names, self.counts[index], strict=True) if n}

    def name_of(self, answer: int) -> str:
        """What an answer of the array says: a class, or an open answer."""
        return text_of(answer) if answer >= FIRST_CODE else self.class_names[answer]

    def _open_answers_to(self, index: int) -> dict[str, int]:
        places = self.places[index].tolist()
        codes = dict(zip(reversed(places), reversed(self.array[index].tolist()), strict=True))  # of each the first
        counts = Counter(self.name_of(codes[place]) for place in places if place >= 0)
        return dict(counts.most_common())

    def most_answered(self, members: NDArray[np.int64], *, besides: int | None = None) -> str | None:
        """Return the class that some samples are given most often, `besides` left out; None if there is no other."""
        if self.answers.open is not None:
            return None
        votes = self.counts[members].sum(axis=0)
        if besides is not None:
            votes[besides] = 0
        return self.class_names[int(votes.argmax())] if votes.any() else None

    def under(self, columns: Sequence[int]) -> Predictions:
        """The predictions under some of the rephrasings."""
        return replace(
            self,
            families=tuple(self.families[column] for column in columns) if self.families else (),
            rephrasings=tuple(self.rephrasings[column] for column in columns) if self.rephrasings else (),
            no_labels=tuple(
                replace(missed, rephrasing=place)
                for place, column in enumerate(columns)
                for missed in self.no_labels
                if missed.rephrasing == column
            ),
            most_different=self.n_classes if self.answers.open is not None else 0,
            others=tuple(other.under(columns) for other in self.others),
            **self._grids((slice(None), columns)),
        )

    def of_samples(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Predictions:
        """The predictions for some of the samples: by their numbers, in that order, or where True."""
        kept = np.arange(len(self.samples))[rows]
        return replace(
            self,
            samples=tuple(self.samples[row] for row in kept),
            no_labels=tuple(
                replace(missed, sample=place)
                for place, row in enumerate(kept)
                for missed in self.no_labels
                if missed.sample == row
            ),
            parts_read=tuple(self.parts_read[row] for row in kept) if self.parts_read else (),
            others=tuple(other.of_samples(rows) for other in self.others),
            **self._grids(kept),
        )

    def _grids(self, cells: Any) -> dict[str, Any]:
        """A part of each grid that there is."""
        grids = {name: getattr(self, name) for name in _GRIDS}
        return {name: grid[cells] for name, grid in grids.items() if grid is not None}
