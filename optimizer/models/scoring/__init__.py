"""Labels scored by their likelihood: what models that run here have in common, whatever computes them."""

from psopt.models.scoring._chat_template import find_format
from psopt.models.scoring._common_prefix import common_length
from psopt.models.scoring._model import ScoringModel
from psopt.models.scoring._tokenizer import LabelTree, PromptTokenizer, check_length, label_tree

__all__ = [
    "LabelTree",
    "PromptTokenizer",
    "ScoringModel",
    "check_length",
    "common_length",
    "find_format",
    "label_tree",
]
