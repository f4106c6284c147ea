"""The cost of asking a model under some prompts about some texts: exact calls, estimated tokens; nothing is sent."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.models.chat import Need, Query, TokenRange, asks_in_chat, tokens_of_answer, tokens_of_query
from psopt.search_spaces import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.models.chat import Price
    from psopt.search_spaces import Prompt


@dataclass(frozen=True, slots=True)
class Grid:
    """Requests for prompts on some texts."""

    # How many requests there are, and how many of their answers are in the cache
    calls: int
    cached: int
    tokens: TokenRange  # of all messages that would be sent
    answer: TokenRange  # of one answer
    # The share of the messages' tokens that the server has read before, judging by its counts so far
    cached_share: float = 0.0

    @classmethod
    def of(cls, model: Any, prompts: Sequence[Prompt], texts: Sequence[str], *, ignoring_cache: bool = False) -> Grid:
        """Count what a model would be asked; `ignoring_cache`: as if nothing had been asked yet."""
        if not asks_in_chat(model):
            distinct = _distinct(Query(render(prompt, text)) for text, prompt in itertools.product(texts, prompts))
            return cls(len(distinct), 0, _total(distinct), tokens_of_answer(prompts[0]))
        queries = model.queries(prompts, texts)
        distinct = _distinct(queries)
        missing = distinct if ignoring_cache else model.engine.missing(queries)
        meter = model.engine.meter
        answer = meter.tokens_out if meter.n else tokens_of_answer(prompts[0])
        n_cached = len(distinct) - len(missing)
        return cls(len(distinct), n_cached, meter.tokens_in(_total(missing)), answer, meter.cached_share)

    def sized(self, calls: int) -> Grid:
        """The same for this many calls, none of them cached."""
        return replace(self, calls=calls, cached=0, tokens=self.tokens.times(calls / max(1, self.sent)))

    @property
    def sent(self) -> int:
        """Requests that must be sent."""
        return self.calls - self.cached

    def grown(self, by: float) -> Grid:
        """The same for an unknown prompt that is longer by this many tokens."""
        of_each = TokenRange(by, by)
        if self.sent:
            of_each = self.tokens.times(1 / self.sent) + of_each
        return replace(self, cached=0, tokens=of_each.times(self.calls))

    def need(self, price: Price | None, times: float = 1.0) -> Need:
        """The cost, with tokens as expected."""
        read = self.tokens.middle * times
        written = self.answer.middle * self.sent * times
        need = Need(round(self.sent * times), round(read + written))
        if price is None:
            return need
        return replace(need, cost=price.of(read, written, read * self.cached_share))

    def spread(self, price: Price | None) -> tuple[float, float]:
        """By what share tokens may be fewer or more than expected, over input and output together."""
        weight_in = weight_out = 1.0
        if price is not None:
            weight_in, weight_out = price.tokens_in, price.tokens_out
        read = self.tokens
        written = self.answer.times(max(1, self.sent))
        total = read.middle * weight_in + written.middle * weight_out
        if not self.sent or not total:
            return 0.2, 0.25  # about what an estimate from a text leaves open (`tokens_of_text`)
        below = math.hypot((read.middle - read.low) * weight_in, (written.middle - written.low) * weight_out)
        above = math.hypot((read.high - read.middle) * weight_in, (written.high - written.middle) * weight_out)
        return below / total, above / total


def _distinct(queries: Iterable[Query]) -> list[Query]:
    return list({(str(query.messages), query.asking): query for query in queries}.values())


def _total(queries: Iterable[Query]) -> TokenRange:
    return sum(map(tokens_of_query, queries), TokenRange())
