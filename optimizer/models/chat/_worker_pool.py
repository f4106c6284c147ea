"""Many queries at once, by workers in one event loop, which callers with or without a loop may wait for."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

_WORKERS_A_PLACE = 4  # three that wait for their next try to one that is sent; set by hand


@dataclass(slots=True)
class Batch:
    """What the workers on some queries share."""

    is_over: bool = False  # whether a query has failed, so that nothing more is to be sent


@dataclass(slots=True)
class Worker:
    """One of those who send a batch's requests."""

    batch: Batch
    is_sending: bool = False  # whether a request is under way, and not only waited for a place or the next try


@dataclass(slots=True)
class Progress:
    """Counts answers for whoever watches."""

    total: int
    done: int = 0
    on_progress: Callable[[int, int], None] | None = None

    def count_answer(self) -> None:
        self.done += 1
        self.show(0)

    def show(self, n_ahead: int) -> None:
        """Show how far it is, with answers that the server has and that are yet to come here."""
        if self.on_progress is not None:
            self.on_progress(self.done + n_ahead, self.total)

    def __str__(self) -> str:
        """How far it has come, for notices; a program's calls come one by one."""
        if self.total == 1:
            return "Ctrl-C saves"
        return f"{self.done} of {self.total} answered; Ctrl-C saves"


async def run_workers(n: int, ask: Callable[[int, Worker], Awaitable[None]], n_places: int, last_calls: float) -> None:
    """Ask for the numbers below n; after a failure the calls under way are the last, and waited for so many seconds.

    There are more workers than places, so that those which wait for their next try keep nobody from a first; but
    no more than places until one is answered: a server that answers nothing is not to be asked everything.

    Raises Exception: the first failure.
    """
    waiting = deque(range(n))
    batch = Batch()
    workers = [Worker(batch) for _ in range(min(_WORKERS_A_PLACE * n_places, n))]
    first_is_done = asyncio.Event()

    async def work(number: int, worker: Worker) -> None:
        if number >= n_places:
            await first_is_done.wait()
        while waiting:
            await ask(waiting.popleft(), worker)
            first_is_done.set()

    tasks = [asyncio.ensure_future(work(number, worker)) for number, worker in enumerate(workers)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        waiting.clear()
        batch.is_over = True
        for task, worker in zip(tasks, workers, strict=True):
            if not worker.is_sending:
                task.cancel()
        await asyncio.wait(tasks, timeout=last_calls)
    finally:
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; Ctrl-C here cancels it there."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def run_soon(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine without waiting for it, from any thread, the loop's own among them."""
    asyncio.run_coroutine_threadsafe(work, _loop())


async def in_a_thread(work: Callable[[], T]) -> T:
    """Run what blocks in a thread of its own; one that hangs does not keep the process, as a pool's thread would."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(give: Callable[[Any], None], outcome: Any) -> None:
        if not result.done():  # nobody may be waiting any more
            give(outcome)

    def call() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001  # it is raised again where the result is awaited
            loop.call_soon_threadsafe(settle, result.set_exception, error)
        else:
            loop.call_soon_threadsafe(settle, result.set_result, value)

    threading.Thread(target=call, name="psopt-call", daemon=True).start()
    return await result


_making = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _making:  # threads that come first together must not make two
        return _the_loop()


@functools.cache
def _the_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="psopt-models", daemon=True).start()
    return loop
