"""From predictions to the three objectives and the other measures in every report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import CLOSENESS, F1, METRIC
from psopt.evaluation._answer_shares import AnswerShares, answer_shares, shares_line
from psopt.evaluation._na_kinds import NaExample, na_examples, na_kinds, readable_sensitivity
from psopt.evaluation._objectives import objective_gains
from psopt.evaluation._open_scores import (
    OpenScores,
    OrdinalScores,
    class_answers,
    label_by_label,
    none_if_nan,
    open_scores,
    ordinal_scores,
    weighted_mean,
)
from psopt.evaluation._predictions import what_varies
from psopt.metrics import (
    class_f1,
    class_intervals,
    consistency,
    macro_f1,
    macro_f1_interval,
    mean_interval,
    micro_f1,
    prompt_sensi_score,
    sample_posix,
    score_intervals,
    sensitivity,
)
from psopt.notebooks import card, line, shown_number, table, with_interval
from psopt.settings import TEXT_FAMILIES, UNCHANGED
from psopt.text import read_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions
    from psopt.metrics import Interval


# A class that a server does not list among its likeliest has probability 0, whose logarithm is not finite. Chosen by
# hand: it limits any change of an answer's likelihood to 20.7 nats.
_LEAST_PROBABILITY = 1e-9


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of one class; None if the class has no sample."""

    n: int  # its samples
    f1: float | None
    sensitivity: float | None
    consistency: float | None
    ci: dict[str, tuple[float, float]] = field(default_factory=dict)  # 95 %, of the defined ones, if asked for


@dataclass(frozen=True, slots=True)
class FamilyScores:
    """The scores under one family of rephrasings, or of changed texts, alone."""

    n: int  # Columns. S grows with their number: compare families of equal n.
    f1: float | None  # None without labels
    # For changed texts, includes the answer to the unchanged one; None for a single answer, which can't differ
    sensitivity: float | None
    # For changed texts: the share of answers that differ from the one to the unchanged text; independent of n
    flips: float | None = None


@dataclass(frozen=True, slots=True)
class ModelScores:
    """A prompt's scores with one of several models, shown next to the scores of all."""

    f1: float
    sensitivity: float
    consistency: float | None
    na_rate: float
    is_hollow: bool  # whether nearly all answers are one label or guesses, so that S and C are meaningless
    ci: dict[str, tuple[float, float]]  # 95 %, by measure, if asked for


@dataclass(frozen=True, slots=True)
class Scores:
    """A prompt's scores on N samples under Q rephrasings."""

    # micro-F1 over all N x Q predictions, in [0, 1]; higher is better. The metric's mean if a metric scores the
    # answers; for ordered labels the mean closeness to the truth (`AnswerType`).
    f1: float
    # Mean F1 over the labels that are true or predicted anywhere, without N/A; None if there are no labels
    macro_f1: float | None
    # S_tau (E25, equations 3 and 4), normalised, in [0, 1]; lower is better. Ordered labels use their similarities.
    sensitivity: float
    # C_y pooled over the classes (E25, equation 7), in [0, 1]; higher is better. None if there are no classes.
    consistency: float | None
    na_rate: float  # share of answers that name no label
    per_class: dict[str, ClassScores]
    ci: dict[str, tuple[float, float]]  # 95 %, of all five over samples and rephrasings; empty if not asked for
    constant: str | None = None  # the only class ever predicted, if just one: then S = 0 and C = 1 without any merit
    per_family: dict[str, FamilyScores] = field(default_factory=dict)  # if there are several: what it is sensitive to
    na_kinds: dict[str, int] = field(default_factory=dict)  # N/A answers of each kind, if known, most frequent first
    na_examples: dict[str, NaExample] = field(default_factory=dict)  # for each kind one answer and the affected samples
    sensitivity_readable: float | None = None  # S over only the answers that name a label; None if all do
    n_samples: int | None = None  # N, without which S means little, as without Q; None where only a study is known
    n_rephrasings: int | None = None
    sensitivity_limit: float | None = None  # S at infinitely many wordings, in [0, 1] (see the function)
    # C without each sample's pair with itself, which makes C comparable between different N; None without a pair
    consistency_no_self_pairs: float | None = None
    ordinal: OrdinalScores | None = None  # further measures of ordered labels
    open: OpenScores | None = None  # further measures of answers other than single labels
    # How much the likelihood of labels changes between wordings, in nats (`psopt.metrics.posix`), and the spread of
    # correctness (PSS, P24), in [0, 1]; None where undefined: for other answers than single labels, under one wording
    posix: float | None = None
    pss: float | None = None
    shares: AnswerShares | None = None  # None where answers are no labels, or a metric scores them
    per_model: dict[str, ModelScores] = field(default_factory=dict)  # with several models, by name
    over: str = ""  # whether the combined scores are the ``worst`` or the ``mean``
    quality: str | None = None  # what a metric of the user's own, whose mean `f1` is, is called; None without one

    def __repr__(self) -> str:
        """The measures and the size only: classes and intervals would fill a screen."""
        measures = [f"{name} {shown_number(value)}" for name, _, value in self._measures if value is not None]
        if self.n_samples is not None:
            measures.append(f"of {self.n_samples} samples x {self.n_rephrasings} rephrasings")
        return f"<Scores: {', '.join(measures)}>"

    def _repr_html_(self) -> str:
        """The measures with their intervals, in total and per class, as shown in notebooks."""
        measures = [(name, with_interval(value, self.ci.get(key))) for name, key, value in self._measures]
        classes = [(label, of.n, of.f1, of.sensitivity, of.consistency) for label, of in self.per_class.items()]
        if self.constant:
            note = f"It always answers {self.constant}: S = 0 and C = 1 are worth nothing."
        else:
            note = shares_line(self.to_dict())
        parts = [line(note), table(("measure", "value"), measures)]
        if classes:
            parts.append(table(("label", "n", "F1", "S", "C"), classes))
        return card(repr(self)[1:-1], *parts)

    @property
    def _measures(self) -> tuple[tuple[str, str, float | None], ...]:
        """The measures with their display names and their interval keys."""
        return (
            (self.quality_name, "f1", self.f1),
            ("macro-F1", "macro_f1", self.macro_f1),
            ("S", "sensitivity", self.sensitivity),
            ("C", "consistency", self.consistency),
            ("N/A", "na_rate", self.na_rate),
        )

    @property
    def gains(self) -> NDArray[np.float64]:
        """The objectives, all to be maximised: F1, -S and, where it is defined, C."""
        return objective_gains(self)

    @property
    def is_hollow(self) -> bool:
        """Whether S and C are meaningless: one answer (`is_one_answer`) or a guess, with any of the models."""
        if self.per_model:
            return any(scores.is_hollow for scores in self.per_model.values())
        return self.is_one_answer or bool(self.shares and self.shares.is_hollow)

    @property
    def is_one_answer(self) -> bool:
        """Whether it always gives one open answer that is near enough to many, or nearly always one label."""
        return self.near_constant is not None or (self.constant is not None and self.open is not None)

    @property
    def near_constant(self) -> str | None:
        """As in `AnswerShares`."""
        return None if self.shares is None else self.shares.near_constant

    @property
    def varied(self) -> str:
        """What differs between a sample's answers, in words (see `what_varies`)."""
        return what_varies(self.per_family)

    @property
    def quality_name(self) -> str:
        """What `f1` is called: for answers other than one label it is another measure (`AnswerType.quality_name`)."""
        if self.open is not None:
            return self.open.quality_name
        return self.quality or (F1 if self.ordinal is None else CLOSENESS)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain JSON data, as in run.json; S over readable answers only if there is any N/A."""
        where_defined = ("sensitivity_readable", "ordinal", "open", "posix", "pss", "quality")
        data = {name: value for name, value in asdict(self).items() if value is not None or name not in where_defined}
        data["ci"] = {name: list(bounds) for name, bounds in self.ci.items()}
        shares = data.pop("shares") or {}
        if not self.per_model:
            del data["per_model"], data["over"]
        return {**data, **shares}


def scores_from_dict(data: Mapping[str, Any]) -> Scores:
    """Build scores from `Scores.to_dict`'s data; raises ValueError if they are damaged."""
    shares = data if "answer_shares" in data else None
    return read_data(Scores, {**data, "ci": data.get("ci") or {}, "shares": shares})


def score_one_model(predictions: Predictions, *, intervals: bool = False) -> Scores:
    """Score the answers of one model; see `psopt.evaluation.score`."""
    per_class = _per_class(predictions, intervals=intervals)
    distinct = np.unique(predictions.array[predictions.asked])
    posix = sample_posix_of(predictions)
    is_one_label = predictions.answers.open is None
    if is_one_label:
        macro: float | None = macro_f1(predictions.array, predictions.truth, labels=range(len(predictions.labels)))
    else:
        macro = _mean_of([scores.f1 for scores in per_class.values() if scores.f1 is not None])
    return Scores(
        f1=quality_of(predictions),
        macro_f1=macro,
        sensitivity=sensitivity(predictions.p_tau, similarity=predictions.similarity),
        consistency=_consistency(predictions),
        na_rate=predictions.na_rate,
        per_class=per_class,
        ci=_intervals(predictions) if intervals else {},
        constant=predictions.name_of(int(distinct[0])) if len(distinct) == 1 else None,
        per_family=family_scores(predictions),
        na_kinds=na_kinds(predictions),
        na_examples=na_examples(predictions),
        sensitivity_readable=readable_sensitivity(predictions),
        n_samples=len(predictions.samples),
        n_rephrasings=predictions.n_rephrasings,
        sensitivity_limit=sensitivity_limit(predictions),
        consistency_no_self_pairs=_consistency(predictions, self_pairs=False),
        ordinal=ordinal_scores(predictions),
        open=open_scores(predictions),
        posix=None if posix is None else float(posix.mean()),
        pss=prompt_sensi_score(predictions.right) if is_one_label and predictions.has_pairs else None,
        shares=answer_shares(predictions),
        quality=METRIC if predictions.answers.has_metric else None,
    )


def _consistency(predictions: Predictions, *, self_pairs: bool = True) -> float | None:
    if predictions.label_rows is not None:
        return none_if_nan(predictions.label_rows.consistency(self_pairs=self_pairs))
    if predictions.answers.open is not None:
        return None
    return none_if_nan(consistency(predictions.p_tau, predictions.truth, self_pairs=self_pairs))


def sensitivity_limit(predictions: Predictions) -> float | None:
    """Extrapolate S to many wordings; None for open answers, probabilities, one wording or an incomplete grid."""
    if predictions.answers.open or predictions.probabilities is not None or not predictions.has_pairs:
        return None
    return min(1.0, sensitivity(predictions.counts, correction="jackknife", similarity=predictions.similarity))


def quality_of(predictions: Predictions) -> float:
    """Return what replaces F1, or F1 itself for one label."""
    if predictions.quality is None:
        return micro_f1(predictions.array, predictions.truth)
    if predictions.weights is None:
        return float(predictions.quality.mean())
    return weighted_mean(predictions.quality, predictions.weights) or 0.0


def _intervals(predictions: Predictions) -> dict[str, tuple[float, float]]:
    scored, truth, n_classes = predictions.scored, predictions.true_classes, predictions.n_classes
    similarity, rows = predictions.similarity, predictions.label_rows
    intervals = score_intervals(scored, truth, n_classes, similarity=similarity)
    bounds = {name: interval.bounds for name, interval in intervals.items()}
    if predictions.quality is not None:
        bounds["f1"] = mean_interval(predictions.quality, weights=predictions.weights).bounds
    if predictions.answers.open is not None:
        del bounds["consistency"]
        if rows is not None and len(rows.labels):
            of_rows = score_intervals(rows.said, rows.labels, rows.n_classes, groups=rows.samples)
            bounds["consistency"] = of_rows["consistency"].bounds
    if (of_macro_f1 := _macro_f1_interval(predictions)) is not None:
        bounds["macro_f1"] = of_macro_f1.bounds
    return {**bounds, "na_rate": mean_interval(predictions.is_na).bounds}


def _macro_f1_interval(predictions: Predictions) -> Interval | None:
    """For single labels or several; None without labels, or if no answer and no sample has any."""
    n_labels = len(predictions.labels)
    labels = range(n_labels)
    if predictions.answers.open is None:
        interval = macro_f1_interval(predictions.places, predictions.truth, predictions.n_classes, labels=labels)
    elif predictions.label_rows is not None and n_labels:
        answers, true, samples = label_by_label(predictions, predictions.label_rows)
        interval = macro_f1_interval(answers, true, n_labels + 1, labels=labels, groups=samples)
    else:
        return None
    return None if np.isnan(interval.estimate) else interval


def _per_class(predictions: Predictions, *, intervals: bool) -> dict[str, ClassScores]:
    """Scores of each label; empty if answers have none. If a sample may have several, only F1 gets intervals."""
    n_labels, rows, truth = len(predictions.labels), predictions.label_rows, predictions.true_classes
    bounds: list[dict[str, tuple[float, float]]] = [{} for _ in range(n_labels)]
    if rows is not None:
        of_labels = [(right, weights) for _, right, weights in class_answers(predictions)]
        f1 = [weighted_mean(right, weights) for right, weights in of_labels]
        agreement = rows.consistency_of_labels
        if intervals:
            bounds = [
                {"f1": mean_interval(right, weights=weights).bounds} if weights.any() else {}
                for right, weights in of_labels
            ]
    elif predictions.answers.open is not None:
        return {}
    else:
        f1 = [none_if_nan(value) for value in class_f1(predictions.array, truth, labels=range(n_labels))]
        agreement = consistency(predictions.p_tau, truth, average=None)
        if intervals:
            scored, n_classes, similarity = predictions.scored, predictions.n_classes, predictions.similarity
            of_classes = class_intervals(scored, truth, n_classes, labels=range(n_labels), similarity=similarity)
            bounds = [{name: interval.bounds for name, interval in of_class.items()} for of_class in of_classes]
    unstable = predictions.sensitivities
    scores = {}
    for index, label in enumerate(predictions.labels):
        members = predictions.members(label)
        s = _mean_of(unstable[members])
        scores[label] = ClassScores(len(members), f1[index], s, none_if_nan(agreement[index]), bounds[index])
    return scores


def _mean_of(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def family_scores(predictions: Predictions) -> dict[str, FamilyScores]:
    """Return the scores under each family of rephrasings or of changed texts; empty if there is only one."""
    families = predictions.families
    if len(set(families)) < 2:
        return {}
    scores: dict[str, FamilyScores] = {}
    for family in dict.fromkeys(families):
        columns = [column for column, column_family in enumerate(families) if column_family == family]
        beside, flips = predictions.under(columns), None
        quality = quality_of(beside) if predictions.is_labelled else None
        if family in TEXT_FAMILIES:
            unchanged = families.index(UNCHANGED)
            beside = predictions.under([unchanged, *columns])
            flips = float((predictions.places[:, columns] != predictions.places[:, [unchanged]]).mean())
        of_s = sensitivity(beside.p_tau, similarity=beside.similarity) if beside.n_rephrasings > 1 else None
        scores[family] = FamilyScores(len(columns), quality, of_s, flips)
    return scores


def sample_posix_of(predictions: Predictions) -> NDArray[np.float64] | None:
    """Return POSIX of single labels, (N,) in nats per label; None without probabilities or for one wording."""
    probabilities = predictions.probabilities
    if probabilities is None or predictions.answers.open or not predictions.has_pairs:
        return None
    logarithms = np.log(np.clip(probabilities, _LEAST_PROBABILITY, 1.0))  # sums of rounded probabilities may exceed 1
    answers = predictions.array
    return sample_posix(np.take_along_axis(logarithms, answers[:, None, :], axis=2), np.ones_like(answers))
