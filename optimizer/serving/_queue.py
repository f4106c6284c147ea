"""Texts that arrive one by one are classified together: a model reads many at once faster than one by one."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import ModelError
from psopt.models.chat import asking_with_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.api import Classified

    Classify = Callable[[Sequence[str]], list[Classified]]


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    key: str  # the API key to ask the model with; empty for the server's own
    answer: asyncio.Future[Classified]


class QueueFullError(ModelError):
    """Too many texts are waiting, so another one is turned away."""


class TextQueue:
    """Distributes waiting texts among threads; none waits for a group to fill.

    `classify` takes texts and returns answers in their order; up to `n_threads` threads call it at once. While
    `most_waiting` texts wait, others are turned away.
    """

    def __init__(self, classify: Classify, n_threads: int, most_waiting: int) -> None:
        self._classify = classify
        self._most_waiting = most_waiting
        self._n_free = n_threads
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="psopt-serve")
        self._waiting: deque[_Text] = deque()
        self._groups: set[asyncio.Task[None]] = set()

    @property
    def n_waiting(self) -> int:
        """How many texts no thread has started on."""
        return len(self._waiting)

    async def answer(self, text: str, key: str = "") -> Classified:
        """Classify one text, asking with the client's key if given; raises QueueFullError if too many are waiting."""
        if len(self._waiting) >= self._most_waiting:
            raise QueueFullError(f"{self._most_waiting} texts wait already: ask again in a moment")
        future: asyncio.Future[Classified] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Text(text, key, future))
        self._start()
        return await future

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown(wait=False)

    def _start(self) -> None:
        """Give waiting texts to the free threads, in even parts."""
        while self._n_free and self._waiting:
            size = -(-len(self._waiting) // self._n_free)
            group = [self._waiting.popleft()]
            while len(group) < size and self._waiting[0].key == group[0].key:
                group.append(self._waiting.popleft())
            self._n_free -= 1
            task = asyncio.create_task(self._answer(group))
            self._groups.add(task)
            task.add_done_callback(self._groups.discard)

    async def _answer(self, group: list[_Text]) -> None:
        texts = [waiting.text for waiting in group]
        try:
            answers = await asyncio.get_running_loop().run_in_executor(
                self._pool, self._classify_with, group[0].key, texts
            )
        except Exception as error:  # noqa: BLE001  # every waiting client gets it
            for waiting in group:
                if not waiting.answer.done():  # its client may have disconnected
                    waiting.answer.set_exception(error)
        else:
            for waiting, answer in zip(group, answers, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)
        finally:
            self._n_free += 1
            self._start()

    def _classify_with(self, key: str, texts: Sequence[str]) -> list[Classified]:
        with asking_with_key(key):
            return self._classify(texts)
