"""Labels scored by their likelihood: what local models have in common, whatever library runs them."""

from psopt.models.scoring._model import ScoringModel
from psopt.models.scoring._tokenizer import LabelTree, PromptTokenizer, common_length, label_tree
