"""How long the answers to a prompt are, before any of them is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat._token_counts import TokenRange, tokens_of_text
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt

_JSON = 8  # tokens that structured output puts around a label, at most
# Tokens of what a prompt of the user's own asks for beside the label, fewest and most: a word or a paragraph of
# reasons. A choice, not a measurement: twenty answers of the server's replace it.
_REASONS = (8, 200)
# Of answers that are no single label; a choice too.
_OPEN = {
    LABELS: TokenRange(3.0, 40.0),
    NUMBER: TokenRange(1.0, 20.0),
    TEXT: TokenRange(2.0, 100.0),
    JSON: TokenRange(10.0, 400.0),
    FREE: TokenRange(20.0, 500.0),
}


def tokens_of_answer(prompt: Prompt) -> TokenRange:
    """Return about how many tokens an answer takes: a bare label, one in JSON, or one with reasons beside it."""
    if prompt.asks != LABEL:
        return _OPEN[prompt.asks]
    ranges = [tokens_of_text(label) for label in prompt.labels]
    low = sum(tokens.low for tokens in ranges) / len(ranges)
    high = sum(tokens.high for tokens in ranges) / len(ranges)
    if prompt.template is None or prompt.answer == "label":
        return TokenRange(max(1.0, low), high + _JSON)
    is_label_alone = len(prompt.template.example.keys) == 1
    fewest, most = (_JSON / 2, 2 * _JSON) if is_label_alone else _REASONS
    return TokenRange(low + fewest, high + most)
