"""Task models: what answers a prompt."""

from psopt.models._answer_cache import CACHE_FILES, AnswerCache, answer_key, cache_folder
from psopt.models._assessment import Assessment, Assessor
from psopt.models._base import (
    NOT_ASKED,
    Capabilities,
    Model,
    OnProgress,
    can,
    capabilities_of,
    evenly_spread,
    keeps_answers,
    n_computed,
    n_unkept,
    predict_cells,
    predict_proba_cells,
)
from psopt.models._calibrated import (
    MOST_LABELLED,
    PRIOR_TEXTS,
    REWORDED_TEXTS,
    CalibratedModel,
    LabelledTexts,
    calibrated_as,
    calibrates,
    longest_of,
)
from psopt.models._changed_texts import ChangedTextsModel
from psopt.models._registry import NAMES, ModelProvider, can_write, load_model, name_of_model, scores_labels
from psopt.models.minilm import minilm_lm

__all__ = ["AnswerCache", "Capabilities", "Model", "ModelProvider", "OnProgress", "can", "load_model", "minilm_lm"]
