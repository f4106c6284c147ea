"""Finding things in texts: phrases, and labels that are mentioned."""

from psopt.text._label_mentions import LabelMention, label_mentions, names_label
from psopt.text._phrases import (
    ARTICLES,
    FUNCTION_WORDS,
    field_and_phrase,
    phrase_of_field,
    phrases_of,
    shows,
    words_of,
)

__all__ = [
    "ARTICLES",
    "FUNCTION_WORDS",
    "LabelMention",
    "field_and_phrase",
    "label_mentions",
    "names_label",
    "phrase_of_field",
    "phrases_of",
    "shows",
    "words_of",
]
