"""Answering grids by batches: open, wait, take in, open the rest again; after any interruption, go on."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError, PsoptError
from psopt.models.chat._errors import ModelRefusedError, NotThereError, ServerGoneError, TransientError
from psopt.models.chat._wait_notices import WaitNotices
from psopt.models.chat.batches._grid import GridState
from psopt.models.chat.batches._open_batches import OpenBatches
from psopt.models.chat.batches._patience import Patience
from psopt.models.chat.batches._results import Results
from psopt.models.chat.batches._sending import Sender
from psopt.models.chat.batches._service import BatchService

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._engine import Engine
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat._worker_pool import Progress
    from psopt.models.chat.batches._open_batches import OpenBatch
    from psopt.models.chat.batches._service import BatchState

_FIRST_TRIES = 4  # at a server that has not answered yet: it is likely not there
_FIRST_WAIT = 0.25  # seconds; doubles with each try
_MOST_FRUITLESS = 3  # batches in a row that end without an answer, each after up to a day
_CROWDED = "token_limit"  # OpenAI's token_limit_exceeded, Azure's token_limit_..: too much waits in batches already


class BatchRunner:
    """Answers the grids of an engine by batches of one server.

    It asks through the engine, alone, what batches can't answer, and keeps open batches in the answer cache's folder.
    """

    def __init__(self, engine: Engine, client: OpenAIClient, folder: Path | None) -> None:
        self._engine = engine
        self._client = client
        self._notices = WaitNotices(client.name)
        self._service = BatchService(client, engine.options.timeout)
        self._batches = OpenBatches(folder, client.endpoint)
        self._patience = Patience(client.name, engine.options.batch_tick, self._notices)
        self._sender = Sender(engine, client, self._service, self._batches, self._patience)
        self._is_checked = False
        self._is_crowded = False
        self._n_fruitless = 0
        self._n_done = 0
        self._told = (0, 0)

    async def check(self) -> None:
        """Make sure, once, that the server has batches; nothing is spent by that.

        Raises
        ------
        InputError
            If it has none.
        ModelError
            If it is not there.
        """
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
        """Whether a batch that is open holds one of these."""
        return bool(self._batches.holding({self._engine.key(query) for query in queries}))

    async def answer(
        self, queries: Sequence[Query], progress: Progress, monitor: AnswerMonitor[bytes] | None
    ) -> list[Answer]:
        """Answer all, in their order; raises as `Engine.answers`."""
        grid = GridState(queries, self._engine.key, progress, monitor)
        try:
            while grid.waiting.keys() - grid.alone:
                if not await self._step(grid):
                    await asyncio.sleep(self._engine.options.batch_tick)
        except (BudgetReachedError, ServerGoneError, InputError):
            raise
        except PsoptError:  # nobody will ask for the rest
            await self._cancel(grid)
            raise
        except asyncio.CancelledError:
            self._notices.say("its batches stay open at the server, and are waited for by whoever goes on")
            raise
        finally:
            held = (bytes.fromhex(key) for batch in self._batches.holding(grid.keys) for key in batch.keys)
            self._sender.settle(grid.keys | {*held})
        if places := sorted(grid.waiting.values()):
            asked = await self._engine.ask_alone([queries[place] for place in places], progress, monitor)
            grid.answers |= dict(zip(places, asked, strict=True))
        return [grid.answers[place] for place in range(len(queries))]

    async def _step(self, grid: GridState) -> bool:
        """Open what may be opened and look at what is open; return whether one of them has ended."""
        with (
            self._batches.sending() as may_send
        ):  # grids that are asked side by side must not both send what they share
            batches = await self._under_way(grid, may_find=may_send)
            if may_send:
                batches += await self._send_more(grid, batches)
        self._tell(len(batches), grid.progress)
        n_ahead = 0
        has_ended = False
        for batch in batches:
            state = await self._state(batch) if batch.id else None
            if state and state.has_ended:
                has_ended |= await self._take_in(batch, state, grid, n_others=len(batches) - 1)
            elif state:
                n_ahead += state.n_answered
        grid.progress.show(min(n_ahead, len(grid.waiting)))
        return has_ended

    async def _under_way(self, grid: GridState, *, may_find: bool) -> list[OpenBatch]:
        """The open batches that hold some of a grid; one without an id that nobody is opening is looked for."""
        batches = []
        for batch in self._batches.holding(grid.keys):
            found: OpenBatch | None = batch
            if not batch.id and may_find:
                found = await self._found(batch)
            if found:
                self._sender.hold(found, grid)
                batches.append(found)
        return batches

    async def _found(self, batch: OpenBatch) -> OpenBatch | None:
        """A batch that was being opened when its process ended; None where that did not come about."""
        opened = await self._patience.insist(lambda: self._service.find(batch.tag))
        if not opened:
            self._batches.drop(batch)
            return None
        named = replace(batch, id=opened)
        self._batches.keep(named)
        return named

    async def _send_more(self, grid: GridState, batches: Collection[OpenBatch]) -> list[OpenBatch]:
        """Open batches for what is in none, up to the most; what another process was answered meanwhile is taken."""
        held = {bytes.fromhex(key) for batch in batches for key in batch.keys}
        free = [key for key in grid.waiting if key not in held and key not in grid.alone]
        kept = self._engine.kept_by_key(free)
        for key, answer in kept.items():
            if answer is not None:
                self._engine.budget.count(cached=1)
                grid.answered(key, answer)
        queue = [key for key in free if kept[key] is None]
        sent: list[OpenBatch] = []
        while queue and len(batches) + len(sent) < self._engine.options.max_batches:
            if self._is_crowded and (batches or sent):
                break
            try:
                lines = self._sender.next_lines(queue, grid)
            except BudgetReachedError:
                if not batches and not sent:
                    raise
                break  # what is open is waited for, as calls under way are
            if not lines:
                break
            sent.append(await self._sender.send(lines))
            queue = [key for key in queue if key not in lines]
        return sent

    async def _state(self, batch: OpenBatch) -> BatchState | None:
        """How a batch stands; None while the server is away."""
        try:
            state = await self._service.state(batch.id)
        except TransientError as failure:
            self._patience.count(failure)
            return None
        except NotThereError as error:
            raise self._not_ours(batch, error) from None
        self._patience.answered()
        return state

    def _not_ours(self, batch: OpenBatch, error: NotThereError) -> InputError:
        is_another_key = batch.owner != self._client.owner
        why = "it was opened with another key: set that one" if is_another_key else "it was deleted, or is another's"
        return InputError(
            f"{self._client.endpoint} does not show {batch.id}, which {len(batch.keys)} answers are expected from"
            f" ({error}): {why}; or go on call by call (psopt resume RUN --no-batch), or delete"
            f" {self._batches.where(batch)}: then they are asked, and paid, anew"
        )

    async def _take_in(self, batch: OpenBatch, state: BatchState, grid: GridState, n_others: int) -> bool:
        """Take in what became of a batch, keep its answers, forget it; False while its files can't be fetched."""
        keys = [bytes.fromhex(key) for key in batch.keys]
        if state.status == "failed":
            await self._forget(batch, keys, state)
            self._learn_from_failure(keys, state, grid, n_others)
            return True
        if all(self._engine.kept_by_key(keys).values()):  # another process has taken it in, and counted it
            await self._forget(batch, keys)
            return True
        try:
            contents = [await self._service.content(file, len(keys)) for file in state.files]
        except TransientError as failure:
            self._patience.count(failure)
            return False
        except NotThereError as error:
            if self._batches.is_open(batch):
                raise self._not_ours(batch, error) from None
            await self._forget(batch, keys)  # another process has just taken it in, and deleted its files
            return True
        results = Results()
        asked = set(keys)
        for line in b"\n".join(contents).split(b"\n"):
            await results.read(line, asked, self._client, grid.query)
        self._engine.keep_batched(results.answers, results.empty.values(), len(results.failed), grid.query)
        await self._forget(batch, keys, state)
        for key, answer in results.answers.items():
            grid.answered(key, answer)
        grid.alone |= results.empty.keys() & grid.waiting.keys()  # asked alone, an empty answer is looked at twice
        grid.failed(results.failed)
        for feature in results.unsupported:
            self._engine.learn_refused(feature)
            grid.write_keys()
        if results.refusal:
            raise results.refusal
        self._count_fruits(len(results.answers), state)
        return True

    async def _forget(self, batch: OpenBatch, keys: Iterable[bytes], state: BatchState | None = None) -> None:
        """Forget a batch and, as far as the server lets us, its files: the answers are kept, or there are none."""
        self._sender.settle(keys)
        self._batches.drop(batch)
        self._n_done += 1
        if state is None or self._engine.options.batch_keep_files:
            return
        for file in (state.input_file, *state.files):
            with contextlib.suppress(TransientError, PsoptError):
                await self._service.delete(file)

    def _count_fruits(self, n_answers: int, state: BatchState) -> None:
        self._n_fruitless = 0 if n_answers else self._n_fruitless + 1
        self._is_crowded = False
        if self._n_fruitless == _MOST_FRUITLESS:
            self._n_fruitless = 0
            raise AnswersMissingError(
                f"{self._client.name}: {_MOST_FRUITLESS} batches in a row ended without an answer; the last,"
                f" {state.id}, is {state.status}"
            )

    def _learn_from_failure(self, keys: list[bytes], state: BatchState, grid: GridState, n_others: int) -> None:
        """A batch did not pass the validation: send fewer lines, or some alone, or give up."""
        if any(_CROWDED in code for _, code, _ in state.errors) and (n_others or len(keys) > 1):
            self._is_crowded = True
            if not n_others:
                self._sender.most_lines = len(keys) // 2
            return
        bad = {keys[line - 1] for line, _, _ in state.errors if line and 0 < line <= len(keys)}
        is_about_all = any(line is None or "model" in code for line, code, _ in state.errors)
        if not bad or is_about_all or len(bad) > max(1, len(keys) / 2):
            _, code, message = state.errors[0] if state.errors else (None, "", "it did not say why")
            said = self._client.safe(f"{message} ({code})")
            raise ModelRefusedError(f"{self._client.endpoint} did not take {state.id} for {self._client.name}: {said}")
        grid.alone |= bad & grid.waiting.keys()

    async def _cancel(self, grid: GridState) -> None:
        """End the batches that were sent for a grid; whoever goes on takes in what they were answered."""
        for batch in self._batches.holding(grid.keys):
            if batch.id and batch.tag in self._sender.sent:
                with contextlib.suppress(TransientError, PsoptError):  # it has ended, or can't be reached: as well
                    await self._service.cancel(batch.id)

    def _tell(self, n_open: int, progress: Progress) -> None:
        """Say how many batches are open and done, when that has changed."""
        if (n_open, self._n_done) != self._told:
            self._told = (n_open, self._n_done)
            are_open = f"{n_open} {'batch' if n_open == 1 else 'batches'} open, {self._n_done} done"
            self._notices.say(f"{are_open}; {progress}")
