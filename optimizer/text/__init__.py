"""Reading text files, and finding things in texts: phrases, private data, labels, changed lines."""

from psopt.text._files import (
    Node,
    as_path,
    as_text,
    json_node,
    nearest_sibling,
    parse_json,
    read_bytes,
    read_data,
    read_json,
    read_text,
    read_toml,
    yaml_node,
)
from psopt.text._label_mentions import (
    Statements,
    label_mentions,
    label_pattern,
    names_label,
    quoted_cues,
    statements,
)
from psopt.text._phrases import (
    ARTICLES,
    FUNCTION_WORDS,
    LIGHT_WORDS,
    field_and_phrase,
    has_content,
    n_words,
    phrase_of_field,
    phrases_of,
    runs_of,
    shows,
    tells_a_topic,
    topic_words,
    without_markup,
    word_runs,
    words_of,
    written_phrases,
)
from psopt.text._private_text import private_pieces, private_words
from psopt.text._short_answers import answer_words, normal_form, numbers_in, shown_signs, whole_number
from psopt.text._shown_text import (
    counted,
    escaped_markdown,
    fenced,
    latex_table,
    line_changes,
    markdown_table,
    one_line,
    percent,
    shell_line,
    shortened_list,
    unified_diff,
)
