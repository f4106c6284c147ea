"""One event loop in a thread of its own, so that callers with or without a loop may wait for answers."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

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


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="psopt-models", daemon=True).start()
    return loop
