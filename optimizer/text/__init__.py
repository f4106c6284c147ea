"""Reading files of text, and finding things in texts: phrases, what is private, labels, lines that have changed."""

from psopt.text._document import Node, json_node, yaml_node
from psopt.text._files import as_text, parse_json, read_bytes, read_json, read_text, read_toml
from psopt.text._label_mentions import LabelMention, label_mentions, names_label, quoted_cues
from psopt.text._line_changes import line_changes, unified_diff
from psopt.text._markup import escaped_markdown, fenced, latex_table, markdown_table
from psopt.text._normal_form import answer_words, normal_form, shown_signs
from psopt.text._numbers import numbers_in, whole_number
from psopt.text._one_line import one_line, shell_line
from psopt.text._phrases import (
    ARTICLES,
    FUNCTION_WORDS,
    field_and_phrase,
    phrase_of_field,
    phrases_of,
    shows,
    without_markup,
    words_of,
    written_phrases,
)
from psopt.text._private_text import private_pieces, private_words
from psopt.text._statements import Statements, statements
from psopt.text._topic_words import LIGHT_WORDS, tells_a_topic, topic_words

__all__ = [
    "ARTICLES",
    "FUNCTION_WORDS",
    "LIGHT_WORDS",
    "LabelMention",
    "Node",
    "Statements",
    "answer_words",
    "as_text",
    "escaped_markdown",
    "fenced",
    "field_and_phrase",
    "json_node",
    "label_mentions",
    "latex_table",
    "line_changes",
    "markdown_table",
    "names_label",
    "normal_form",
    "numbers_in",
    "one_line",
    "parse_json",
    "phrase_of_field",
    "phrases_of",
    "private_pieces",
    "private_words",
    "quoted_cues",
    "read_bytes",
    "read_json",
    "read_text",
    "read_toml",
    "shell_line",
    "shown_signs",
    "shows",
    "statements",
    "tells_a_topic",
    "topic_words",
    "unified_diff",
    "whole_number",
    "without_markup",
    "words_of",
    "written_phrases",
    "yaml_node",
]
