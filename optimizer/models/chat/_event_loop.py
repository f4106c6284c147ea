"""One event loop in a thread of its own, so that callers with or without a loop may wait for answers."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

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
