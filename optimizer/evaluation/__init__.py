"""What prompts are compared on, what a model predicted there, and how good that is."""

from psopt.evaluation._answer_shares import (
    AnswerShares,
    answer_shares,
    beside_quality_line,
    lopsidedness,
    shares_line,
    shares_lines,
    why_worthless,
)
from psopt.evaluation._drift import N_PROBED, Reruns, Shift, compare_reruns, flipped, no_reruns, shifts
from psopt.evaluation._evaluator import (
    Evaluator,
    PartialAnswers,
    Split,
    assessed,
    evaluate,
    evaluate_prompts,
    numbered,
    rephrased_prompts,
)
from psopt.evaluation._label_rows import consistency_contributions, mean_influences
from psopt.evaluation._na_kinds import MOST_NA, na_examples, na_kinds, na_lines, na_note, readable_sensitivity
from psopt.evaluation._objectives import (
    OBJECTIVES,
    Objectives,
    compare_paired,
    holm,
    mean_of,
    measure_names,
    objective_gains,
    objective_values,
    objectives_of,
    sign_of,
    verdict,
)
from psopt.evaluation._open_scores import compare_classes
from psopt.evaluation._predictions import NA, Predictions
from psopt.evaluation._scores import (
    ClassScores,
    FamilyScores,
    Scores,
    family_scores,
    quality_of,
    scores_from_dict,
    sensitivity_limit,
)
from psopt.evaluation._several import intervals_note, lone_classes_line, note_size, pooled, score
from psopt.evaluation._steadiness import (
    Kept,
    fewest_kept,
    is_steady,
    kept_from,
    level_for_error,
    level_for_rate,
    most_error,
    risk_coverage,
    sequence,
    vote_is_right,
    votes,
)
