"""Sending batches: lines up to the limits, a file, and a note on disk before the server knows of it."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import BudgetReachedError, PsoptError
from psopt.models.chat.batches._open_batches import OpenBatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.models.chat._engine import Engine
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat.batches._grid import GridState
    from psopt.models.chat.batches._open_batches import OpenBatches
    from psopt.models.chat.batches._patience import Patience
    from psopt.models.chat.batches._service import BatchService

MOST_LINES = 50_000  # OpenAI's limits (platform.openai.com/docs/guides/batch), and Azure's
MOST_BYTES = 200_000_000


class Sender:
    """Puts queries into batches and opens them.

    What each line may take at most is set aside in the budget until it is answered or will not be.

    Attributes
    ----------
    most_lines : int
        In one batch; the runner lowers it where the server finds that too many.
    sent : set of str
        Tags of the batches that were opened here.
    """

    def __init__(
        self, engine: Engine, client: OpenAIClient, service: BatchService, batches: OpenBatches, patience: Patience
    ) -> None:
        self._engine = engine
        self._client = client
        self._service = service
        self._batches = batches
        self._patience = patience
        self.most_lines = min(engine.options.batch_size, MOST_LINES)
        self.sent: set[str] = set()
        self._reserved: dict[bytes, tuple[int, float]] = {}

    def next_lines(self, keys: Iterable[bytes], grid: GridState) -> dict[bytes, bytes]:
        """Write the lines of one batch, as many as the limits allow; none while the budget is set aside for others.

        A line's `custom_id` is its answer's key, by which anyone can tell what it answers.

        Raises BudgetReachedError if it doesn't pay a single one.
        """
        lines: dict[bytes, bytes] = {}
        n_bytes = 0
        for key in keys:
            query = grid.query(key)
            if query is None:
                continue
            request = self._client.request(query)
            wish = {"custom_id": key.hex(), "method": "POST", "url": self._service.url, "body": request}
            line = json.dumps(wish).encode() + b"\n"
            n_bytes += len(line)
            if len(lines) == self.most_lines or (lines and n_bytes > MOST_BYTES):
                break
            most = self._engine.most(query, in_batch=True)
            try:
                has_room = self._engine.budget.reserve(*most)
            except BudgetReachedError:
                if not lines:
                    raise
                break
            if not has_room:
                break
            self._reserved[key] = most
            lines[key] = line
        return lines

    def hold(self, batch: OpenBatch, grid: GridState) -> None:
        """Set aside what a batch that another process has opened may take: it is as good as spent."""
        share = batch.most_tokens // len(batch.keys), batch.most_cost / len(batch.keys)
        for key in map(bytes.fromhex, batch.keys):
            if key not in self._reserved:
                query = grid.query(key)
                self._reserved[key] = share if query is None else self._engine.most(query, in_batch=True)
                self._engine.budget.set_aside(*self._reserved[key])

    def settle(self, keys: Iterable[bytes]) -> None:
        """Give back what was set aside for these."""
        for key in keys:
            if key in self._reserved:
                self._engine.budget.release(*self._reserved.pop(key))

    async def send(self, lines: dict[bytes, bytes]) -> OpenBatch:
        """Open a batch of these lines; whoever is interrupted meanwhile finds it again by its tag."""
        keys = tuple(key.hex() for key in lines)
        tokens, costs = zip(*(self._reserved[key] for key in lines), strict=True)
        batch = OpenBatch(
            uuid.uuid4().hex,
            self._client.endpoint,
            self._client.name,
            self._client.owner,
            keys,
            most_tokens=sum(tokens),
            most_cost=sum(costs),
        )
        self.sent.add(batch.tag)
        try:
            self._batches.keep(batch)
            file = await self._patience.insist(lambda: self._service.upload(b"".join(lines.values())))
            batch = replace(batch, id=await self._open(file, batch.tag))
            self._batches.keep(batch)
        except PsoptError:  # refused: nothing is open
            self._batches.drop(batch)
            raise
        return batch

    async def _open(self, file: str, tag: str) -> str:
        """Open a batch; a try that seemed to fail may have opened it, so look before the next."""
        has_tried = False

        async def attempt() -> str:
            nonlocal has_tried
            opened = await self._service.find(tag) if has_tried else None
            has_tried = True
            return opened or await self._service.create(file, tag)

        return await self._patience.insist(attempt)
