"""How many tokens a text takes: an upper bound, for limits, and a range by script, for estimates."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.models.chat._budget import Need
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from psopt.models.chat._budget import Price
    from psopt.models.chat._client import Query
    from psopt.search_spaces import Prompt

# What a server itself may add to a conversation: marks around each message (three or four tokens at OpenAI), the date
# and a default system text in the chat templates of Llama 3 and Qwen (20 to 40).
_TEMPLATE = 128
_TEMPLATE_RANGE = (0, 12)

# Characters per token, fewest and most, by script. Measured on two sentences each (a task and a customer's mail) with
# cl100k_base, o200k_base and Claude's published vocabulary, all as in litellm; rounded outwards. English prose has 5.0
# in all three, lists of labels and numbers 3, JSON 2.3; prompts are mostly prose.
_ENGLISH = (3.3, 5.0)
_SCRIPTS = {
    "[\u0080-\u036f\u1e00-\u1eff]": (0.5, 1.6),  # Latin with other letters
    "[\u0370-\u03ff\u1f00-\u1fff]": (0.85, 2.8),  # Greek
    "[\u0400-\u052f]": (1.7, 3.6),  # Cyrillic
    "[\u0590-\u05ff]": (1.0, 2.8),  # Hebrew
    "[\u0600-\u06ff\u0750-\u077f]": (1.0, 3.3),  # Arabic
    "[\u0900-\u0dff]": (0.85, 3.5),  # Indic
    "[\u0e00-\u109f]": (0.5, 2.8),  # Thai and its neighbours
    "[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]": (0.9, 1.6),  # Han and kana
    "[\u1100-\u11ff\uac00-\ud7af]": (0.9, 1.8),  # Hangul
}
_FEW_ALIKE = 5  # prompts with the same count: fewer may have it by chance
_APART = 1.2  # times: how much longer the longest of them must be than the shortest
_LONG_ENOUGH = 100  # tokens: for shorter prompts the estimate is too rough
_FAR_BELOW = 0.6  # times the fewest tokens that a prompt can have: a count below that is no error of the estimate
_OTHERS = (0.3, 1.5)  # emoji and rare scripts: up to three or four bytes each, at worst one token per byte


@dataclass(frozen=True, slots=True)
class TokenRange:
    """A rough number of tokens: few and many. It can be added and multiplied."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: TokenRange) -> TokenRange:
        return TokenRange(self.low + other.low, self.high + other.high)

    @property
    def middle(self) -> float:
        """The geometric mean of few and many: as many times more than few as it is less than many."""
        return math.sqrt(self.low * self.high)

    def times(self, n: float) -> TokenRange:
        """The range, `n` times."""
        return TokenRange(self.low * n, self.high * n)


_JSON = 8  # most tokens that structured output puts around a label
# Fewest and most tokens of what a user's own prompt asks for besides the label: a word or a paragraph of reasons.
# Chosen, not measured: after twenty answers the server's counts replace it.
_REASONS = TokenRange(8, 200)
# For answers that are not a single label; also chosen.
_OPEN = {
    LABELS: TokenRange(3.0, 40.0),
    NUMBER: TokenRange(1.0, 20.0),
    TEXT: TokenRange(2.0, 100.0),
    JSON: TokenRange(10.0, 400.0),
    FREE: TokenRange(20.0, 500.0),
}


def tokens_of_text(text: str) -> TokenRange:
    """Return about how many tokens a text takes, whatever the model.

    >>> tokens = tokens_of_text("What is the capital of Peru?")
    >>> round(tokens.low, 1), round(tokens.high, 1)
    (5.6, 8.5)
    """
    n_english = len(text)
    total = TokenRange()
    if not text.isascii():
        n_others = sum(character > "\x7f" for character in text)
        n_english -= n_others
        for letters, (few, many) in _SCRIPTS.items():
            n = len(re.findall(letters, text))
            n_others -= n
            total += TokenRange(n / many, n / few)
        total += TokenRange(n_others / _OTHERS[1], n_others / _OTHERS[0])
    return total + TokenRange(n_english / _ENGLISH[1], n_english / _ENGLISH[0])


def tokens_of_query(query: Query) -> TokenRange:
    """Return about how many tokens a request's messages take, and the user's response format."""
    texts = [*(message["content"] for message in query.messages), query.response_format]
    return sum(map(tokens_of_text, texts), TokenRange(*_TEMPLATE_RANGE))


def most_tokens_in(query: Query) -> int:
    """Return the most tokens that a request's messages can take, whatever the model.

    No token is less than a byte of text, in byte-level vocabularies and in those that fall back to bytes. Labels count
    twice: they may also be in a schema next to the messages, where the user's response format is.
    """
    schema = json.dumps(list(query.labels), ensure_ascii=False)
    texts = [*(message["content"] for message in query.messages), schema, schema, query.response_format]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + _TEMPLATE


def most_tokens_out(request: Mapping[str, Any], default: int) -> int:
    """Return the most tokens that a request allows its answer, over all alternatives that it asks for."""
    limits = [request.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")]
    stated = [limit for limit in limits if isinstance(limit, int)]
    return max(stated, default=default) * int(request.get("n") or 1)


def unread_line(counted: Iterable[tuple[float, int]]) -> str:
    """Say that a server does not read prompts completely, by its own counts; empty where nothing shows that.

    It may cut prompts of different lengths to the same count, or count far fewer than a prompt can have. `counted`
    holds for each prompt the fewest tokens that it can have, and the server's count; 0 where it gives none.

    >>> unread_line([(2600.0 + 200 * number, 2048) for number in range(5)]).partition(":")[0]
    'the server counts 2,048 tokens for 5 prompts that have at least 2,600 to 3,400'
    >>> unread_line([(300.0, 350), (260.0, 290)]), unread_line([(44.0 + number, 100) for number in range(20)])
    ('', '')
    """
    counts = [(fewest, count) for fewest, count in counted if count]
    most = max((count for _, count in counts), default=0)
    shown = f"{most:,}"
    lengths = [fewest for fewest, count in counts if count == most]
    is_short = max(lengths, default=0) <= most  # a constant count that no prompt exceeds says nothing
    if len(lengths) < _FEW_ALIKE or max(lengths) < _APART * min(lengths) or is_short:  # not cut to a fixed number
        shown = f"at most {most:,}"
        lengths = [fewest for fewest, count in counts if fewest >= _LONG_ENOUGH and count < fewest * _FAR_BELOW]
    if not lengths:
        return ""
    return (
        f"the server counts {shown} tokens for {len(lengths)} prompts that have at least {min(lengths):,.0f} to "
        f"{max(lengths):,.0f}: it mostly drops the front, with the instructions, so that S and F1 say nothing about "
        "them; give the model more context (num_ctx, --ctx-size, --max-model-len), or shorten the prompt"
    )


def tokens_of_answer(prompt: Prompt) -> TokenRange:
    """Return about how many tokens an answer takes: a bare label, one in JSON, or one with reasons."""
    if prompt.asks != LABEL:
        return _OPEN[prompt.asks]
    ranges = [tokens_of_text(label) for label in prompt.labels]
    low = sum(tokens.low for tokens in ranges) / len(ranges)
    high = sum(tokens.high for tokens in ranges) / len(ranges)
    if prompt.template is None or prompt.answer == "label":
        return TokenRange(max(1.0, low), high + _JSON)
    if len(prompt.template.example.keys) == 1:  # the label alone
        return TokenRange(low + _JSON / 2, high + 2 * _JSON)
    return TokenRange(low, high) + _REASONS


# Answers after which the server's own counts replace the estimates by script: as many as come before a grid.
_ENOUGH = 20
_SPREAD = 1.1  # texts differ in characters per token: another prompt may be this far from the mean
# What an answer takes: a bare label is one token to three, {"label": "..."} five to a dozen.
ANSWER = TokenRange(1, 12)


class TokenMeter:
    """Learns from answers how many tokens a model's texts and answers have."""

    def __init__(self, price: Price) -> None:
        self.price = price
        self.n = 0
        self._expected = TokenRange()
        self._tokens_in = self._tokens_out = self._cached_in = 0
        self._answer = ANSWER

    def expect(self, answer: TokenRange) -> None:
        """Assume this length of answers until enough are counted."""
        self._answer = answer

    def learn(self, query: Query, tokens_in: int, tokens_out: int, cached_in: int = 0) -> None:
        """Take an answer into account if its tokens are counted, by the server or as the most that it can have."""
        if tokens_in:
            self.n += 1
            self._expected += tokens_of_query(query)
            self._tokens_in += tokens_in
            self._tokens_out += tokens_out
            self._cached_in += cached_in

    def tokens_in(self, expected: TokenRange) -> TokenRange:
        """Narrow a range of tokens to what the server's counts so far make likely."""
        if self.n < _ENOUGH:
            return expected
        counted_by_low = self._tokens_in / self._expected.low
        counted_by_high = self._tokens_in / self._expected.high
        middle = (expected.low * counted_by_low + expected.high * counted_by_high) / 2
        return TokenRange(middle / _SPREAD, middle * _SPREAD)

    @property
    def tokens_out(self) -> TokenRange:
        if self.n < _ENOUGH:
            return self._answer
        mean = self._tokens_out / self.n
        return TokenRange(mean / _SPREAD, mean * _SPREAD)

    @property
    def cached_share(self) -> float:
        """The share of input tokens that the server had cached, as far as it counts them; limits ignore it."""
        return self._cached_in / self._tokens_in if self.n >= _ENOUGH else 0.0

    def most(self, queries: Iterable[Query]) -> Need:
        """Return an estimate of what queries will take at most."""
        ranges = [tokens_of_query(query) for query in queries]
        return self.most_of(len(ranges), sum(ranges, TokenRange()))

    def most_of(self, calls: int, expected: TokenRange) -> Need:
        """Return what calls take at most, if their messages have `expected` tokens by script."""
        read, written = self.tokens_in(expected).high, self.tokens_out.high * calls
        return Need(calls, round(read + written), self.price.of(read, written))
