"""The one place that counts, caches, limits and retries: requests in, answers out, whatever the client."""

from __future__ import annotations

import asyncio
import random
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from psopt.errors import AnswersMissingError, InputError
from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models.chat._client import Answer, FaultError, UnsupportedError
from psopt.models.chat._empty_answers import EmptyAnswers
from psopt.models.chat._limits import Concurrency, Pace
from psopt.models.chat._loop import run, run_soon
from psopt.models.chat._prices import price_of, user_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psopt.models.chat._budget import Budget
    from psopt.models.chat._client import ChatClient, Query
    from psopt.models.chat._options import LmOptions
    from psopt.prompts import Messages

_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_ASKED = 0.25, 30.0, 120.0
_SETTLING = 0.01
_TRIES_UNREACHABLE = 4
_TOKENS_A_CHARACTER = 0.5  # an upper bound for prices: text has about .25, scripts without spaces up to 1


class Engine:
    """Answers queries through a client, each different one once in a cache's life.

    An answer is in the cache before it is used. Calls that fail in passing are sent again, later and later; what fails
    for good fails the whole call, so that nothing is ever scored from a part of the answers. What was answered is kept.

    Parameters
    ----------
    client : ChatClient
    cache : AnswerCache
    budget : Budget
        Shared by all engines of a run.
    options : LmOptions
    """

    def __init__(self, client: ChatClient, cache: AnswerCache, budget: Budget, options: LmOptions) -> None:
        self.client, self.budget, self._options = client, budget, options
        self._cache = cache if client.endpoint is not None else AnswerCache(None)
        self._price = price_of(client.name)
        if budget.max_cost is not None and self._price is None:
            raise InputError(
                f"--max-cost needs the price of {client.name}: add a line"
                f' "{client.name}" = {{ in = .., out = .. }} (USD for a million tokens) to {user_prices()}'
            )
        self._concurrency, self._pace = Concurrency(options.concurrency), Pace(options.requests_per_minute)
        self._in_flight: dict[bytes, asyncio.Future[Answer]] = {}
        self._jitter = random.Random(0)  # noqa: S311  # spreads retries, nothing secret
        self._reached = False
        self._empty = EmptyAnswers()
        self._closing = weakref.finalize(self, _close, client)
        for feature in client.features:
            if self._cache.get(self._feature_key(feature)):
                client.without(feature)

    def answers(self, queries: Sequence[Query], on_progress: Callable[[int, int], None] | None = None) -> list[Answer]:
        """Answer queries, in their order; equal ones get one answer.

        Raises
        ------
        AnswersMissingError
            If a call failed again and again.
        ModelRefusedError
            If the server will not answer at all.
        BudgetReachedError
            If a limit would be passed. In all three cases the calls under way are waited for and their answers kept.
        """
        keys = [self._key(query) for query in queries]
        found = {key: Answer.from_dict(value) for key, value in self._cache.get_many(keys).items()}
        missing = {key: query for key, query in zip(keys, queries, strict=True) if key not in found}
        self.budget.usage.cached += len(queries) - len(missing)
        if missing:
            progress = _Progress(len(queries), len(queries) - len(missing), on_progress)
            asked = run(self._ask_all(list(missing.values()), progress))
            found |= dict(zip(missing, asked, strict=True))
        return [found[key] for key in keys]

    def n_missing(self, queries: Iterable[Query]) -> int:
        """How many requests these queries would take."""
        keys = {self._key(query) for query in queries}
        return len(keys) - len(self._cache.get_many(keys))

    def close(self) -> None:
        """Close the client's connections; this also happens by itself when the engine is no longer used."""
        self._closing()

    def _key(self, query: Query) -> bytes:
        which = {"sample": query.sample} if query.sample else {}
        return answer_key(endpoint=self.client.endpoint, request=self.client.request(query), **which)

    def _feature_key(self, feature: str) -> bytes:
        return answer_key(endpoint=self.client.endpoint, model=self.client.name, unsupported=feature)

    async def _ask_all(self, queries: list[Query], progress: _Progress) -> list[Answer]:
        """Let some workers take the queries in their order; after a failure the calls under way are the last."""
        answers: dict[int, Answer] = {}
        waiting = deque(enumerate(queries))

        async def work() -> None:
            while waiting:
                index, query = waiting.popleft()
                answers[index] = await self._answer(query)
                progress.one_more()

        workers = [asyncio.ensure_future(work()) for _ in range(min(self._options.concurrency, len(queries)))]
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            waiting.clear()
            await asyncio.wait(workers, timeout=self._options.timeout)
        finally:
            for worker in workers:
                worker.cancel()
            outcomes = await asyncio.gather(*workers, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        return [answers[index] for index in range(len(queries))]

    async def _answer(self, query: Query) -> Answer:
        """Answer one query: by another call for the same that is under way, else by asking."""
        key = self._key(query)
        while key in self._in_flight:
            other = self._in_flight[key]
            await asyncio.wait([other])
            if not other.cancelled():
                self.budget.usage.cached += 1
                return other.result()
        asking = self._in_flight[key] = asyncio.ensure_future(self._ask(query))
        try:
            return await asking
        finally:
            del self._in_flight[key]

    async def _ask(self, query: Query) -> Answer:
        """Ask until there is an answer, and keep it."""
        tries = n_empty = 0
        while True:
            request = self.client.request(query)
            try:
                answer = await self._send(query, request, n_empty)
            except UnsupportedError as error:
                self._leave_out(error.feature)
            except FaultError as fault:
                tries += 1
                n_empty += fault.empty is not None
                self.budget.usage.failed += 1
                never = fault.unreachable or fault.unreadable
                if tries > self._options.retries or (never and tries >= self._patience):
                    raise AnswersMissingError(
                        f"{self.client.name}: a call failed {tries} times, at last with: {fault}"
                    ) from None
                await asyncio.sleep(self._wait(fault, tries))
            else:
                self._cache.put(self._key(query), answer.to_dict())
                return answer

    @property
    def _patience(self) -> int:
        """A server that never answered is probably not there; one that did will come back."""
        return self._options.retries + 1 if self._reached else _TRIES_UNREACHABLE

    async def _send(self, query: Query, request: dict[str, Any], n_empty: int) -> Answer:
        """Send once, within the limits; `n_empty` is how often the answer to the same was empty."""
        tokens = int(_TOKENS_A_CHARACTER * _n_characters(query.messages)) + self._options.max_tokens
        cost = self._price.of(tokens - self._options.max_tokens, self._options.max_tokens) if self._price else 0.0
        while not self.budget.reserve(tokens, cost):
            await asyncio.sleep(_SETTLING)
        try:
            await self._pace.start()
            since = await self._concurrency.acquire()
            try:
                answer = await self.client.send(request)
                self._concurrency.answered()
            except FaultError as fault:
                if fault.overloaded:
                    self._concurrency.overloaded(since, fault.wait)
                if fault.empty is None or not self._empty.is_final(n_empty):
                    raise
                answer = fault.empty
            finally:
                self._concurrency.release()
        finally:
            self.budget.release(tokens, cost)
        self._reached = True
        self._empty.answered(answer.text, n_empty)
        self._count(answer)
        return answer

    def _count(self, answer: Answer) -> None:
        usage = self.budget.usage
        usage.made += 1
        usage.tokens_in += answer.tokens_in
        usage.tokens_out += answer.tokens_out
        usage.cost += self._price.of(answer.tokens_in, answer.tokens_out) if self._price else 0.0

    def _leave_out(self, feature: str) -> None:
        """Remember that this server does not know a feature, for all runs."""
        self.client.without(feature)
        self._cache.put(self._feature_key(feature), value=True)

    def _wait(self, fault: FaultError, tries: int) -> float:
        """Exponential backoff with jitter, or as long as the server asked; an empty answer asks for no patience."""
        if fault.empty is not None:
            return _FIRST_WAIT
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (tries - 1)) * self._jitter.uniform(0.5, 1.0)
        return max(backoff, min(fault.wait or 0.0, _LONGEST_ASKED))


def _close(client: ChatClient) -> None:
    run_soon(client.close())  # the garbage collector may call this in the loop's own thread, which must not wait


def _n_characters(messages: Messages) -> int:
    return sum(len(message["content"]) for message in messages)


class _Progress:
    """Counts answers for whoever watches."""

    def __init__(self, total: int, done: int, on_progress: Callable[[int, int], None] | None) -> None:
        self._total, self._done, self._tell = total, done, on_progress

    def one_more(self) -> None:
        self._done += 1
        if self._tell is not None:
            self._tell(self._done, self._total)
