"""What is shown beside quality and S: how often each label is answered, and whether nearly all answers are one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.answers import CLOSENESS, F1, LabelSets
from psopt.evaluation._label_rows import mean_influences
from psopt.evaluation._na_kinds import whose
from psopt.evaluation._open_scores import NO_SHARES
from psopt.metrics import mean_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation._label_rows import LabelRows
    from psopt.evaluation._predictions import Predictions

    Floats = NDArray[np.float64]


# Threshold of `lopsidedness`. From .5 on a bias towards a label raises C by .12 or more on real models, and where S
# changes it lowers S by more than the gate's point (docs/decisions.md, "A prompt that almost always gives the same
# answer").
LOPSIDED = 0.5
# Share of the F1 that a constant answer leaves to be gained; chosen. Without it a few correct answers that differ would
# be significant at once. A prompt that surely finds more than this of a rare class is not near-constant.
_LEAST_GAINED = 0.25
_MOST_UNLABELLED = 0.9  # chosen: without labels the true share is unknown, and nine in ten is plausible
_SLIGHT = 0.2  # upper end of "slight" kappa: Landis and Koch, Biometrics 1977
_NOTHING = ": its S and C say nothing."
_LEVEL = 0.05  # one-sided, as in the gate: Fisher's convention


@dataclass(frozen=True, slots=True)
class AnswerShares:
    """What a prompt answers, compared with what is right; only for labels, scored by F1, micro-F1 or closeness."""

    # Each label's share of the answers, N/A last; of several labels a text, the share of the answers that give it
    answer_shares: dict[str, float] = field(default_factory=dict)
    class_shares: dict[str, float] = field(default_factory=dict)  # each label's share of the samples, if they have any
    # F1 of always answering the most frequent label; for ordered labels and several, the score of the best constant
    # answer; None without labels
    constant_f1: float | None = None
    # The label, or labels, of nearly all answers, if F1 is hardly above `constant_f1`: S and C are then meaningless
    near_constant: str | None = None
    # F1 is not surely above `constant_f1`, and agreement beyond chance (Cohen's kappa) is slight: S and C mean nothing
    is_guess: bool = False

    @property
    def is_hollow(self) -> bool:
        """Whether S and C of these answers are meaningless."""
        return self.near_constant is not None or self.is_guess


class _Worths(NamedTuple):
    """What answers are worth, and how much each weighs in the mean (None: all the same), (N, Q) or (N, 1)."""

    worths: Floats
    weights: Floats | None

    @classmethod
    def of(cls, predictions: Predictions) -> _Worths:
        """Each answer's, or each sample's mean where not every cell was asked."""
        worths = np.asarray(predictions.right if predictions.quality is None else predictions.quality, dtype=np.float64)
        weights = predictions.weights
        if predictions.is_whole:
            return cls(worths, weights)
        n_asked = predictions.asked.sum(axis=1, keepdims=True)
        if weights is None:
            return cls(worths.sum(axis=1, keepdims=True) / n_asked, None)
        of_samples = weights.sum(axis=1, keepdims=True)
        means = (weights * worths).sum(axis=1, keepdims=True) / np.where(of_samples > 0, of_samples, 1.0)
        return cls(means, of_samples / n_asked)

    @property
    def mean(self) -> float:
        return float(self.worths.mean()) if self.weights is None else mean_influences(self.worths, self.weights)[0]

    def surely_gain(self, constant: _Worths, share: float) -> bool:
        """Whether the mean surely gains more than this share of what a constant answer, per sample, leaves."""
        shape = self.worths.shape
        difference = mean_difference(
            np.broadcast_to(constant.worths, shape),
            self.worths,
            first_weights=None if constant.weights is None else np.broadcast_to(constant.weights, shape),
            second_weights=self.weights,
        )
        return difference.p_above(share * (1 - constant.mean)) <= _LEVEL


def answer_shares(predictions: Predictions) -> AnswerShares | None:
    """Return the shares of answers and classes; None for other open answers and answers scored by a metric.

    A prompt is near-constant if `lopsidedness` is half or more, and its F1 (of ordered labels, closeness) does not
    surely gain a quarter of what the best constant answer leaves: paired over samples and wordings, one-sided at 5 %.
    So one that finds much of a rare class is not near-constant. Where a text has several labels, what counts is how
    near the answers are to the set of labels that most of them give (Jaccard), compared with the samples' own sets.
    """
    answers, labels = predictions.answers, predictions.labels
    if predictions.metric_scores is not None:
        return None
    if answers.open is not None:
        rows = predictions.label_rows if predictions.is_labelled else None
        return None if rows is None else _shares_of_sets(predictions, rows)
    counts = predictions.counts.sum(axis=0)
    of_answers = counts / counts.sum()
    shares = dict(zip(predictions.class_names, of_answers.tolist(), strict=True))
    if not predictions.is_labelled:
        return AnswerShares(shares)
    truth = predictions.truth
    worth = np.eye(len(labels), len(labels) + 1) if answers.worth is None else answers.worth
    n_of_class = np.bincount(truth, minlength=len(labels))
    of_class = dict(zip(labels, (n_of_class / len(truth)).tolist(), strict=True))
    constant = _Worths(worth[truth, int((n_of_class @ worth).argmax())][:, None], None)
    by_chance = float(n_of_class @ worth @ of_answers) / len(truth)
    usual = most_answered(shares) if _is_lopsided(shares, of_class) else None
    return _against_constant(predictions, shares, of_class, usual, constant, by_chance)


def _shares_of_sets(predictions: Predictions, rows: LabelRows) -> AnswerShares:
    """The same where a text has several labels, or none."""
    given = rows.given[predictions.asked]
    of_answers, of_samples = given.mean(axis=0), rows.true.mean(axis=0)
    most = of_answers >= 0.5
    is_lopsided = _excess(float(_jaccard(given, most).mean()), float(_jaccard(rows.true, most).mean())) >= LOPSIDED
    # micro-F1 of a constant answer is 2 TP / (its labels + the right ones): the best has the most frequent labels
    by_frequency = np.argsort(-of_samples, kind="stable")
    n_answered = np.arange(1, len(by_frequency) + 1)
    f1 = 2 * of_samples[by_frequency].cumsum() / (n_answered + of_samples.sum())
    best = np.isin(np.arange(len(by_frequency)), by_frequency[: int(f1.argmax()) + 1])
    weights = (best.sum() + rows.true.sum(axis=1, keepdims=True)).astype(np.float64)
    constant = _Worths(2 * (rows.true & best).sum(axis=1, keepdims=True) / weights, weights)
    by_chance = 2 * float(of_answers @ of_samples) / max(float((of_answers + of_samples).sum()), 1.0)
    labels = predictions.labels
    usual = ", ".join(label for label, is_usual in zip(labels, most, strict=True) if is_usual) or "no label"
    shares, of_class = (dict(zip(labels, of.tolist(), strict=True)) for of in (of_answers, of_samples))
    return _against_constant(predictions, shares, of_class, usual if is_lopsided else None, constant, by_chance)


def _against_constant(
    predictions: Predictions,
    shares: dict[str, float],
    of_class: dict[str, float],
    usual: str | None,
    constant: _Worths,
    by_chance: float,
) -> AnswerShares:
    """Decide whether answers are near-constant, where `usual` says what they nearly always are, or guesses."""
    answered = _Worths.of(predictions)
    is_near = usual is not None and not answered.surely_gain(constant, _LEAST_GAINED)
    is_slight = answered.mean - by_chance < _SLIGHT * (1 - by_chance)
    return AnswerShares(
        answer_shares=shares,
        class_shares=of_class,
        constant_f1=constant.mean,
        near_constant=usual if is_near else None,
        is_guess=is_slight and not answered.surely_gain(constant, 0.0),
    )


def _jaccard(sets: NDArray[np.bool_], other: NDArray[np.bool_]) -> Floats:
    """How alike each set of labels, (M, L), is to another, (L,): (M,) in [0, 1], 1 for two empty ones."""
    n_either = (sets | other).sum(axis=1)
    return np.where(n_either > 0, (sets & other).sum(axis=1) / np.maximum(n_either, 1), 1.0)


def most_answered(shares: Mapping[str, float]) -> str:
    """Return the label with the largest share; on a tie, the first."""
    return max(shares, key=lambda label: shares[label])


def lopsidedness(shares: Mapping[str, float], of_class: Mapping[str, float]) -> float:
    """Return how far the most frequent answer exceeds its class: 0 if answered as often as it is right, 1 if always.

    The excess is divided by the share of all other classes, which makes rare and frequent classes comparable.

    >>> lopsidedness({"Number": 0.75, "Human": 0.25}, {"Number": 0.5, "Human": 0.5})
    0.5
    """
    label = most_answered(shares)
    return _excess(shares[label], of_class.get(label, 0.0))


def _excess(answered: float, right: float) -> float:
    return 0.0 if right >= 1 else (answered - right) / (1 - right)


def _is_lopsided(shares: Mapping[str, float], of_class: Mapping[str, float] | None) -> bool:
    if not of_class:
        return max(shares.values()) >= _MOST_UNLABELLED
    return lopsidedness(shares, of_class) >= LOPSIDED


def why_worthless(predictions: Predictions) -> str:
    """Return why S and C of a prompt are meaningless (`AnswerShares`), as words that follow its name; empty if not."""
    shares = answer_shares(predictions)
    if shares is None or not shares.is_hollow:
        return ""
    answers = predictions.answers
    kind = {"ordinal": answers.worth is not None, "open": answers.open is not None}
    scores = asdict(shares) | {"f1": _Worths.of(predictions).mean, **kind}
    return _guess_phrase(scores) if shares.near_constant is None else answered_phrase(scores)


def _guess_phrase(scores: Mapping[str, Any]) -> str:
    """Say that F1 is not surely above that of a constant answer; empty where the prompt does not guess."""
    if not scores.get("is_guess"):
        return ""
    f1, constant_f1 = scores["f1"], scores["constant_f1"]
    surely, (quality, constant) = "surely " if f1 > constant_f1 else "", _compared(scores)
    return f"has {quality} {100 * f1:.1f}, not {surely}above {100 * constant_f1:.1f} for {constant}"


def _compared(scores: Mapping[str, Any]) -> tuple[str, str]:
    """The names of the quality and of the constant answer that it is compared with."""
    if scores.get("ordinal"):
        return CLOSENESS, "the best constant answer"
    if scores.get("open"):
        return LabelSets.quality_name, "the best constant answer"
    return F1, f"always answering {most_answered(scores['class_shares'])}"


def shares_line(scores: Mapping[str, Any], name: str = "The prompt") -> str:
    """Say which label is most frequent, or that a prompt guesses, and where S and C are meaningless; otherwise empty.

    `scores` has the form of `Scores.to_dict`; without labels it holds only the shares of the answers.

    >>> given, of_class = {"Number": 0.94, "Human": 0.06}, {"Number": 0.17, "Human": 0.83}
    >>> shares_line({"answer_shares": given, "class_shares": of_class, "constant_f1": 0.83, "near_constant": None})
    'The prompt answers Number to 94 % of the texts, and 17 % are Number.'
    """
    label_shares, of_class = scores.get("answer_shares"), scores.get("class_shares")
    if not label_shares:
        return ""
    near_constant = scores.get("near_constant")
    if near_constant is None and not _is_lopsided(label_shares, of_class):
        guess = _guess_phrase(scores)
        return f"{name} {guess}{_NOTHING}" if guess else ""
    line = f"{name} {answered_phrase(scores)}"
    label = most_answered(label_shares)
    if of_class and near_constant in (None, label):
        line += f", and {100 * of_class.get(label, 0.0):.0f} % are {label}"
    line += "."
    if near_constant is None:
        return line
    quality, constant = _compared(scores)
    reached = f"Its {quality} is {100 * scores['f1']:.1f}, and {100 * scores['constant_f1']:.1f}"
    return f"{line} {reached} for {constant}{_NOTHING}"


def shares_lines(shown: Mapping[str, Mapping[str, Any]], reason: str = "") -> list[str]:
    """Return the `shares_line` of prompts by name, except one that a verdict's reason already says."""
    lines = [shares_line(scores, name) for name, scores in shown.items()]
    return [line for line in lines if line and not reason.startswith(line.removesuffix(_NOTHING))]


def answered_phrase(scores: Mapping[str, Any]) -> str:
    label = most_answered(scores["answer_shares"])
    if scores.get("near_constant") not in (None, label):  # several labels
        return f"answers nearly the same to most texts ({scores['near_constant']})"
    return f"answers {label} to {100 * scores['answer_shares'][label]:.0f} % of the texts"


# What is shown of `OrdinalScores`
_ORDINAL = {
    "micro_f1": "exactly right",
    "nominal_sensitivity": "S without the order",
    "mean_distance": "mean distance",
    "quadratic_kappa": "quadratic kappa",
}


def beside_quality_line(*measured: Mapping[str, Any]) -> str:
    """Say what else is known besides quality and S: the largest class, and measures of answers other than one label.

    `measured` are scores in the form of `Scores.to_dict`: of one prompt, or of two, shown with an arrow between.

    >>> beside_quality_line({"f1": 0.7}), beside_quality_line({"open": {"measures": {"PSS": 0.25}}})
    ('', 'PSS 25.0 %')
    >>> beside_quality_line({"posix": 1.204}, {"posix": 0.51})
    'POSIX 1.20 -> 0.51 nats'
    >>> beside_quality_line({"class_shares": {"ham": 0.95, "spam": 0.05}})
    'largest class: ham (95 % of the samples)'
    >>> beside_quality_line({"pss": 0.125}, {"pss": 0.0521})
    'PSS 12.5 -> 5.2'
    >>> beside_quality_line({"pss": 0.125, "over": "worst"})
    'PSS of the worst model 12.5'
    >>> ordinal = {"micro_f1": 0.16, "nominal_sensitivity": 0.256, "mean_distance": 1.85, "quadratic_kappa": None}
    >>> beside_quality_line({"ordinal": ordinal})
    'exactly right 16.0 %, S without the order 25.6 %, mean distance 1.85, quadratic kappa –'
    """
    if all("open" in scores for scores in measured):
        return _measures_line([scores["open"]["measures"] for scores in measured])
    lines = []
    if all("pss" in scores for scores in measured):
        lines.append(f"PSS{whose(measured[-1])} {_arrow(100 * scores['pss'] for scores in measured)}")
    if of_class := measured[-1].get("class_shares"):
        largest = most_answered(of_class)
        lines.append(f"largest class: {largest} ({100 * of_class[largest]:.0f} % of the samples)")
    if all("ordinal" in scores for scores in measured):
        of_order = [{shown: scores["ordinal"][name] for name, shown in _ORDINAL.items()} for scores in measured]
        lines.append(_measures_line(of_order))
    if all("posix" in scores for scores in measured):
        lines.append(f"POSIX {_arrow((scores['posix'] for scores in measured), '.2f')} nats")
    return ", ".join(lines)


def _arrow(values: Iterable[float | None], form: str = ".1f") -> str:
    """A value, or two with an arrow between; a dash for an undefined one."""
    return " -> ".join("–" if value is None else f"{value:{form}}" for value in values)


def _measures_line(measured: Sequence[Mapping[str, float | None]]) -> str:
    parts = []
    for name in measured[0]:
        values = [measures.get(name) for measures in measured]
        in_percent = (None if value is None else 100 * value for value in values)
        shown = _arrow(values, NO_SHARES[name]) if name in NO_SHARES else f"{_arrow(in_percent)} %"
        parts.append(f"{name} {shown}")
    return ", ".join(parts)
