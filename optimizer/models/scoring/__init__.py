"""Labels scored by their likelihood: what models that run here have in common, whatever computes them."""

from psopt.models.scoring._chat_template import find_format
from psopt.models.scoring._common_prefix import common_length
from psopt.models.scoring._label_tree import LabelTree, label_tree
from psopt.models.scoring._model import LabelScorer, ScoringModel
from psopt.models.scoring._tokenizer import PromptTokenizer, check_length

__all__ = [
    "LabelScorer",
    "LabelTree",
    "PromptTokenizer",
    "ScoringModel",
    "check_length",
    "common_length",
    "find_format",
    "label_tree",
]
