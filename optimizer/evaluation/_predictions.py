"""What a model answered: the grid from which every number is computed, and the rules for reading it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from psopt.answers import (
    FIRST_CODE,
    ONE_LABEL,
    AnswerType,
    code_of,
    packed,
    places_of,
    similarities_of,
    text_of,
    worths_of,
)
from psopt.errors import InputError
from psopt.evaluation._label_rows import LabelRows, counts_where, p_tau_where
from psopt.metrics import prediction_distribution, sample_consistency, sample_sensitivity
from psopt.models import NOT_ASKED
from psopt.rephrasings import diversity_of_instructions
from psopt.settings import TEXT_FAMILIES, UNCHANGED
from psopt.tasks import LABELS, set_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.settings import Over
    from psopt.tasks import Sample

T = TypeVar("T")

NA = "N/A"
"""The name of the last class: answers that name no label."""
_FEWEST_CLASSES = 2  # with one class nothing could differ, and ln 1 = 0 cannot be a divisor
_HALF = 0.5  # of the most that a judge can give
_OF_TEXTS = frozenset({*TEXT_FAMILIES, UNCHANGED})
_GRIDS = ("array", "probabilities", "metric_scores", "same", "confidence")  # (N, Q) and more


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model answered to N samples under Q rephrasings of one prompt."""

    # (N, Q): indices into `labels`, ``len(labels)`` is N/A, and -1 where not asked; every sample is asked at least
    # once. Open answers are the codes that `psopt.answers.text_of` reads.
    array: NDArray[np.int64]
    samples: tuple[Sample, ...]  # N, in the array's order
    labels: tuple[str, ...]  # C - 1: N/A is the last of the C classes. For open answers, the labels they may name
    # (N, Q, C): the probability of each class, where asked for; `array` then holds the most probable classes
    probabilities: NDArray[np.float64] | None = None
    families: tuple[str, ...] = ()  # of each rephrasing, or of each change of the texts; empty if all are of one
    # (N, Q) in [0, 1]: a metric's score of each answer, where something other than the right class decides
    metric_scores: NDArray[np.float64] | None = None
    rephrasings: tuple[str, ...] = ()  # Q; empty where only the answers are known
    no_labels: tuple[NoLabel, ...] = ()  # the N/A answers and their text, where the model can report it
    answers: AnswerType = ONE_LABEL  # how answers are compared with each other and with the truth
    most_different: int = 0  # open answers that a sample can get, by which S is normalised; 0 stands for Q
    judge_measures: Mapping[str, float] | None = None  # how far a judge agrees with itself, where there is one
    same: NDArray[np.int64] | None = None  # (N, Q): which open answers are the same, as `places`, if a judge decides
    # (N, Q) in [0, 1]: the mean probability of an open answer's tokens, where asked for; NaN if unknown
    confidence: NDArray[np.float64] | None = None
    remarks: Mapping[str, str] = field(default_factory=dict)  # a metric's comments in words, by the sample's text
    parts_read: tuple[str, ...] = ()  # what the model reads of each sample's text; empty if it reads all
    model: str = ""  # which of several models answered; empty if there is one
    others: tuple[Predictions, ...] = ()  # of further models, to the same samples and rephrasings
    over: Over = "worst"  # how the scores of several models are combined

    def __repr__(self) -> str:
        """The size only: answers would fill screens."""
        n_samples, n_rephrasings = self.array.shape
        return f"<Predictions: {n_samples} samples x {n_rephrasings} rephrasings, {self.answers.name}>"

    def __getstate__(self) -> dict[str, Any]:
        """With the texts of open answers, whose codes another process does not know."""
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray) and value.dtype == np.int64]
        return {**vars(self), "open_texts": [text for array in arrays for text in packed(array)[1]]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for text in state.pop("open_texts"):
            code_of(text)
        vars(self).update(state)

    @property
    def each(self) -> tuple[Predictions, ...]:
        """Each model's answers separately; only these if there is one model."""
        if not self.others:
            return (self,)
        return (replace(self, others=()), *self.others)

    def of_model(self, name: str) -> Predictions:
        """The answers of one of several models; all, if there is only one. Raises InputError if it is none of them."""
        if not self.others:
            return self
        for answers in self.each:
            if answers.model == name:
                return answers
        names = ", ".join(answers.model for answers in self.each)
        has = f"no answers of {name}, only" if name else "answers"
        raise InputError(f"the run has {has} of {names}: take one of these with --model")

    @property
    def texts(self) -> list[str]:
        """What the model read of each sample: the rest cannot explain its answers."""
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
    def column_names(self) -> list[str]:
        """Each column's rephrasing, with the change of the texts if there is one, as in ``[typos] Sort it.``."""
        columns = zip(self.rephrasings, self.families or [""] * len(self.rephrasings), strict=True)
        return [f"[{family}] {text}" if family in _OF_TEXTS else text for text, family in columns]

    @property
    def diversity(self) -> float | None:
        """How much the rephrasings differ (see `psopt.rephrasings.diversity`); None for fewer than two texts."""
        return diversity_of_instructions(self.rephrasings, self.labels)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the C classes: the labels, then N/A."""
        return (*self.labels, NA)

    @property
    def n_classes(self) -> int:
        """C, with N/A; for open answers how many different ones a sample can get."""
        if self.answers.open is None:
            return len(self.labels) + 1
        n_different = self.most_different or self.n_rephrasings
        if self.labels:
            n_different = min(n_different, 2 ** len(self.labels) + 1)  # all sets of labels, and N/A
        return max(_FEWEST_CLASSES, n_different)

    @property
    def is_labelled(self) -> bool:
        """Whether every sample has a label."""
        return all(sample.label is not None for sample in self.samples)

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """The samples' labels as (N,) indices, or codes of open answers; ValueError if a sample has no label."""
        if self.answers.open is None:
            return np.array([self.labels.index(sample.label) for sample in self.samples])
        if not self.is_labelled:
            raise ValueError("a sample has no label")
        return np.array([code_of(str(sample.label)) for sample in self.samples], dtype=np.int64)

    @property
    def true_classes(self) -> NDArray[np.int64]:
        """The classes over which C is pooled, (N,): the samples' labels; open answers have none, so all get one."""
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
        """Which answers name no label, or cannot be read: (N, Q)."""
        return np.asarray(self.array == len(self.labels))

    @property
    def is_read(self) -> NDArray[np.bool_]:
        """Which cells were asked, and have a readable answer: (N, Q)."""
        return self.asked & ~self.is_na

    @property
    def na_rate(self) -> float:
        """The share of answers that name no label, or cannot be read."""
        return float(self.is_na.sum() / self.asked.sum())

    @property
    def is_whole(self) -> bool:
        """Whether every sample was asked under every rephrasing."""
        return bool(self.asked.all())

    @property
    def has_pairs(self) -> bool:
        """Whether every sample was asked under the same several rephrasings: one alone shows no disagreement."""
        return self.is_whole and self.n_rephrasings > 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each class was predicted for each sample, (N, C) int; for open answers each different one."""
        return counts_where(self.asked, self.places, self.n_classes)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The answers as classes, (N, Q): the array; open answers are numbered per sample, with -1 where not asked."""
        if self.same is not None:
            return self.same
        return self.array if self.answers.open is None else places_of(self.array, self.answers.open)

    @cached_property
    def similarity(self) -> NDArray[np.float64] | None:
        """How alike two classes are, (C, C), or two answers to each sample, (N, C, C); None if only equality counts."""
        if self.answers.open is None:
            return self.answers.similarity
        return similarities_of(self.array, self.places, self.answers.open, self.n_classes)

    @cached_property
    def _open_worths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.answers.open is None:
            raise ValueError("labels are right or wrong")
        return worths_of(self.array, self.truth, self.answers.open)

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How much each answer counts in the mean quality, (N, Q); None if all count the same."""
        if self.answers.spec.kind != LABELS or self.metric_scores is not None:
            return None
        return self._open_worths[1]

    @property
    def quality(self) -> NDArray[np.float64] | None:
        """The score of each answer, (N, Q) in [0, 1]: by a metric or against the truth; None if only right or wrong."""
        worth = self.answers.worth
        if self.metric_scores is not None:
            return self.metric_scores
        if self.answers.open is not None:
            return self._open_worths[0]
        if worth is None:
            return None
        return np.where(self.asked, worth[self.truth[:, None], self.array], 0.0)

    @property
    def scored(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What every score, interval and test is computed from: the probabilities if any, otherwise the answers."""
        return self.places if self.probabilities is None else self.probabilities

    @property
    def p_tau(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """What S and C_y are computed from, (N, C): counts (shares if they are uneven), or mean probabilities."""
        if self.probabilities is not None:
            return prediction_distribution(self.probabilities)
        return p_tau_where(self.asked, self.places, self.n_classes)

    @cached_property
    def label_rows(self) -> LabelRows | None:
        """The answers label by label, if they are several labels."""
        if self.answers.spec.kind != LABELS:
            return None
        return LabelRows.of(self.array, [str(sample.label) for sample in self.samples], self.labels)

    @property
    def sensitivities(self) -> NDArray[np.float64]:
        """S of each sample: (N,) in [0, 1]."""
        return sample_sensitivity(self.p_tau, similarity=self.similarity)

    @property
    def consistencies(self) -> NDArray[np.float64]:
        """Mean consistency of each sample with its class: (N,) in [0, 1]; 1 if it is alone in its class."""
        if self.label_rows is not None:
            return self.label_rows.consistency_of_samples
        if self.answers.open is not None:
            return np.ones(len(self.samples))
        return np.nan_to_num(sample_consistency(self.p_tau, self.truth), nan=1.0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right: (N, Q). N/A never is; a graded answer counts only if it is completely right.

        An open answer is right if it equals a reference, or gets at least half of what a judge or a metric can give.
        """
        rule = self.answers.open
        if rule is None:
            return np.asarray(self.array == self.truth[:, None])
        least = rule.least_right if self.metric_scores is None else _HALF
        return np.asarray(self.asked & (np.asarray(self.quality) >= least))

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which answers are wrong, including N/A: (N, Q)."""
        return self.asked & ~self.right

    @property
    def n_right(self) -> NDArray[np.int64]:
        """How many answers to each sample are right: (N,) in [0, Q]."""
        return np.asarray(self.right.sum(axis=1))

    @property
    def share_right(self) -> NDArray[np.float64]:
        """The share of right answers to each sample: (N,) in [0, 1]; for open answers their mean score."""
        worths = self.right if self.answers.open is None else np.where(self.asked, np.asarray(self.quality), 0.0)
        return np.asarray(worths.sum(axis=1) / self.asked.sum(axis=1))

    @property
    def share_wrong(self) -> NDArray[np.float64]:
        """The share of wrong answers to each sample, including N/A: (N,) in [0, 1]."""
        return 1 - self.share_right

    def answers_to(self, index: int) -> dict[str, int]:
        """How often each class was answered for a sample; open answers that are the same are under the first."""
        if self.answers.open is None:
            return {name: int(n) for name, n in zip(self.class_names, self.counts[index], strict=True) if n}
        places = self.places[index].tolist()
        codes = dict(zip(reversed(places), reversed(self.array[index].tolist()), strict=True))  # first code wins
        counts = Counter(self.name_of(codes[place]) for place in places if place >= 0)
        return dict(counts.most_common())

    def name_of(self, answer: int) -> str:
        """The text of an answer in the array: a class, or an open answer."""
        return text_of(answer) if answer >= FIRST_CODE else self.class_names[answer]

    def most_answered(self, members: NDArray[np.int64], *, besides: int | None = None) -> str | None:
        """Return the class that some samples are given most often, excluding `besides`; None if there is no other."""
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
            families=_at(columns, self.families),
            rephrasings=_at(columns, self.rephrasings),
            no_labels=tuple(self._no_labels_at("rephrasing", columns)),
            most_different=self.n_classes,  # S stays normalised as it was
            others=tuple(predictions.under(columns) for predictions in self.others),
            **self._grids((slice(None), columns)),
        )

    def of_samples(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Predictions:
        """The predictions for some of the samples: by their indices, in that order, or where True."""
        numbers = np.arange(len(self.samples))[rows]
        return replace(
            self,
            samples=_at(numbers, self.samples),
            no_labels=tuple(self._no_labels_at("sample", numbers)),
            parts_read=_at(numbers, self.parts_read),
            others=tuple(predictions.of_samples(rows) for predictions in self.others),
            **self._grids(numbers),
        )

    def _no_labels_at(self, axis: str, numbers: Iterable[int]) -> Iterator[NoLabel]:
        """The N/A answers to these samples, or under these rephrasings, numbered by their new places."""
        for place, number in enumerate(numbers):
            new_place: dict[str, Any] = {axis: place}
            for missed in self.no_labels:
                if getattr(missed, axis) == number:
                    yield replace(missed, **new_place)

    def _grids(self, cells: Any) -> dict[str, Any]:
        """A part of each existing grid."""
        grids = {name: getattr(self, name) for name in _GRIDS}
        return {name: grid[cells] for name, grid in grids.items() if grid is not None}


def _at(places: Iterable[int], values: Sequence[T]) -> tuple[T, ...]:
    """The values at these places, if there are any values."""
    return tuple(values[place] for place in places if values)


def what_varies(families: Iterable[str]) -> str:
    """Say what differs between a grid's columns, given their families.

    >>> what_varies(["paraphrase"]), what_varies(["unchanged", "typos"]), what_varies(["format", "unchanged", "typos"])
    ('wordings', 'changed texts', 'wordings and changed texts')
    """
    varied = set(families)
    if not varied & _OF_TEXTS:
        return "wordings"
    return "changed texts" if varied <= _OF_TEXTS else "wordings and changed texts"
