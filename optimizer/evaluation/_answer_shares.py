"""How often each label is answered and how often it is right, and whether one is answered to nearly everything."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.metrics import mean_difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

# Of `lopsidedness`. From half on, a bias towards a label raises C by .12 or more on real models, and lowers S
# of one that changes by more than the gate's point (docs/decisions.md, "A prompt that always says the same").
LOPSIDED = 0.5
# Of what a constant answer leaves to be gained; chosen. Beside it the few answers that differ and are right are sure at
# once, however few they are; and whoever surely finds more than this of a rare class does not answer all alike.
_LEAST_GAINED = 0.25
_MOST_UNLABELLED = 0.9  # chosen: nobody knows how many texts are of the label, and nine in ten may well be
_SLIGHT = 0.2  # of kappa: Landis and Koch, Biometrics 1977
_NOTHING = ": its S and C say nothing."
_LEVEL = 0.05  # one-sided, as the gate's: Fisher's convention


@dataclass(frozen=True, slots=True)
class AnswerShares:
    """What a prompt answers at all, beside what is right; of single labels without an order, scored by F1."""

    # The share of the answers that each label has, N/A last
    answer_shares: dict[str, float] = field(default_factory=dict)
    # The share of the samples that each label has; empty where samples have no labels
    class_shares: dict[str, float] = field(default_factory=dict)
    constant_f1: float | None = None  # F1 of always answering the most frequent label; None without labels
    # The label that is answered to nearly everything, for hardly more than `constant_f1`: S and C of such a prompt say
    # nothing
    near_constant: str | None = None
    # Its F1 is not surely above `constant_f1`, and agreement beyond chance (Cohen's kappa) slight: S and C say nothing
    is_guess: bool = False

    @property
    def is_hollow(self) -> bool:
        """Whether S and C say nothing of such answers."""
        return self.near_constant is not None or self.is_guess


def answer_shares(predictions: Predictions) -> AnswerShares | None:
    """Return the shares of answers and classes; None of open answers, ordered labels and what a metric scores.

    A prompt is near-constant if both hold:

    - one label is answered so often that `lopsidedness` is half or more. A guess in the data's own shares has 0;
    - its F1 does not surely gain a quarter of what always answering the most frequent label leaves: paired over samples
      and wordings, one-sided at 5 %. So a prompt that finds much of a rare class is none.
    """
    answers = predictions.answers
    if answers.open is not None or answers.worth is not None or predictions.metric_scores is not None:
        return None
    counts = predictions.counts.sum(axis=0)
    shares = dict(zip(predictions.class_names, (counts / counts.sum()).tolist(), strict=True))
    if not predictions.is_labelled:
        return AnswerShares(shares)
    truth = predictions.truth
    n_of_class = np.bincount(truth, minlength=len(predictions.labels))
    of_class = dict(zip(predictions.labels, (n_of_class / len(truth)).tolist(), strict=True))
    most_frequent = int(n_of_class.argmax())
    is_near = lopsidedness(shares, of_class) >= LOPSIDED and not _surely_gains(
        predictions, most_frequent, _LEAST_GAINED
    )
    return AnswerShares(
        answer_shares=shares,
        class_shares=of_class,
        constant_f1=float(n_of_class.max() / len(truth)),
        near_constant=most_answered(shares) if is_near else None,
        is_guess=_agrees_slightly(predictions, shares, of_class) and not _surely_gains(predictions, most_frequent, 0.0),
    )


def most_answered(given: Mapping[str, float]) -> str:
    """Return the label with the largest share; of equal ones the first."""
    return max(given, key=lambda label: given[label])


def lopsidedness(given: Mapping[str, float], of_class: Mapping[str, float]) -> float:
    """Return how far the most answered label exceeds its class: 0 if answered as often as it is right, 1 if always.

    Its share less that of its class, by what is not of its class: it compares between rare and frequent classes.

    >>> lopsidedness({"Number": 0.75, "Human": 0.25}, {"Number": 0.5, "Human": 0.5})
    0.5
    """
    label = most_answered(given)
    of_label = of_class.get(label, 0.0)
    return (given[label] - of_label) / (1 - of_label) if of_label < 1 else 0.0


def _surely_gains(predictions: Predictions, most_frequent: int, share: float) -> bool:
    """Whether F1 surely gains more than that share of what always answering the most frequent label leaves."""
    right = _right(predictions)
    constant = np.broadcast_to(predictions.truth[:, None] == most_frequent, right.shape)
    left = 1 - float(constant.mean())
    return mean_difference(constant, right).p_above(share * left) <= _LEVEL


def _agrees_slightly(predictions: Predictions, shares: Mapping[str, float], of_class: Mapping[str, float]) -> bool:
    by_chance = sum(shares[label] * share for label, share in of_class.items())
    return float(_right(predictions).mean()) - by_chance < _SLIGHT * (1 - by_chance)


def _right(predictions: Predictions) -> NDArray[np.bool_] | NDArray[np.float64]:
    return predictions.right if predictions.is_whole else predictions.share_right[:, None]


def why_worthless(predictions: Predictions) -> str:
    """Return why S and C of a prompt say nothing, as words behind its name; empty where they do.

    It answers one label to nearly everything, or its F1 is not surely higher than that of one answer to everything. A
    filter of rare texts may be below that and useful, so agreement beyond chance (Cohen's kappa) has to be slight too.
    """
    shares = answer_shares(predictions)
    if shares is None or not shares.is_hollow:
        return ""
    scores = asdict(shares) | {"f1": float(_right(predictions).mean())}
    return _guess_phrase(scores) if shares.near_constant is None else answered_phrase(scores)


def _guess_phrase(scores: Mapping[str, Any]) -> str:
    """Say that F1 is not surely above that of one answer to everything; nothing where the prompt does not guess."""
    if not scores.get("is_guess"):
        return ""
    f1, constant_f1 = scores["f1"], scores["constant_f1"]
    surely = "surely " if f1 > constant_f1 else ""
    most_frequent = most_answered(scores["class_shares"])
    return f"has F1 {100 * f1:.1f}, not {surely}above {100 * constant_f1:.1f} for always answering {most_frequent}"


def shares_line(scores: Mapping[str, Any], name: str = "The prompt") -> str:
    """Say which label is answered to most texts, or that a prompt guesses, and where S and C say nothing; else empty.

    `scores` are as `Scores.to_dict` has them; without labels the shares of the answers alone.

    >>> given, of_class = {"Number": 0.94, "Human": 0.06}, {"Number": 0.17, "Human": 0.83}
    >>> shares_line({"answer_shares": given, "class_shares": of_class, "constant_f1": 0.83, "near_constant": None})
    'The prompt answers Number to 94 % of the texts; 17 % are.'
    """
    label_shares, of_class = scores.get("answer_shares"), scores.get("class_shares")
    if not label_shares:
        return ""
    if lopsidedness(label_shares, of_class) < LOPSIDED if of_class else max(label_shares.values()) < _MOST_UNLABELLED:
        guess = _guess_phrase(scores)
        return f"{name} {guess}{_NOTHING}" if guess else ""
    line = f"{name} {answered_phrase(scores)}"
    if not of_class:
        return f"{line}."
    line = f"{line}; {100 * of_class.get(most_answered(label_shares), 0.0):.0f} % are."
    if scores["near_constant"] is None:
        return line
    reached = f"Its F1 is {100 * scores['f1']:.1f}, and {100 * scores['constant_f1']:.1f} for always answering"
    return f"{line} {reached} {most_answered(of_class)}{_NOTHING}"


def shares_lines(shown: Mapping[str, Mapping[str, Any]], reason: str = "") -> list[str]:
    """Return the `shares_line` of prompts by name, without one of which a verdict's reason says the same already."""
    lines = [shares_line(scores, name) for name, scores in shown.items()]
    return [line for line in lines if line and not reason.startswith(line.removesuffix(_NOTHING))]


def answered_phrase(scores: Mapping[str, Any]) -> str:
    """Say what is answered most, and how often.

    >>> answered_phrase({"answer_shares": {"Number": 0.94, "Human": 0.06}})
    'answers Number to 94 % of the texts'
    """
    label = most_answered(scores["answer_shares"])
    return f"answers {label} to {100 * scores['answer_shares'][label]:.0f} % of the texts"
