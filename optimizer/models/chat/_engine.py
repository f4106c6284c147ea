"""The one place that counts, caches, limits and retries: requests in, answers out, whatever the client."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

from psopt.errors import PsoptError
from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models.chat._answer_monitor import FIRST
from psopt.models.chat._answer_rate import AskingTime, keep_rate, kept_rate
from psopt.models.chat._budget import Need
from psopt.models.chat._client import Answer, CallEnd, CallStart, TransientError, UnsupportedError
from psopt.models.chat._negotiation import Negotiation
from psopt.models.chat._request_scheduler import RequestScheduler, Tries
from psopt.models.chat._token_counts import TokenMeter, most_tokens_in, most_tokens_out
from psopt.models.chat._wait_notices import WaitNotices
from psopt.models.chat._worker_pool import Progress, Worker, run, run_soon, run_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._answer_rate import AnswerRate
    from psopt.models.chat._budget import Budget, Price
    from psopt.models.chat._client import BatchResults, ChatClient, Query
    from psopt.settings import LMConfig

_SETTLING = 0.01  # seconds between checks whether reservations of the budget have been settled
_MOST_FIRST = 5  # texts asked alone, one after another, until one shows what the server accepts


class Engine:
    """Answers queries through a client, each distinct one once in a cache's life.

    An answer is in the cache before it is used. Calls with a passing failure are sent again, after ever longer waits. A
    lasting failure fails the whole call, so that no score is ever based on only part of the answers; these are kept.
    """

    def __init__(self, client: ChatClient, cache: AnswerCache, budget: Budget, options: LMConfig) -> None:
        self.client = client
        self.budget = budget
        self.options = options
        self._cache = cache if client.endpoint is not None else AnswerCache(None)
        self._price = budget.price(client.name)
        self._batch_price = self._price.in_batches()
        self.meter = TokenMeter(self._price)
        self._asking_time = AskingTime(options.concurrency)
        # A `BatchRunner`, which asks grids (`answers` with a monitor), except for their first few answers
        self.batches: Any = None
        self._scheduler = RequestScheduler(client.name, options)
        self._in_flight: dict[bytes, asyncio.Future[Answer]] = {}
        # Empty answers hold for this engine's life alone: a server that was at fault may be well next time.
        self._empty: dict[bytes, Answer] = {}
        self._has_spoken = False
        self._is_uncounted = False  # whether answers came without the counts of tokens that a limit needs
        # Also when the engine is no longer used: the garbage collector may call it in the loop's own thread.
        self.close = weakref.finalize(self, lambda: run_soon(client.close()))
        self.negotiation = Negotiation(client, self._cache, anew=options.renegotiate)

    @property
    def keeps_answers(self) -> bool:
        """Whether answers are kept on disk, for later runs."""
        return self.client.endpoint is not None

    def answers(
        self,
        queries: Sequence[Query],
        on_progress: Callable[[int, int], None] | None = None,
        monitor: AnswerMonitor | None = None,
    ) -> list[Answer]:
        """Answer queries, in their order; equal ones share an answer. A monitor sees each answer and may stop the work.

        Raises AnswersMissingError, ModelRefusedError or BudgetReachedError, once the calls in flight are answered.
        """
        n_asked = 0
        keys, answers, missing = self._looked_up(queries)
        if missing and self.batches:
            run(self.batches.check())
        if missing and self.budget.in_whole:
            self.budget.check_room(self.meter.most(missing.values()))
        if missing and not answers:
            self._scheduler.progress = Progress(len(queries)).__str__
            n_asked = run(self._find_out(queries[:_MOST_FIRST]))
            keys, answers, missing = self._looked_up(queries)
        self.budget.count(cached=len(queries) - len(missing) - n_asked)
        progress = Progress(len(queries), len(queries) - len(missing), on_progress)
        parts: Iterable[Sequence[bytes]] = [[*missing]]
        if monitor is not None:
            parts = monitor.parts([*missing], answers.values())
        for part in filter(None, parts):
            new_answers = run(self._ask([missing[key] for key in part], progress, monitor))
            answers |= dict(zip(part, new_answers, strict=True))
        return [answers[key] for key in keys]

    def kept(self, queries: Sequence[Query]) -> list[Answer | None]:
        """Return the answers that are in the cache, in the queries' order; this makes no calls."""
        keys = [self.key(query) for query in queries]
        return [*map(self.kept_by_key(keys).get, keys)]

    def kept_by_key(self, keys: Iterable[bytes]) -> dict[bytes, Answer]:
        keys = list(keys)
        lasting = {key: Answer.from_dict(value) for key, value in self._cache.get_many(keys).items()}
        return {key: self._empty[key] for key in keys if key in self._empty} | lasting

    def missing(self, queries: Iterable[Query]) -> list[Query]:
        """The queries that would be sent, each once; the meter learns from the answers to the others."""
        by_key = {self.key(query): query for query in queries}
        for key, answer in self.kept_by_key(by_key).items():
            self.meter.learn(by_key.pop(key), answer.tokens_in, answer.tokens_out, answer.cached_in)
        return [*by_key.values()]

    @property
    def rate(self) -> AnswerRate | None:
        """How fast the model answers: as measured by this engine, otherwise as others have left it in the cache."""
        return self._asking_time.rate or kept_rate(self._cache, self.client.name, self.client.endpoint)

    def keep_rate(self) -> None:
        """Keep in the cache how fast the model answered, if there were enough calls to tell."""
        if rate := self._asking_time.rate:
            keep_rate(self._cache, self.client.name, self.client.endpoint, rate)

    def key(self, query: Query) -> bytes:
        """The key of a query's answer, for its request in the current form."""
        # Without those that are 0: so keys match those of caches from before there were samples.
        repeats = {"sample": query.sample, "asking": query.asking}
        parts = {name: number for name, number in repeats.items() if number}
        return answer_key(endpoint=self.client.endpoint, request=self.client.request(query), **parts)

    def _looked_up(self, queries: Sequence[Query]) -> tuple[list[bytes], dict[bytes, Answer], dict[bytes, Query]]:
        """The queries' keys, the answers that are in the cache, and the queries without one there."""
        keys = [self.key(query) for query in queries]
        answers = self.kept_by_key(keys)
        return keys, answers, {key: query for key, query in zip(keys, queries, strict=True) if key not in answers}

    async def _find_out(self, queries: Sequence[Query]) -> int:
        """Answer a first query alone if it isn't known what the server accepts; return how many were answered so."""
        answered: list[Query] = []

        async def ask(query: Query) -> Answer:
            if kept_answer := self.kept([query])[0]:  # which shows that, too
                return kept_answer
            answer = await self._answer(query, Worker())
            if query not in answered:
                answered.append(query)
            return answer

        self.client.prepare()
        await self.negotiation.settle(queries, ask)
        return len(answered)

    async def _ask(self, queries: list[Query], progress: Progress, monitor: AnswerMonitor | None) -> list[Answer]:
        """Ask in batches if a grid is large enough, otherwise query by query."""
        if self.batches is None or monitor is None:
            return await self.ask_alone(queries, progress, monitor)
        # Some may have come with the previous part: an open batch is read completely.
        is_small = len(queries) <= FIRST and not self.batches.holds(queries) and not any(self.kept(queries))
        asks = self.ask_alone if is_small else self.batches.answer
        answers: list[Answer] = await asks(queries, progress, monitor)
        return answers

    async def ask_alone(self, queries: list[Query], progress: Progress, monitor: AnswerMonitor | None) -> list[Answer]:
        """Let some workers take the queries in their order; after a failure no further calls are sent."""
        self.client.prepare()
        answers: dict[int, Answer] = {}
        self._scheduler.progress = progress.__str__

        async def ask(index: int, worker: Worker) -> None:
            answers[index] = await self._answer(queries[index], worker)
            progress.count_answer()
            if monitor is not None:
                monitor.observe(answers[index])

        with self._asking_time.asking(len(queries)):
            await run_workers(len(queries), ask, self.options.concurrency, self.options.timeout)
        return [answers[index] for index in range(len(queries))]

    async def _answer(self, query: Query, worker: Worker) -> Answer:
        """Answer one query: from another call for the same that is in flight, otherwise by asking."""
        key = self.key(query)
        while key in self._in_flight:
            same_call = self._in_flight[key]
            await asyncio.wait([same_call])
            if not same_call.cancelled():
                self.budget.count(cached=1)
                return same_call.result()
        asking = self._in_flight[key] = asyncio.ensure_future(self._ask_until_answered(query, worker))
        try:
            return await asking
        finally:
            del self._in_flight[key]

    async def _ask_until_answered(self, query: Query, worker: Worker) -> Answer:
        tries = Tries()
        while True:
            try:
                answer = await self._send(query, worker, tries)
            except UnsupportedError as error:
                self.negotiation.refused(error.feature)
                if cached_answer := self.kept([query])[0]:  # asked in this form before
                    return cached_answer
            except PsoptError:
                worker.is_over.set()  # at once, since this frees a place for the next call
                raise
            except TransientError as failure:
                tries.count(failure)
                await asyncio.sleep(self._scheduler.wait_before_next(failure, tries, is_over=worker.is_over.is_set()))
            else:
                key = self.key(query)
                if answer.is_empty:
                    self._empty[key] = answer
                else:
                    self._cache.put(key, answer.to_dict())
                return answer

    async def _send(self, query: Query, worker: Worker, tries: Tries) -> Answer:
        most = self.most(query)
        async with self._scheduler.place():
            if worker.is_over.is_set():
                raise asyncio.CancelledError
            while not self.budget.reserve(most):
                await asyncio.sleep(_SETTLING)
            worker.is_sending = True
            try:
                answer = await self._send_once(query, tries)
                # Before the reservation is released: a kill between the two would lose the call.
                self._pay(answer, self._price, query, made=1)
            finally:
                worker.is_sending = False
                self.budget.release(most)
        self._has_spoken |= bool(answer.text)
        return answer

    async def _send_once(self, query: Query, tries: Tries) -> Answer:
        """Send once, and notify the watcher; count failures, and calls that were given up: they may have been paid for.

        An empty answer, often a mistake, is accepted after one more try, or after two if there were other answers.
        """
        request = self.client.request(query)
        tell_end = self.budget.call_watcher(CallStart(self.client.name, self.client.endpoint, request))
        try:
            answer = await self._scheduler.send(self.client.send(request), tries.given_up)
        except BaseException as error:
            tell_end(CallEnd.failed(error))
            if isinstance(error, asyncio.CancelledError):
                self.budget.count(failed=1)
            if not isinstance(error, TransientError):
                raise
            if error.empty is not None:
                if tries.empty >= 1 + self._has_spoken:
                    return error.empty
                self._pay(error.empty, self._price, query, failed=1)
            elif not error.unreachable:  # otherwise nothing was sent
                self.budget.count(failed=1)
            raise
        tell_end(CallEnd.answered(answer))
        return answer

    def keep_batched(self, results: BatchResults, queries: Mapping[bytes, Query | None]) -> None:
        """Keep and count a batch's answers, its empty answers, and its failures."""
        self._cache.put_many({key: answer.to_dict() for key, answer in results.answers.items()})
        for key, answer in results.answers.items():
            self._pay(answer, self._batch_price, queries[key], made=1)
        self.budget.count(failed=len(results.failed))
        for key, answer in results.empty.items():
            self._pay(answer, self._batch_price, queries[key], failed=1)

    def most(self, query: Query, *, in_batch: bool = False) -> Need:
        """Return the most that one query can take."""
        read, written = self._most_tokens(query)
        price = self._batch_price if in_batch else self._price
        return Need(1, read + written, price.of(read, written))

    def _pay(self, answer: Answer, price: Price, query: Query | None, *, made: int = 0, failed: int = 0) -> None:
        """Count an answer and what it took; an empty one that is asked for again counts as failed."""
        tokens_in, tokens_out = self._tokens(answer, query)
        if made and query is not None:  # what limits count, so that what is held back for the final test suffices
            self.meter.learn(query, tokens_in, tokens_out, answer.cached_in)
        self.budget.count(
            made=made,
            failed=failed,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            reasoning=answer.reasoning,
            cached_in=answer.cached_in,
            cost=price.of(tokens_in, tokens_out, answer.cached_in),
        )

    def _most_tokens(self, query: Query) -> tuple[int, int]:
        return most_tokens_in(query), most_tokens_out(self.client.request(query), self.options.max_tokens)

    def _tokens(self, answer: Answer, query: Query | None) -> tuple[int, int]:
        """An answer's tokens, in and out; where a limit needs a missing count, the most that it can have taken."""
        is_counted = answer.tokens_in > 0 and (answer.tokens_out > 0 or not answer.text)
        is_unlimited = self.budget.max_tokens is None and self.budget.max_cost is None
        if is_counted or is_unlimited or answer.unanswered or query is None:
            return answer.tokens_in, answer.tokens_out
        if not self._is_uncounted:
            self._is_uncounted = True
            notice = "answers come without the number of their tokens: limits use the most that each call can take"
            WaitNotices(self.client.name).say(notice)
        most_in, most_out = self._most_tokens(query)
        return answer.tokens_in or most_in, answer.tokens_out or most_out
