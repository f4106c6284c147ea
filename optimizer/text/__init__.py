"""Finding things in texts: phrases, and labels that are mentioned."""

from psopt.text._label_mentions import LabelMention, label_mentions, names_label
from psopt.text._phrases import ARTICLES, FUNCTION_WORDS, phrases_of, shows, words_of

__all__ = [
    "ARTICLES",
    "FUNCTION_WORDS",
    "LabelMention",
    "label_mentions",
    "names_label",
    "phrases_of",
    "shows",
    "words_of",
]
