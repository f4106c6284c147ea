"""How long the answers to a prompt are, before any of them is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat._token_counts import TokenRange, tokens_of_text

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt

_JSON = 8  # tokens that structured output puts around a label, at most
# Tokens of what a prompt of the user's own asks for beside the label, fewest and most: a word or a paragraph of
# reasons. A choice, not a measurement: twenty answers of the server's replace it.
_REASONS = (8, 200)


def tokens_of_answer(prompt: Prompt) -> TokenRange:
    """Return about how many tokens an answer takes: a bare label, one in JSON, or one with reasons beside it."""
    ranges = [tokens_of_text(label) for label in prompt.labels]
    low = sum(tokens.low for tokens in ranges) / len(ranges)
    high = sum(tokens.high for tokens in ranges) / len(ranges)
    if prompt.template is None or prompt.answer == "label":
        return TokenRange(max(1.0, low), high + _JSON)
    is_label_alone = len(prompt.template.example.keys) == 1
    fewest, most = (_JSON / 2, 2 * _JSON) if is_label_alone else _REASONS
    return TokenRange(low + fewest, high + most)
