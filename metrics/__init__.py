"""Prompt sensitivity in numbers: NumPy arrays in, numbers out, with their uncertainty.

=========================  ========================================================
Measure                    Question
=========================  ========================================================
prediction_counts          How often was each class answered?
prediction_distribution    How probable is each class over the rephrasings?
hard_predictions           Which class is most probable in each answer?
sensitivity                How much do answers change when the task is rephrased?
sample_sensitivity         Which samples change?
uncertainty                How undecided is the model under one wording?
consistency                Are the members of a class answered alike?
sample_consistency         Which samples are unlike their class?
pairwise_consistency       Which two samples of a class are answered alike?
micro_f1                   How many answers are right?
macro_f1                   How right are the answers, each label counting the same?
class_f1                   Which labels are answered right?
joint_scores               Where does the prompt stand in F1, S and C_y?
flip_pairs                 Which two labels do samples change between?
rephrasing_damage          Which rephrasing loses right answers?
prompt_f1                  How good is each rephrasing?
spread                     How far apart are the best and the worst rephrasing?
prompt_sensi_score         How much does correctness, or a judge's score, change?
sample_prompt_sensi_score  Which samples' scores change?
posix                      How much does an answer's likelihood change?
sample_posix               Which samples' answers change in likelihood?
score_intervals            How sure are F1, S and C_y?
class_intervals            How sure are they for each class?
macro_f1_interval          How sure is macro-F1?
mean_interval              How sure is a mean, or a share of the answers?
compare_scores             Is one prompt better than another?
mean_difference            Is one mean higher than another?
bootstrap_ci               How sure are F1, S and C_y, by resampling?
rephrasing_curve           How many rephrasings are enough?
noised_predictions         What if a share of the answers were random?
reference_scores           What would a noisy and a random predictor score?
=========================  ========================================================

Predictions are (n_samples, n_rephrasings) integers in [0, n_classes); by convention the last class is N/A. A function
that must know *which* rephrasing gave an answer takes ``predictions``. The others take ``counts``, the (n_samples,
n_classes) table of `prediction_counts`, or, with probabilities, of `prediction_distribution`. The dtype distinguishes
them: integers are counts, floats are probabilities.

An undefined result is NaN, as its docstring says, and an invalid argument raises a ValueError that names it. Only NumPy
is imported.

>>> counts = prediction_counts([[0, 0, 1], [1, 1, 1]], n_classes=3)
>>> round(sensitivity(counts), 3)
0.29
"""

from ._consistency import consistency, pairwise_consistency, sample_consistency
from ._counts import hard_predictions, prediction_counts, prediction_distribution
from ._differences import PairedDifference, compare_scores, mean_difference
from ._f1 import class_f1, macro_f1, micro_f1, prompt_f1, rephrasing_damage, spread
from ._intervals import Interval, class_intervals, macro_f1_interval, mean_interval, score_intervals
from ._joint import Reference, joint_scores, noised_predictions, reference_scores
from ._other_indices import posix, prompt_sensi_score, sample_posix, sample_prompt_sensi_score
from ._resampling import RephrasingCurve, bootstrap_ci, rephrasing_curve
from ._sensitivity import FlipPair, flip_pairs, sample_sensitivity, sensitivity, uncertainty

__all__ = [
    "FlipPair",
    "Interval",
    "PairedDifference",
    "Reference",
    "RephrasingCurve",
    "bootstrap_ci",
    "class_f1",
    "class_intervals",
    "compare_scores",
    "consistency",
    "flip_pairs",
    "hard_predictions",
    "joint_scores",
    "macro_f1",
    "macro_f1_interval",
    "mean_difference",
    "mean_interval",
    "micro_f1",
    "noised_predictions",
    "pairwise_consistency",
    "posix",
    "prediction_counts",
    "prediction_distribution",
    "prompt_f1",
    "prompt_sensi_score",
    "reference_scores",
    "rephrasing_curve",
    "rephrasing_damage",
    "sample_consistency",
    "sample_posix",
    "sample_prompt_sensi_score",
    "sample_sensitivity",
    "score_intervals",
    "sensitivity",
    "spread",
    "uncertainty",
]
