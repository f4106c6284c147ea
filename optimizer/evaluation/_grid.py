"""The cost of asking a model under some prompts about some texts: exact calls, estimated tokens; nothing is sent."""

from __future__ import annotations

import itertools
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
    tokens: float  # about how many all messages that would be sent have
    answer: float  # about how many one answer has
    # The share of the messages' tokens that the server has read before, judging by its counts so far
    cached_share: float = 0.0

    @classmethod
    def of(cls, model: Any, prompts: Sequence[Prompt], texts: Sequence[str], *, ignoring_cache: bool = False) -> Grid:
        """Count what a model would be asked; `ignoring_cache`: as if nothing had been asked yet."""
        if not asks_in_chat(model):
            distinct = _distinct(Query(render(prompt, text)) for text, prompt in itertools.product(texts, prompts))
            return cls(len(distinct), 0, _total(distinct).middle, tokens_of_answer(prompts[0]).middle)
        queries = model.queries(prompts, texts)
        distinct = _distinct(queries)
        missing = distinct if ignoring_cache else model.engine.missing(queries)
        meter = model.engine.meter
        answer = meter.tokens_out if meter.n else tokens_of_answer(prompts[0])
        n_cached = len(distinct) - len(missing)
        tokens = meter.tokens_in(_total(missing)).middle
        return cls(len(distinct), n_cached, tokens, answer.middle, meter.cached_share)

    def sized(self, calls: int) -> Grid:
        """The same for this many calls, none of them cached."""
        return replace(self, calls=calls, cached=0, tokens=self.tokens * calls / max(1, self.sent))

    @property
    def sent(self) -> int:
        """Requests that must be sent."""
        return self.calls - self.cached

    def need(self, price: Price | None, times: float = 1, longer: float = 0) -> Need:
        """What is expected to be sent, so many `times`, with each prompt `longer` by some tokens."""
        read = (self.tokens + longer * self.sent) * times
        written = self.answer * self.sent * times
        cost = price.of(read, written, read * self.cached_share) if price else 0.0
        return Need(round(self.sent * times), round(read + written), cost)


def _distinct(queries: Iterable[Query]) -> list[Query]:
    return list({(str(query.messages), query.asking): query for query in queries}.values())


def _total(queries: Iterable[Query]) -> TokenRange:
    return sum(map(tokens_of_query, queries), TokenRange())
