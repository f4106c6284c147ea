"""The cost of asking a model under some prompts about some texts: exact calls, estimated tokens; nothing is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models.chat import Need, Query, TokenRange, asks_in_chat, tokens_of_answer, tokens_of_query
from psopt.search_spaces import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
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
    def of(
        cls,
        model: Any,
        prompts: Sequence[Prompt],
        texts: Sequence[str],
        cells: NDArray[np.bool_] | None = None,
        *,
        ignoring_cache: bool = False,
    ) -> Grid:
        """Count what a model would be asked: everywhere, or where `cells`, (n_texts, n_prompts), is True.

        `ignoring_cache`: as if nothing had been asked yet.
        """
        if asks_in_chat(model):
            queries = model.queries(prompts, texts, cells)
            missing = _distinct(queries) if ignoring_cache else model.engine.missing(queries)
            n_calls = len(_distinct(queries))
            meter = model.engine.meter
            answer = meter.tokens_out if meter.n else tokens_of_answer(prompts[0])
            return cls(n_calls, n_calls - len(missing), meter.tokens_in(_total(missing)), answer, meter.cached_share)
        places = np.argwhere(np.ones((len(texts), len(prompts))) if cells is None else cells)
        queries = [Query(render(prompts[column], texts[row])) for row, column in places]
        unique = _distinct(queries)
        return cls(len(unique), 0, _total(unique), tokens_of_answer(prompts[0]))

    def sized(self, calls: int) -> Grid:
        """The same for this many calls, none of them cached."""
        return replace(self, calls=calls, cached=0, tokens=self.tokens.times(calls / max(1, self.sent)))

    @property
    def sent(self) -> int:
        """Requests that must be sent."""
        return self.calls - self.cached

    def grown(self, by: float) -> Grid:
        """The same for an unknown prompt that is longer by this many tokens."""
        each = self.tokens.times(1 / max(1, self.sent)) if self.sent else TokenRange()
        added = TokenRange(by, by)
        return replace(self, cached=0, tokens=(each + added).times(self.calls))

    def need(self, price: Price | None, times: float = 1.0) -> Need:
        """The cost, with tokens as expected."""
        read = self.tokens.middle * times
        written = self.answer.middle * self.sent * times
        cost = price.of(read, written, read * self.cached_share) if price else 0.0
        return Need(round(self.sent * times), round(read + written), cost)

    def spread(self, price: Price | None) -> tuple[float, float]:
        """By what share tokens may be fewer or more than expected, over input and output together."""
        weight_in = price.tokens_in if price else 1.0
        weight_out = price.tokens_out if price else 1.0
        read = self.tokens
        written = self.answer.times(max(1, self.sent))
        total = read.middle * weight_in + written.middle * weight_out
        if not self.sent or not total:
            return 0.2, 0.25
        below = math.hypot((read.middle - read.low) * weight_in, (written.middle - written.low) * weight_out)
        above = math.hypot((read.high - read.middle) * weight_in, (written.high - written.middle) * weight_out)
        return below / total, above / total


def _distinct(queries: Iterable[Query]) -> list[Query]:
    return list({(str(query.messages), query.asking): query for query in queries}.values())


def _total(queries: Iterable[Query]) -> TokenRange:
    total = TokenRange()
    for query in queries:
        total += tokens_of_query(query)
    return total
