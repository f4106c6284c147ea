"""Labels scored by their likelihood: what models that run here have in common, whatever computes them."""

from psopt.models.scoring._model import ScoringModel
from psopt.models.scoring._tokenizer import LabelTree, PromptTokenizer, common_length, find_format, label_tree

__all__ = [
    "LabelTree",
    "PromptTokenizer",
    "ScoringModel",
    "common_length",
    "find_format",
    "label_tree",
]
