"""What a server accepts: found out with one request before the others are sent, and remembered for all runs.

Each refusal teaches one thing, even if other requests are refused for the same reason at the same time. Where a refusal
does not say what it is about, parts of the request are left out one by one until it is answered.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

from psopt.models._answer_cache import answer_key
from psopt.models.chat._client import UnclearRefusalError
from psopt.models.chat._dialect import TOKENS_ALONE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from psopt.models._answer_cache import AnswerCache
    from psopt.models.chat._client import Answer, ChatClient, Query

# Where these are requested, nothing can be measured without them: only a refusal that names them drops them.
_NEEDED = frozenset({"logprobs", TOKENS_ALONE})


class Negotiation:
    """What is known of one server and model; `anew` forgets what was learnt before."""

    def __init__(self, client: ChatClient, cache: AnswerCache, *, anew: bool = False) -> None:
        self._client = client
        self._cache = cache
        self._taken: set[str] = set()
        if anew:
            cache.forget([*self._keys("unsupported"), *self._keys("taken")])
        self._recall()

    async def settle(self, queries: Iterable[Query], ask: Callable[[Query], Awaitable[Answer]]) -> None:
        """Have a first query answered, unless all that it uses is known to be accepted.

        First requests to one model wait for each other, in all engines. Another query follows where a text is refused
        for good, which says nothing about others.
        """
        async with _lock(self._client.endpoint, self._client.name):
            self._recall()
            for query in queries:
                if self._taken.issuperset(self._used(query)):
                    return
                answer = await self._find_out(query, ask)
                if not answer.unanswered:
                    new = set(self._used(query)) - self._taken
                    self._taken |= new
                    self._cache.put_many({self._key("taken", name): True for name in new})
                    return

    def _recall(self) -> None:
        """Load what others have learnt."""
        refused, taken = self._keys("unsupported"), self._keys("taken")
        for key in self._cache.get_many([*refused, *taken]):
            if key in refused:
                self._client.refused.add(refused[key])
            else:
                self._taken.add(taken[key])

    def refused(self, feature: str) -> None:
        self._client.refused.add(feature)
        self._cache.put(self._key("unsupported", feature), value=True)

    async def _find_out(self, query: Query, ask: Callable[[Query], Awaitable[Answer]]) -> Answer:
        """Ask until a request is answered, leaving out more where a refusal doesn't say what it is about.

        The last feature left out is to blame; those before it are not, if a request with them is answered. Raises
        UnclearRefusalError if even the barest request is refused.
        """
        dropped: list[str] = []
        while (answer := await _unless_unclear(query, ask)) is None:
            optional_features = [name for name in self._used(query) if name not in _NEEDED]
            if not optional_features:
                self._client.refused.difference_update(dropped)
                return await ask(query)
            dropped.append(optional_features[0])
            self._client.refused.add(optional_features[0])
        if dropped:
            blamed = [dropped.pop()]
            self._client.refused.difference_update(dropped)
            if dropped and await _unless_unclear(query, ask) is None:
                blamed += dropped
            for name in blamed:
                self.refused(name)
        return answer

    def _used(self, query: Query) -> list[str]:
        return [feature.name for feature in self._client.negotiable(self._client.request(query))]

    def _keys(self, kind: str) -> dict[bytes, str]:
        return {self._key(kind, feature.name): feature.name for feature in self._client.features}

    def _key(self, kind: str, feature: str) -> bytes:
        return answer_key(endpoint=self._client.endpoint, model=self._client.name, **{kind: feature})


async def _unless_unclear(query: Query, ask: Callable[[Query], Awaitable[Answer]]) -> Answer | None:
    try:
        return await ask(query)
    except UnclearRefusalError:
        return None


@functools.cache
def _lock(_endpoint: str | None, _name: str) -> asyncio.Lock:
    return asyncio.Lock()  # of the one loop that all models share (`_worker_pool.py`)
