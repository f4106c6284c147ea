"""Finding things in texts: phrases, labels that are mentioned, lines that have changed."""

from psopt.text._label_mentions import LabelMention, label_mentions, names_label
from psopt.text._line_changes import line_changes, unified_diff
from psopt.text._phrases import (
    ARTICLES,
    FUNCTION_WORDS,
    field_and_phrase,
    phrase_of_field,
    phrases_of,
    shows,
    words_of,
)
from psopt.text._statements import Statements, statements

__all__ = [
    "ARTICLES",
    "FUNCTION_WORDS",
    "LabelMention",
    "Statements",
    "field_and_phrase",
    "label_mentions",
    "line_changes",
    "names_label",
    "phrase_of_field",
    "phrases_of",
    "shows",
    "statements",
    "unified_diff",
    "words_of",
]
