"""Many queries at once, by workers in one event loop, which callers with or without a loop may wait for."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

_WORKERS_A_PLACE = 4  # one that sends, and three that may wait for their next try; chosen by hand
_AFTER_CTRL_C = 2.0  # seconds: most answers of a label come within them, and nobody minds them
ENDINGS = (asyncio.CancelledError, KeyboardInterrupt)
_CANCELLING = _AFTER_CTRL_C + 3  # closing connections takes milliseconds, but Ctrl-C must end a run whatever hangs


@dataclass(slots=True)
class Worker:
    """One of the senders of a set of requests."""

    is_over: asyncio.Event = field(default_factory=asyncio.Event)  # of all of them: a query has failed, send no more
    is_sending: bool = False  # whether a request is in flight, and not waiting for a place or the next try


@dataclass(slots=True)
class Progress:
    total: int
    done: int = 0
    on_progress: Callable[[int, int], None] | None = None

    def count_answer(self) -> None:
        self.done += 1
        self.show(0)

    def show(self, n_ahead: int) -> None:
        """Report progress, including `n_ahead` answers that the server has and that are not here yet."""
        if self.on_progress is not None:
            self.on_progress(self.done + n_ahead, self.total)

    def __str__(self) -> str:
        """The progress, to end notices with; nothing for calls that come one by one: a program's, or a server's."""
        return "" if self.total == 1 else f"; {self.done} of {self.total} answered; Ctrl-C saves"


async def run_workers(n: int, ask: Callable[[int, Worker], Awaitable[None]], n_places: int, last_calls: float) -> None:
    """Ask for the numbers below n; after a failure, wait only for calls in flight, for at most `last_calls` seconds.

    Ctrl-C waits for them too, but not long: their answers are paid for. There are more workers than places, so that
    those that wait for their next try do not delay others' first try; but only as many as places until one is answered.
    """
    waiting = deque(range(n))
    is_over = asyncio.Event()
    workers = [Worker(is_over) for _ in range(min(_WORKERS_A_PLACE * n_places, n))]
    first_is_done = asyncio.Event()

    async def work(number: int, worker: Worker) -> None:
        if number >= n_places:
            await first_is_done.wait()
        while waiting:
            await ask(waiting.popleft(), worker)
            first_is_done.set()

    tasks = [asyncio.ensure_future(work(number, worker)) for number, worker in enumerate(workers)]

    async def finish_calls(seconds: float) -> None:
        waiting.clear()
        is_over.set()
        for task, worker in zip(tasks, workers, strict=True):
            if not worker.is_sending:
                task.cancel()
        await asyncio.wait(tasks, timeout=seconds)

    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        await finish_calls(last_calls)
    except asyncio.CancelledError:
        await finish_calls(min(last_calls, _AFTER_CTRL_C))
        raise
    finally:
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; Ctrl-C here cancels it there, and waits until it has counted its calls in flight."""
    is_over = threading.Event()

    async def whole() -> T:
        try:
            return await work
        finally:
            is_over.set()

    future = asyncio.run_coroutine_threadsafe(whole(), _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        is_over.wait(_CANCELLING)
        raise


def run_soon(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine without waiting for it, from any thread, including the loop's own."""
    asyncio.run_coroutine_threadsafe(work, _loop())


async def in_a_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a separate thread; if it hangs, the process can still end, unlike with a pool's thread."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # so that it can be set even when nobody waits for it any more

    def call() -> None:
        try:
            result.set_result(work())
        except (StopIteration, GeneratorExit, *ENDINGS) as error:  # awaited, it would never end, or end what awaits it
            result.set_exception(RuntimeError(type(error).__name__))
        except BaseException as error:  # noqa: BLE001  # it is raised again where the result is awaited
            result.set_exception(error)

    threading.Thread(target=call, name="psopt-call", daemon=True).start()
    return await asyncio.wrap_future(result)


_making = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _making:  # two threads that come first at the same time must not make two loops
        return _the_loop()


@functools.cache
def _the_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="psopt-models", daemon=True).start()
    return loop
