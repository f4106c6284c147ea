"""Many queries at once, by workers that take them in their order, and what is left to do when one fails."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_WORKERS_A_PLACE = 4  # three that wait for their next try to one that is sent; set by hand


class Batch:
    """What the workers on some queries share: whether a query has failed, so that nothing more is to be sent."""

    def __init__(self) -> None:
        self.is_over = False


class Worker:
    """One of those who send a batch's requests.

    Attributes
    ----------
    is_sending : bool
        Whether a request is under way, and not only waited for a place or the next try.
    """

    __slots__ = ("batch", "is_sending")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.is_sending = False


class Progress:
    """Counts answers for whoever watches."""

    def __init__(self, total: int, done: int, on_progress: Callable[[int, int], None] | None) -> None:
        self._total = total
        self._done = done
        self._on_progress = on_progress

    def count_answer(self) -> None:
        """One more query is answered."""
        self._done += 1
        self.show(0)

    def show(self, n_ahead: int) -> None:
        """Show how far it is, with answers that the server has and that are yet to come here."""
        if self._on_progress is not None:
            self._on_progress(self._done + n_ahead, self._total)

    def __str__(self) -> str:
        """How far it has come, for notices; a program's calls come one by one."""
        if self._total == 1:
            return "Ctrl-C saves"
        return f"{self._done} of {self._total} answered; Ctrl-C saves"


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
