"""Finding things in texts: phrases, and labels that are mentioned."""

from psopt.text._label_mentions import Statement, read_sentences
from psopt.text._phrases import ARTICLES, FUNCTION_WORDS, phrases_of, shows, words_of

__all__ = [
    "ARTICLES",
    "FUNCTION_WORDS",
    "Statement",
    "phrases_of",
    "read_sentences",
    "shows",
    "words_of",
]
