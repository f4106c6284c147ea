"""Work in progress: a grid, in memory; batches, on disk, so that nothing in them is paid for twice."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from psopt.models.chat._answer_monitor import AnswerMonitor
    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._engine import Engine
    from psopt.models.chat._worker_pool import Progress

FOLDER = "batches"
_LOCK = "batches.lock"


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that was sent, or was about to be."""

    tag: str  # psopt's own name for it, which the server keeps with it
    # Where it is, and which model it asks
    server: str
    model: str
    owner: str  # a hash of the key that opened it
    keys: tuple[str, ...]  # the answers' keys, hexadecimal, in the order of the lines
    id: str = ""  # the server's name for it; empty until that is known
    # The most that all its lines together can take
    most_tokens: int = 0
    most_cost: float = 0.0

    @property
    def answer_keys(self) -> list[bytes]:
        return [bytes.fromhex(key) for key in self.keys]


class OpenBatches:
    """The open batches of one server, one file each, next to the answer cache: the next run waits for them.

    `folder` is the answer cache's; None keeps them as long as the process lives.
    """

    def __init__(self, folder: Path | None, server: str) -> None:
        if folder is None:
            self._temporary = TemporaryDirectory()
            folder = Path(self._temporary.name)
        self._folder = folder / FOLDER
        self._server = server

    @contextlib.contextmanager
    def sending(self) -> Iterator[bool]:
        """Say whether nobody else opens batches here; if so, nobody in any process does until this ends."""
        with contextlib.ExitStack() as stack:
            may_send = True
            try:
                stack.enter_context(FileLock(self._folder.with_name(_LOCK), timeout=0))
            except Timeout:
                may_send = False
            yield may_send

    def holding(self, keys: Set[bytes]) -> list[OpenBatch]:
        """The batches that contain one of these keys, whichever process sent them."""
        batches = filter(None, map(_read, sorted(self._folder.glob("*.json"))))
        own = (batch for batch in batches if batch.server == self._server)
        return [batch for batch in own if not keys.isdisjoint(batch.answer_keys)]

    def keep(self, batch: OpenBatch) -> None:
        """Keep a batch before it is sent, and once the server has named it."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = self._folder / f"{batch.tag}.part"
            draft.write_text(json.dumps(asdict(batch)), "utf-8")
            draft.replace(self.file(batch))
        except OSError as error:
            raise InputError(f"{self._folder} can't be written: {error}; choose another --cache-dir") from error

    def drop(self, batch: OpenBatch) -> None:
        """Forget a batch: its answers are kept, or there are none."""
        self.file(batch).unlink(missing_ok=True)

    def file(self, batch: OpenBatch) -> Path:
        """Where a batch is kept while it is open; another process may just have read and removed it."""
        return self._folder / f"{batch.tag}.json"


def _read(file: Path) -> OpenBatch | None:
    try:
        data = json.loads(file.read_text())
        field_values = {field.name: data[field.name] for field in fields(OpenBatch) if field.name in data}
        return OpenBatch(**{**field_values, "keys": tuple(data["keys"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"{file} should say which batch is open, and can't be read ({error}): delete it, and what the batch"
            " holds is asked again"
        ) from None


class Grid:
    """A grid in progress."""

    def __init__(self, queries: Sequence[Query], engine: Engine, progress: Progress, monitor: AnswerMonitor) -> None:
        self._queries = queries
        self._monitor = monitor
        self.progress = progress
        self.answers: dict[int, Answer] = {}  # by the query's place
        # Places of queries without an answer, by the keys of their answers
        self.waiting = {engine.key(query): place for place, query in enumerate(queries)}
        self.alone: set[bytes] = set()  # what batches can't answer
        self.failures: Counter[bytes] = Counter()  # failed tries in batches, by key

    def query(self, key: bytes) -> Query | None:
        """The query whose answer has a key; None if it is not in this grid, or answered."""
        place = self.waiting.get(key)
        return None if place is None else self._queries[place]

    def answered(self, key: bytes, answer: Answer) -> None:
        """Record an answer if it belongs to this grid; raises what the monitor does."""
        place = self.waiting.pop(key, None)
        if place is None:
            return
        self.answers[place] = answer
        self.progress.count_answer()
        self._monitor.observe(answer)
