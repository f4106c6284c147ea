"""Every measure, registered once: what the docs list and the conformance tests sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._bootstrap import bootstrap_ci
from ._consistency import consistency, pairwise_consistency, sample_consistency
from ._counts import hard_predictions, prediction_counts, prediction_distribution
from ._curve import rephrasing_curve
from ._differences import compare_scores, mean_difference
from ._f1 import class_f1, macro_f1, micro_f1
from ._flips import flip_pairs, sample_flips
from ._intervals import class_intervals, macro_f1_interval, mean_interval, score_intervals
from ._joint import joint_scores
from ._paired import paired_test
from ._posix import posix, sample_posix
from ._prompt_f1 import prompt_f1, rephrasing_damage, spread
from ._prosa import prompt_sensi_score, sample_prompt_sensi_score
from ._references import noised_predictions, reference_scores
from ._sensitivity import sample_sensitivity, sensitivity
from ._uncertainty import uncertainty

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Measure:
    """A public function of this package.

    Attributes
    ----------
    function : callable
        Arrays in, numbers out.
    question : str
        What it answers.
    gives : str
        "score": one number. "samples", "rephrasings", "classes": an array with a row for each. "answers": one with
        a row for each sample and a column for each rephrasing. "pairs": a square matrix of samples. "report": named
        numbers. "simulation": the same from seeded random draws.
    better : "lower", "higher" or None
        Which way is better, where there is one.
    """

    function: Callable[..., Any]
    question: str
    gives: Literal["score", "samples", "rephrasings", "classes", "answers", "pairs", "report", "simulation"]
    better: Literal["lower", "higher"] | None = None


_ALL = (
    Measure(prediction_counts, "How often was each class answered?", "samples"),
    Measure(prediction_distribution, "How probable is each class over the rephrasings?", "samples"),
    Measure(hard_predictions, "Which class is most probable in each answer?", "answers"),
    Measure(sensitivity, "How much do answers change when the task is rephrased?", "score", "lower"),
    Measure(sample_sensitivity, "Which samples change?", "samples", "lower"),
    Measure(uncertainty, "How undecided is the model under one wording?", "answers"),
    Measure(consistency, "Are the members of a class answered alike?", "score", "higher"),
    Measure(sample_consistency, "Which samples are unlike their class?", "samples", "higher"),
    Measure(pairwise_consistency, "Which two samples of a class are answered alike?", "pairs", "higher"),
    Measure(micro_f1, "How many answers are right?", "score", "higher"),
    Measure(macro_f1, "How right are the answers, each label counting the same?", "score", "higher"),
    Measure(class_f1, "Which labels are answered right?", "classes", "higher"),
    Measure(joint_scores, "Where does the prompt stand in F1, S and C_y?", "report"),
    Measure(flip_pairs, "Which two labels do samples change between?", "report"),
    Measure(sample_flips, "Which two labels does each sample change between?", "samples"),
    Measure(rephrasing_damage, "Which rephrasing loses right answers?", "rephrasings", "lower"),
    Measure(prompt_f1, "How good is each rephrasing?", "rephrasings", "higher"),
    Measure(spread, "How far apart are the best and the worst rephrasing?", "score", "lower"),
    Measure(prompt_sensi_score, "How much does correctness, or a judge's score, change?", "score", "lower"),
    Measure(sample_prompt_sensi_score, "Which samples' scores change?", "samples", "lower"),
    Measure(posix, "How much does an answer's likelihood change?", "score", "lower"),
    Measure(sample_posix, "Which samples' answers change in likelihood?", "samples", "lower"),
    Measure(score_intervals, "How sure are F1, S and C_y?", "report"),
    Measure(class_intervals, "How sure are they for each class?", "report"),
    Measure(macro_f1_interval, "How sure is macro-F1?", "report"),
    Measure(mean_interval, "How sure is a mean, or a share of the answers?", "report"),
    Measure(compare_scores, "Is one prompt better than another?", "report"),
    Measure(mean_difference, "Is one mean higher than another?", "report"),
    Measure(bootstrap_ci, "How sure are F1, S and C_y, by resampling?", "simulation"),
    Measure(paired_test, "Is one prompt better than another, by resampling?", "simulation"),
    Measure(rephrasing_curve, "How many rephrasings are enough?", "simulation"),
    Measure(noised_predictions, "What if a share of the answers were random?", "simulation"),
    Measure(reference_scores, "What would a noisy and a random predictor score?", "simulation"),
)

MEASURES: dict[str, Measure] = {measure.function.__name__: measure for measure in _ALL}
