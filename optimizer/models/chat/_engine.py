"""The one place that counts, caches, limits and retries: requests in, answers out, whatever the client."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models.chat._client import Answer
from psopt.models.chat._empty_answers import EmptyAnswers
from psopt.models.chat._errors import TransientError, UnsupportedError
from psopt.models.chat._event_loop import run, run_soon
from psopt.models.chat._negotiation import Negotiation
from psopt.models.chat._prices import check_price, price_of
from psopt.models.chat._rate_limiter import RateLimiter
from psopt.models.chat._request_scheduler import RequestScheduler
from psopt.models.chat._retry_policy import RetryPolicy, Tries
from psopt.models.chat._token_counts import most_tokens_in, most_tokens_out
from psopt.models.chat._token_meter import TokenMeter
from psopt.models.chat._worker_pool import Batch, Progress, Worker, run_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._budget import Budget
    from psopt.models.chat._client import ChatClient, Query
    from psopt.models.chat._config import LMConfig

_SETTLING = 0.01  # seconds between two looks whether reservations of the budget have been settled
_WORKERS_A_PLACE = 4  # three that wait for their next try to one that is sent; set by hand
_MOST_FIRST = 5  # texts asked alone, one after another, until one shows what the server takes


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
    options : LMConfig
    """

    def __init__(self, client: ChatClient, cache: AnswerCache, budget: Budget, options: LMConfig) -> None:
        self.client = client
        self.budget = budget
        self._options = options
        self._cache = cache if client.endpoint is not None else AnswerCache(None)
        self._price = price_of(client.name)
        self.meter = TokenMeter(self._price)
        if budget.max_cost is not None:
            check_price(client.name)
        self._scheduler = RequestScheduler(client.name, options)
        self._retries = RetryPolicy(client.name, options.retries, self._scheduler)
        self._rate_limiter = RateLimiter(options.requests_per_minute)
        self._in_flight: dict[bytes, asyncio.Future[Answer]] = {}
        self._empty = EmptyAnswers()
        self._closing = weakref.finalize(self, _close, client)
        self._negotiation = Negotiation(client, self._cache, anew=options.renegotiate)

    @property
    def options(self) -> LMConfig:
        """How the model is asked."""
        return self._options

    def answers(
        self,
        queries: Sequence[Query],
        on_progress: Callable[[int, int], None] | None = None,
        monitor: AnswerMonitor[bytes] | None = None,
    ) -> list[Answer]:
        """Answer queries, in their order; equal ones get one answer. A monitor sees each, and may stop the work.

        Raises
        ------
        AnswersMissingError
            If a call failed again and again.
        ModelRefusedError
            If the server will not answer at all.
        BudgetReachedError
            If a limit would be passed. In all three cases the calls under way are waited for and their answers kept.
        """
        n_asked = 0
        keys, answers = self._keys_and_answers(queries)
        missing = {key: query for key, query in zip(keys, queries, strict=True) if key not in answers}
        if missing and self.budget.in_whole:
            self.budget.check_room(self.meter.needs(missing.values())[1])
        if missing and not answers:
            self._scheduler.progress = Progress(len(queries), 0, None).__str__
            n_asked = run(self._find_out(queries[:_MOST_FIRST]))
            keys, answers = self._keys_and_answers(queries)
            missing = {key: query for key, query in zip(keys, queries, strict=True) if key not in answers}
        self.budget.usage.cached += len(queries) - len(missing) - n_asked
        if monitor is not None:
            monitor.begin(len(answers) + len(missing), answers.values())
        progress = Progress(len(queries), len(queries) - len(missing), on_progress)
        parts = [[*missing]] if missing else []
        for part in parts if monitor is None else monitor.parts([*missing]):
            asked = run(self._ask_all([missing[key] for key in part], progress, monitor))
            answers |= dict(zip(part, asked, strict=True))
        return [answers[key] for key in keys]

    def kept(self, queries: Sequence[Query]) -> list[Answer | None]:
        """Return the answers that are in the cache, in the queries' order; nothing is asked."""
        keys = [self._key(query) for query in queries]
        kept = self._cache.get_many(keys)
        return [Answer.from_dict(kept[key]) if key in kept else None for key in keys]

    def missing(self, queries: Iterable[Query]) -> list[Query]:
        """Those queries that would be sent, each once; what is known of the others teaches the meter."""
        by_key = {self._key(query): query for query in queries}
        kept = self._cache.get_many(by_key)
        for key, value in kept.items():
            self.meter.learn(by_key[key], Answer.from_dict(value))
        return [query for key, query in by_key.items() if key not in kept]

    def close(self) -> None:
        """Close the client's connections; this also happens by itself when the engine is no longer used."""
        self._closing()

    def _key(self, query: Query) -> bytes:
        # Named only where it is not 0: so keys are those of caches from before there were samples.
        which = {"sample": query.sample} if query.sample else {}
        return answer_key(endpoint=self.client.endpoint, request=self.client.request(query), **which)

    def _keys_and_answers(self, queries: Sequence[Query]) -> tuple[list[bytes], dict[bytes, Answer]]:
        """The queries' keys, and the answers that are in the cache."""
        keys = [self._key(query) for query in queries]
        return keys, {key: Answer.from_dict(value) for key, value in self._cache.get_many(keys).items()}

    async def _find_out(self, queries: Sequence[Query]) -> int:
        """Answer a first query alone where it isn't known what the server takes; return how many were answered.

        An answer in the cache was taken by the server as its request is written now: that needs no asking. A text that
        is refused for good says nothing of others.
        """
        self.client.prepare()
        negotiation = self._negotiation
        n_before = self.budget.usage.made
        async with negotiation.lock:
            negotiation.recall()
            for query in queries:
                if negotiation.is_settled(query):
                    return 0
                answer = await negotiation.find_out(query, self._kept_or_asked)
                if not answer.unanswered:
                    negotiation.answered(query)
                    break
            return min(len(queries), self.budget.usage.made - n_before)

    async def _kept_or_asked(self, query: Query) -> Answer:
        kept = self._cache.get(self._key(query))
        return Answer.from_dict(kept) if kept is not None else await self._answer(query, Worker(Batch()))

    async def _ask_all(
        self, queries: list[Query], progress: Progress, monitor: AnswerMonitor[bytes] | None
    ) -> list[Answer]:
        """Let some workers take the queries in their order; after a failure the calls under way are the last."""
        self.client.prepare()
        answers: dict[int, Answer] = {}
        self._scheduler.progress = progress.__str__

        async def ask(index: int, worker: Worker) -> None:
            answers[index] = await self._answer(queries[index], worker)
            progress.count_answer()
            if monitor is not None:
                monitor.observe(answers[index])

        n_places = self._options.concurrency
        await run_workers(len(queries), ask, n_places, _WORKERS_A_PLACE * n_places, self._options.timeout)
        return [answers[index] for index in range(len(queries))]

    async def _answer(self, query: Query, worker: Worker) -> Answer:
        """Answer one query: by another call for the same that is under way, else by asking."""
        key = self._key(query)
        while key in self._in_flight:
            same_call = self._in_flight[key]
            await asyncio.wait([same_call])
            if not same_call.cancelled():
                self.budget.usage.cached += 1
                return same_call.result()
        asking = self._in_flight[key] = asyncio.ensure_future(self._ask(query, worker))
        try:
            return await asking
        finally:
            del self._in_flight[key]

    async def _ask(self, query: Query, worker: Worker) -> Answer:
        """Ask until there is an answer, and keep it."""
        tries = Tries()
        while True:
            try:
                answer = await self._send(query, worker, tries)
            except UnsupportedError as error:
                self._negotiation.refused(error.feature)
                if (kept := self._cache.get(self._key(query))) is not None:  # asked so before
                    return Answer.from_dict(kept)
            except PsoptError:
                worker.batch.is_over = True  # at once: the place that this leaves is the next one's
                raise
            except TransientError as failure:
                tries.count(failure)
                self.budget.usage.failed += 1
                await asyncio.sleep(self._retries.wait_before_next(failure, tries, is_over=worker.batch.is_over))
            else:
                self._cache.put(self._key(query), answer.to_dict())
                return answer

    async def _send(self, query: Query, worker: Worker, tries: Tries) -> Answer:
        """Send once, within the limits."""
        tokens, cost = self.most(query)
        await self._scheduler.enter()
        try:
            worker.batch.stop_if_over()
            while not self.budget.reserve(tokens, cost):
                await asyncio.sleep(_SETTLING)
            try:
                await self._rate_limiter.wait()
                worker.is_sending = True
                answer = await self._scheduler.send(self.client.send(self.client.request(query)), tries.given_up)
            except TransientError as failure:
                if failure.empty is None or not self._empty.is_final(tries.empty):
                    self._pay(failure.empty or Answer(None))
                    raise
                answer = failure.empty
            finally:
                worker.is_sending = False
                self.budget.release(tokens, cost)
        finally:
            self._scheduler.leave()
        self._pause_if_asked()
        self._empty.answered(answer.text, tries.empty)
        self.budget.usage.made += 1
        self._pay(answer)
        self.meter.learn(query, answer)
        return answer

    def _pause_if_asked(self) -> None:
        """Wait before more is sent, if the answers' headers say that nothing is left for now."""
        if self.client.requested_pause:
            self._scheduler.pause(self.client.requested_pause, "the server's limits to begin anew")
            self.client.requested_pause = 0.0

    def most(self, query: Query) -> tuple[int, float]:
        """Return the tokens and US dollars that one query can't pass."""
        read = most_tokens_in(query)
        written = most_tokens_out(self.client.request(query), self._options.max_tokens)
        return read + written, self._price.of(read, written) if self._price else 0.0

    def _pay(self, answer: Answer) -> None:
        """Count what an answer took, also one that says nothing and is asked for again."""
        usage = self.budget.usage
        usage.tokens_in += answer.tokens_in
        usage.tokens_out += answer.tokens_out
        usage.reasoning += answer.reasoning
        usage.cached_in += answer.cached_in
        usage.cost += self._price.of(answer.tokens_in, answer.tokens_out) if self._price else 0.0


def _close(client: ChatClient) -> None:
    run_soon(client.close())  # the garbage collector may call this in the loop's own thread, which must not wait
