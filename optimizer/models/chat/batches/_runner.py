"""Answers grids in batches: open, wait, read, open the rest again; it continues after any interruption."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError, PsoptError
from psopt.models.chat._budget import Need
from psopt.models.chat._client import ModelRefusedError, NotThereError, ServerGoneError, TransientError
from psopt.models.chat._wait_notices import WaitNotices
from psopt.models.chat.batches._service import (
    ENDED,
    BatchService,
    BatchState,
    OpenBatch,
    OpenBatches,
    Patience,
    read_results,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._engine import Engine
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat._worker_pool import Progress

MOST_LINES = 50_000  # OpenAI's limits (platform.openai.com/docs/guides/batch), and Azure's
MOST_BYTES = 200_000_000
_FIRST_TRIES = 4  # at a server that has not answered yet: it is probably not there
_FIRST_WAIT = 0.25  # seconds; doubles with each try
_CALL_BY_CALL = "answers are kept: go on later, or call by call with --no-batch"
_MOST_FRUITLESS = 3  # batches in a row that end without an answer, each after up to a day
_TRIES = 3  # of a line in batches, each of which may take a day; then it is asked alone
_CROWDED = "token_limit"  # OpenAI's token_limit_exceeded, Azure's token_limit_..: too much is already queued


class BatchRunner:
    """Answers the grids of an engine in batches at one server.

    What batches can't answer is asked alone, through the engine. Open batches are kept in the answer cache's folder.
    The most that a batch may take is set aside in the budget until it has been read, or will not be.
    """

    def __init__(self, engine: Engine, client: OpenAIClient, folder: Path | None) -> None:
        self._engine = engine
        self._client = client
        self._notices = WaitNotices(client.name)
        self._service = BatchService(client, engine.options.timeout)
        self._batches = OpenBatches(folder, client.endpoint)
        self._patience = Patience(client.name, engine.options.batch_tick, self._notices)
        self._most_lines = min(engine.options.batch_size, MOST_LINES)
        self._sent: set[str] = set()  # tags of the batches that were opened here
        self._reserved: dict[str, Need] = {}  # by the batches' tags
        self._is_checked = False
        self._is_crowded = False
        self._n_fruitless = 0
        self._n_done = 0
        self._told = (0, 0)

    async def check(self) -> None:
        """Make sure, once, that the server has batches; this costs nothing; raises InputError if it has none."""
        self._client.prepare()
        for number in range(_FIRST_TRIES):
            if self._is_checked:
                return
            try:
                await self._service.check()
                self._is_checked = True
            except TransientError as failure:
                if number == _FIRST_TRIES - 1:
                    raise ModelError(f"{self._client.name}: no word of its batches: {failure}") from None
                await asyncio.sleep(_FIRST_WAIT * 2.0**number)

    def holds(self, queries: Iterable[Query]) -> bool:
        return bool(self._batches.holding({self._engine.key(query) for query in queries}))

    async def answer(self, queries: Sequence[Query], progress: Progress, monitor: AnswerMonitor) -> list[Answer]:
        """Answer all, in their order; raises as `Engine.answers`."""
        keys = [self._engine.key(query) for query in queries]
        grid = Grid(dict(zip(keys, queries, strict=True)), progress, monitor)
        try:
            while grid.waiting.keys() - grid.alone:
                if not await self._step(grid):
                    await asyncio.sleep(self._engine.options.batch_tick)
        except (BudgetReachedError, ServerGoneError, InputError):
            raise
        except PsoptError:  # nobody needs the rest any more
            await self._cancel(grid)
            raise
        except asyncio.CancelledError:
            self._notices.say("its batches stay open at the server, and are waited for by whoever goes on")
            raise
        finally:
            for batch in self._batches.holding(grid.waiting.keys()):
                self._release(batch)
        if grid.waiting:
            lone_answers = await self._engine.ask_alone([*grid.waiting.values()], progress, monitor)
            grid.answers |= dict(zip(grid.waiting, lone_answers, strict=True))
        return [grid.answers[key] for key in keys]

    async def _step(self, grid: Grid) -> bool:
        """Open the batches that may be opened, and check those that are open; return whether one has ended."""
        # Grids that are asked in parallel must not both send what they share.
        with self._batches.sending() as may_send:
            batches = await self._under_way(grid, may_find=may_send)
            if may_send:
                await self._send_more(grid, batches)
        if (len(batches), self._n_done) != self._told:
            self._told = (len(batches), self._n_done)
            self._notices.say(f"batches: {len(batches)} open, {self._n_done} done{grid.progress}")
        n_ahead = 0
        has_ended = False
        for batch in batches:
            state = await self._state(batch)
            if state.status in ENDED:
                has_ended |= await self._take_in(batch, state, grid, n_others=len(batches) - 1)
            else:
                n_ahead += state.n_answered
        grid.progress.show(min(n_ahead, len(grid.waiting)))
        return has_ended

    async def _under_way(self, grid: Grid, *, may_find: bool) -> list[OpenBatch]:
        """The open batches that contain some of a grid; their cost is as good as spent.

        A batch without an id that nobody is opening is looked up by its tag: its process has ended.
        """
        batches = []
        for batch in self._batches.holding(grid.waiting.keys()):
            if not batch.id and may_find:
                opened = await self._patience.insist(partial(self._service.find, batch.tag))
                if not opened:
                    self._batches.drop(batch)
                    continue
                batch = self._named(batch, opened)  # the same, with its id
            if batch.tag not in self._reserved:
                self._reserved[batch.tag] = Need(len(batch.keys), batch.most_tokens, batch.most_cost)
                self._engine.budget.set_aside(self._reserved[batch.tag], len(batch.keys))
            batches.append(batch)
        return batches

    def _named(self, batch: OpenBatch, opened: str) -> OpenBatch:
        named = replace(batch, id=opened)
        self._batches.keep(named)
        return named

    async def _send_more(self, grid: Grid, batches: list[OpenBatch]) -> None:
        """Open batches for what is in none, up to the maximum; use answers that another process got meanwhile."""
        held = set(chain.from_iterable(batch.answer_keys for batch in batches)) | grid.alone
        free = [key for key in grid.waiting if key not in held]
        cached_answers = self._engine.kept_by_key(free)
        for key, answer in cached_answers.items():
            self._engine.budget.count(cached=1)
            grid.answered(key, answer)
        queue = [key for key in free if key not in cached_answers]
        while queue and len(batches) < self._engine.options.max_batches and not (self._is_crowded and batches):
            try:
                lines, most = self._next_lines({key: grid.waiting[key] for key in queue})
            except BudgetReachedError:
                if not batches:
                    raise
                return  # wait for the open ones, as for calls in flight
            if not lines:
                return
            batches.append(await self._send(lines, most))
            queue = [key for key in queue if key not in lines]

    def _next_lines(self, queries: Mapping[bytes, Query]) -> tuple[dict[bytes, bytes], Need]:
        """Write the lines of one batch, as many as the limits allow, and reserve the most that they can take.

        There are none while the budget is set aside for others. Raises BudgetReachedError if not a single one fits.
        """
        lines: dict[bytes, bytes] = {}
        reserved = Need()
        n_bytes = 0
        for key, query in queries.items():
            request = self._client.request(query)
            wish = {"custom_id": key.hex(), "method": "POST", "url": self._service.url, "body": request}
            line = json.dumps(wish).encode() + b"\n"
            n_bytes += len(line)
            if len(lines) == self._most_lines or (lines and n_bytes > MOST_BYTES):
                break
            most = self._engine.most(query, in_batch=True)
            try:
                if not self._engine.budget.reserve(most):
                    break
            except BudgetReachedError:
                if not lines:
                    raise
                break
            reserved += most
            lines[key] = line
        return lines, reserved

    async def _send(self, lines: dict[bytes, bytes], most: Need) -> OpenBatch:
        """Open a batch of these lines; after an interruption it can be found again by its tag."""
        batch = OpenBatch(
            uuid.uuid4().hex,
            self._client.endpoint,
            tuple(key.hex() for key in lines),
            most_tokens=most.tokens,
            most_cost=most.cost,
        )
        self._sent.add(batch.tag)
        self._reserved[batch.tag] = most
        self._engine.budget.set_aside(Need(), most.calls)  # its lines are set aside already
        has_tried = False

        async def attempt() -> str:
            """A try that seemed to fail may have opened the batch, so look for it before the next try."""
            nonlocal has_tried
            if has_tried and (opened := await self._service.find(batch.tag)):
                return opened
            has_tried = True
            return await self._service.create(file, batch.tag)

        try:
            self._batches.keep(batch)
            file = await self._patience.insist(lambda: self._service.upload(b"".join(lines.values())))
            return self._named(batch, await self._patience.insist(attempt))
        except PsoptError:  # refused: nothing is open
            self._release(batch)
            self._batches.drop(batch)
            raise

    def _release(self, batch: OpenBatch) -> None:
        need = self._reserved.pop(batch.tag, Need())
        self._engine.budget.release(need, need.calls)

    async def _state(self, batch: OpenBatch) -> BatchState:
        """The state of a batch; not ended while it has no id or the server is unreachable."""
        unknown = BatchState(batch.id, "unknown")
        if not batch.id:
            return unknown
        try:
            state = await self._service.state(batch.id)
        except TransientError as failure:
            self._patience.count(failure)
            return unknown
        except NotThereError as error:
            raise self._not_ours(batch, error) from None
        self._patience.answered()
        return state

    def _not_ours(self, batch: OpenBatch, error: NotThereError) -> InputError:
        return InputError(
            f"{self._client.endpoint} does not show {batch.id}, which {len(batch.keys)} answers are expected from"
            f" ({error}): it was deleted, or opened with another key: set that one; or go on call by call (psopt resume"
            f" RUN --no-batch), or delete {self._batches.file(batch)}: then they are asked, and paid, anew"
        )

    async def _take_in(self, batch: OpenBatch, state: BatchState, grid: Grid, n_others: int) -> bool:
        """Read the results of a batch, keep its answers, forget it; False while its files can't be fetched."""
        keys = batch.answer_keys
        if state.status == "failed":
            await self._forget(batch, state)
            self._learn_from_failure(keys, state, grid, n_others)
            return True
        if len(self._engine.kept_by_key(keys)) == len(set(keys)):  # another process has read and counted it
            await self._forget(batch)
            return True
        try:
            contents = [await self._service.content(file, len(keys)) for file in state.files]
        except TransientError as failure:
            self._patience.count(failure)
            return False
        except NotThereError as error:
            if self._batches.file(batch).exists():
                raise self._not_ours(batch, error) from None
            await self._forget(batch)  # another process has just read it, and deleted its files
            return True
        await self._take_in_lines(b"\n".join(contents).split(b"\n"), batch, state, grid)
        return True

    async def _take_in_lines(self, lines: Iterable[bytes], batch: OpenBatch, state: BatchState, grid: Grid) -> None:
        """Keep what the lines of the output and the error file say, each as if it had come alone."""
        queries = {key: grid.waiting.get(key) for key in batch.answer_keys}
        requests = {key: self._client.request(query) if query else {} for key, query in queries.items()}
        results = await read_results(lines, requests, self._client)
        self._engine.keep_batched(results, queries)
        await self._forget(batch, state)
        for key, answer in results.answers.items():
            grid.answered(key, answer)
        grid.failures.update(results.failed)
        if results.answers:  # one that has expired is silent on the others
            grid.failures.update(requests.keys() - results.answers.keys() - results.empty.keys() - set(results.failed))
        failing = {key for key, times in grid.failures.items() if times >= _TRIES}
        # Asked alone, an empty answer gets a second try, and a request without what is refused is found.
        grid.alone |= (results.empty.keys() | results.unsupported | failing) & grid.waiting.keys()
        if results.refusal:
            raise results.refusal
        self._n_fruitless = 0 if results.answers else self._n_fruitless + 1
        self._is_crowded = False
        if self._n_fruitless == _MOST_FRUITLESS:
            self._n_fruitless = 0
            raise AnswersMissingError(
                f"{self._client.name}: {_MOST_FRUITLESS} batches in a row ended without an answer; the last,"
                f" {state.id}, is {state.status}; {_CALL_BY_CALL}"
            )

    async def _forget(self, batch: OpenBatch, state: BatchState | None = None) -> None:
        """Forget a batch and, as far as the server lets us, its files: the answers are kept, or there are none."""
        self._release(batch)
        self._batches.drop(batch)
        self._n_done += 1
        if state is None or self._engine.options.batch_keep_files:
            return
        for file in (state.input_file, *state.files):
            with contextlib.suppress(TransientError, PsoptError):
                await self._service.delete(file)

    def _learn_from_failure(self, keys: Sequence[bytes], state: BatchState, grid: Grid, n_others: int) -> None:
        """A batch failed validation: send fewer lines, or some alone, or give up."""
        if any(_CROWDED in code for _, code, _ in state.errors) and (n_others or len(keys) > 1):
            self._is_crowded = True
            if not n_others:
                self._most_lines = len(keys) // 2
            return
        bad = {keys[line - 1] for line, _, _ in state.errors if line and 0 < line <= len(keys)}
        is_about_all = any(line is None or "model" in code for line, code, _ in state.errors)
        if not bad or is_about_all or len(bad) > max(1, len(keys) / 2):
            _, code, message = next(iter(state.errors), (None, "", "it did not say why"))
            cause = self._client.safe(f"{message} ({code})")
            raise ModelRefusedError(
                f"{self._client.endpoint} did not take {state.id} for {self._client.name}: {cause}; {_CALL_BY_CALL}"
            )
        grid.alone |= bad & grid.waiting.keys()

    async def _cancel(self, grid: Grid) -> None:
        """Cancel the batches that were sent for a grid; a resumed run reads the answers that they have."""
        for batch in self._batches.holding(grid.waiting.keys()):
            if batch.id and batch.tag in self._sent:
                with contextlib.suppress(TransientError, PsoptError):  # it has ended, or can't be reached: no harm
                    await self._service.cancel(batch.id)


class Grid:
    """A grid in progress; its queries and answers are known by the keys of the answers."""

    def __init__(self, queries: Mapping[bytes, Query], progress: Progress, monitor: AnswerMonitor) -> None:
        self._monitor = monitor
        self.progress = progress
        self.answers: dict[bytes, Answer] = {}
        self.waiting = dict(queries)  # those without an answer
        self.alone: set[bytes] = set()  # what batches can't answer
        self.failures: Counter[bytes] = Counter()  # failed tries in batches

    def answered(self, key: bytes, answer: Answer) -> None:
        """Record an answer if it belongs to this grid; raises what the monitor does."""
        if self.waiting.pop(key, None) is None:
            return
        self.answers[key] = answer
        self.progress.count_answer()
        self._monitor.observe(answer)
