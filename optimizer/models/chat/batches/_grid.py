"""A grid on its way: what is answered, what waits, and what batches have failed to answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._engine import Engine
    from psopt.models.chat._worker_pool import Progress


class Grid:
    """A grid on its way: its queries by the keys of their answers, which change when requests do.

    Attributes
    ----------
    answers : dict
        By the query's place.
    waiting : dict
        Places of queries without an answer, by their keys.
    alone : set of bytes
        What batches can't answer.
    """

    def __init__(
        self, queries: Sequence[Query], engine: Engine, progress: Progress, monitor: AnswerMonitor | None
    ) -> None:
        self._queries = queries
        self._engine = engine
        self._monitor = monitor
        self.progress = progress
        self.answers: dict[int, Answer] = {}
        self.waiting: dict[bytes, int] = {}
        self.alone: set[bytes] = set()
        self.failures: Counter[bytes] = Counter()
        self._former: set[bytes] = set()
        self.write_keys()

    def write_keys(self) -> None:
        """Find the keys anew, after requests are written in another way: what failed before may do now."""
        self._former |= self.waiting.keys()
        places = (place for place in range(len(self._queries)) if place not in self.answers)
        self.waiting = {self._engine.key(self._queries[place]): place for place in places}

    @property
    def keys(self) -> set[bytes]:
        """Those of what waits, as requests are written now and as they were when batches were sent."""
        return self._former | self.waiting.keys()

    def query(self, key: bytes) -> Query | None:
        """The query whose answer has a key; None if it is none of this grid's, or answered."""
        place = self.waiting.get(key)
        return None if place is None else self._queries[place]

    def answered(self, key: bytes, answer: Answer) -> None:
        """Take in an answer, if it is one of this grid's; raises what the monitor does."""
        place = self.waiting.pop(key, None)
        if place is None:
            return
        self.answers[place] = answer
        self.progress.count_answer()
        if self._monitor is not None:
            self._monitor.observe(answer)
