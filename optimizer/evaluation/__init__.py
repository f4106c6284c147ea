"""What prompts are compared on, what was predicted there, and what that is worth."""

from psopt.answers import embed_with
from psopt.evaluation._answer_shares import AnswerShares, answer_shares, answered_phrase, lopsidedness, shares_line
from psopt.evaluation._beside_quality import beside_quality_line, intervals_note, note_size
from psopt.evaluation._evaluate import PartialAnswers, assessed, evaluate, no_labels, rephrased_prompts
from psopt.evaluation._evaluator import Evaluator, Split
from psopt.evaluation._grid import Grid
from psopt.evaluation._kept_scores import kept_arrays, read_data, scores_from_dict
from psopt.evaluation._label_rows import LabelRows, consistency_contributions, mean_influences
from psopt.evaluation._meaning import embed
from psopt.evaluation._model_scores import ModelScores
from psopt.evaluation._na_kinds import (
    MOST_NA,
    kind_array,
    na_examples,
    na_kinds,
    na_lines,
    na_note,
    readable_sensitivity,
    rests_on_na,
)
from psopt.evaluation._objectives import (
    OBJECTIVES,
    Objectives,
    objective_gains,
    objective_values,
    objectives_of,
)
from psopt.evaluation._open_scores import ClassDifference, compare_classes
from psopt.evaluation._paired import compare_paired, verdict
from psopt.evaluation._predictions import NA, Predictions
from psopt.evaluation._scores import ClassScores, Scores, quality_of, sensitivity_limit
from psopt.evaluation._several import mean_of, pooled, score

__all__ = [
    "MOST_NA",
    "NA",
    "OBJECTIVES",
    "AnswerShares",
    "ClassDifference",
    "ClassScores",
    "Evaluator",
    "Grid",
    "LabelRows",
    "ModelScores",
    "Objectives",
    "PartialAnswers",
    "Predictions",
    "Scores",
    "Split",
    "answer_shares",
    "answered_phrase",
    "assessed",
    "beside_quality_line",
    "compare_classes",
    "compare_paired",
    "consistency_contributions",
    "evaluate",
    "intervals_note",
    "kept_arrays",
    "kind_array",
    "lopsidedness",
    "mean_influences",
    "mean_of",
    "na_examples",
    "na_kinds",
    "na_lines",
    "na_note",
    "no_labels",
    "note_size",
    "objective_gains",
    "objective_values",
    "objectives_of",
    "pooled",
    "quality_of",
    "read_data",
    "readable_sensitivity",
    "rephrased_prompts",
    "rests_on_na",
    "score",
    "scores_from_dict",
    "sensitivity_limit",
    "shares_line",
    "verdict",
]

embed_with(embed)
