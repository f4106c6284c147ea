"""What a model's tokens come to as its server counts them: read from answers, for estimates of what is to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat._budget import Need
from psopt.models.chat._token_counts import TokenRange, tokens_of_query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._prices import Price

# Answers after which the server's own counts replace what is known of scripts: as many as come before a grid.
_ENOUGH = 20
_SPREAD = 1.1  # texts differ in what a token holds: so far from the mean another prompt may be
# What an answer takes: a bare label is one token to three, {"label": "..."} five to a dozen.
ANSWER = TokenRange(1, 12)


class TokenMeter:
    """Learns from answers how many tokens a model's texts and answers have."""

    def __init__(self, price: Price | None) -> None:
        self.price = price
        self.n = 0
        self.reasoning = 0
        self._expected = TokenRange()
        self._tokens_in = 0
        self._tokens_out = 0
        self._cached_in = 0
        self._answer = ANSWER

    def expect(self, answer: TokenRange) -> None:
        """Take answers to be so long until enough of them have been counted."""
        self._answer = answer

    def learn(self, query: Query, answer: Answer) -> None:
        """Take an answer into account, whose tokens the server has counted."""
        if answer.tokens_in:
            self.n += 1
            self._expected += tokens_of_query(query)
            self._tokens_in += answer.tokens_in
            self._tokens_out += answer.tokens_out
            self._cached_in += answer.cached_in
            self.reasoning += answer.reasoning

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
        """Tokens of an answer."""
        if self.n < _ENOUGH:
            return self._answer
        mean = self._tokens_out / self.n
        return TokenRange(mean / _SPREAD, mean * _SPREAD)

    @property
    def cached_share(self) -> float:
        """The share of the tokens in that the server had read before, as far as it counts them; limits go without."""
        return self._cached_in / self._tokens_in if self.n >= _ENOUGH else 0.0

    def needs(self, queries: Iterable[Query]) -> tuple[Need, Need]:
        """Return what queries will take, at least and at most, as far as that can be told."""
        calls = 0
        expected = TokenRange()
        for query in queries:
            calls += 1
            expected += tokens_of_query(query)
        return self.needs_of(calls, expected)

    def needs_of(self, calls: int, expected: TokenRange) -> tuple[Need, Need]:
        """Return what so many calls take whose messages have so many tokens by their script, at least and at most."""
        read = self.tokens_in(expected)
        written = self.tokens_out.times(calls)
        return self._need(calls, read.low, written.low), self._need(calls, read.high, written.high)

    def _need(self, calls: int, tokens_in: float, tokens_out: float) -> Need:
        cost = self.price.of(tokens_in, tokens_out) if self.price else 0.0
        return Need(calls, round(tokens_in + tokens_out), cost)
