"""psopt.metrics."""

from ._bootstrap import Interval, bootstrap_ci
from ._consistency import consistency
from ._counts import hard_predictions, prediction_counts, prediction_distribution
from ._f1 import class_f1, confusion_matrix, macro_f1, micro_f1, na_rate
from ._pairwise import pairwise_consistency
from ._sample_consistency import sample_consistency
from ._sensitivity import sample_sensitivity, sensitive_samples, sensitivity

__all__ = [
    "Interval",
    "bootstrap_ci",
    "class_f1",
    "confusion_matrix",
    "consistency",
    "hard_predictions",
    "macro_f1",
    "micro_f1",
    "na_rate",
    "pairwise_consistency",
    "prediction_counts",
    "prediction_distribution",
    "sample_consistency",
    "sample_sensitivity",
    "sensitive_samples",
    "sensitivity",
]
