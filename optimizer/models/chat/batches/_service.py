"""OpenAI's batch API (platform.openai.com/docs/api-reference/batch), what is open there, and waiting for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from filelock import FileLock, Timeout
from psopt.errors import InputError, PsoptError
from psopt.models.chat._client import BatchResults, NotThereError, ServerGoneError, TransientError, UnsupportedError
from psopt.models.chat._completion import read_json
from psopt.models.chat._secrets import redacted
from psopt.models.chat._wait_notices import clock, span

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Set

    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat._wait_notices import WaitNotices

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_LISTED = 100  # the most that the API lists at once
# Bytes per second of a slow line, from which the time for a file is computed.
_SLOW_LINE = 100_000
_BYTES_A_LINE = 10_000  # of a result with probabilities; others have a few thousand
_FOLDER = "batches"
_LOCK = "batches.lock"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchState:
    id: str
    status: str  # one of `ENDED` if it will not change any more
    n_answered: int = 0  # lines that are answered so far
    files: tuple[str, ...] = ()  # the output and the error file, as far as there are any
    # What was wrong with it: line, code and message; lines count from 1, None is for the whole batch
    errors: tuple[tuple[int | None, str, str], ...] = ()
    input_file: str = ""  # the file that it was opened with; empty where the server does not say


class BatchService:
    """Files and batches at one server; see `OpenAIClient.call` for what is raised."""

    def __init__(self, client: OpenAIClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        # At Azure, the request's model names the deployment.
        self.url = "/chat/completions" if client.is_azure else "/v1/chat/completions"

    async def check(self) -> None:
        """Raise InputError if the server has no batches."""
        answered = "something else"
        try:
            if await self._call(lambda data: isinstance(data["data"], list), "GET", "/batches", params={"limit": "1"}):
                return
        except NotThereError as error:
            answered = f"HTTP {error.status}"
        except TransientError as failure:
            if not failure.unreadable:
                raise
        raise InputError(
            f"--batch needs a server with OpenAI's batch API, and {self._client.endpoint} has no batches"
            f" (GET /batches answered {answered}): leave --batch out"
        )

    async def upload(self, content: bytes) -> str:
        return await self._call(_id, "POST", "/files", len(content), upload=content)

    async def create(self, file: str, tag: str) -> str:
        """Open a batch with a file of requests, under our own tag; return its id."""
        wish = {"input_file_id": file, "endpoint": self.url, "completion_window": "24h", "metadata": {"psopt": tag}}
        return await self._call(_id, "POST", "/batches", body=wish)

    async def find(self, tag: str) -> str | None:
        """Return the id of the batch with a tag, among the last hundred; None where there is none."""

        def own(listed: Any) -> str | None:
            tagged = (batch for batch in listed["data"] if (batch.get("metadata") or {}).get("psopt") == tag)
            return next(map(_id, tagged), None)

        return await self._call(own, "GET", "/batches", params={"limit": str(_LISTED)})

    async def state(self, id: str) -> BatchState:  # noqa: A002  # the API's word
        return await self._call(_state, "GET", f"/batches/{id}")

    async def content(self, file: str, n_lines: int) -> bytes:
        timeout = self._timeout + n_lines * _BYTES_A_LINE / _SLOW_LINE
        return await self._client.call("GET", f"/files/{file}/content", timeout)

    async def delete(self, file: str) -> None:
        await self._call(bool, "DELETE", f"/files/{file}")

    async def cancel(self, id: str) -> None:  # noqa: A002
        """Ask the server to end a batch; the answers so far stay."""
        await self._call(bool, "POST", f"/batches/{id}/cancel")

    async def _call(self, read: Callable[[Any], T], method: str, path: str, n_bytes: int = 0, **sent: Any) -> T:
        """Ask, and read the JSON in the answer; if it is not in the API's form, that failure may pass."""
        content = await self._client.call(method, path, self._timeout + n_bytes / _SLOW_LINE, **sent)
        try:
            return read(read_json(content))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise TransientError(f"{method} {path} was answered by {content[:80]!r}", unreadable=True) from None


def _id(data: Any) -> str:
    return redacted(str(data["id"]))


def _state(data: Any) -> BatchState:
    """Read a batch; an error's line may be missing, and so may all counts."""
    counts = data.get("request_counts") or {}
    listed = (data.get("errors") or {}).get("data") or []
    errors = tuple(
        (error.get("line"), f"{error.get('code') or ''}", f"{error.get('message') or ''}") for error in listed
    )
    files = tuple(str(file) for file in (data.get("output_file_id"), data.get("error_file_id")) if file)
    n_answered = int(counts.get("completed") or 0)
    return BatchState(_id(data), str(data["status"]), n_answered, files, errors, str(data.get("input_file_id") or ""))


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that was sent, or was about to be."""

    tag: str  # psopt's own name for it, which the server keeps with it
    server: str  # where it is
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
        self._folder = folder / _FOLDER
        self._server = server

    @contextlib.contextmanager
    def sending(self) -> Iterator[bool]:
        """Say whether nobody else opens batches here; if so, nobody in any process does until this ends."""
        lock = FileLock(self._folder.with_name(_LOCK), timeout=0)
        with contextlib.suppress(Timeout):
            lock.acquire()
        try:
            yield lock.is_locked
        finally:
            lock.release()

    def holding(self, keys: Set[bytes]) -> list[OpenBatch]:
        """The batches that contain one of these keys, whichever process sent them."""
        batches = filter(None, map(_read_open, sorted(self._folder.glob("*.json"))))
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
        self.file(batch).unlink(missing_ok=True)

    def file(self, batch: OpenBatch) -> Path:
        """Where a batch is kept while it is open; another process may just have read and removed it."""
        return self._folder / f"{batch.tag}.json"


def _read_open(file: Path) -> OpenBatch | None:
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


async def read_results(
    lines: Iterable[bytes], requests: Mapping[bytes, dict[str, Any]], client: OpenAIClient
) -> BatchResults:
    """Read the lines that belong to requests with these keys; others are passed over."""
    results = BatchResults()
    for line in lines:
        key, status, body = _result(line)
        if not status or key not in requests:
            continue
        try:
            results.answers[key] = await client.read_response(status, body, requests[key])
        except TransientError as failure:
            if failure.empty is None:
                results.failed.append(key)
            else:
                results.empty[key] = failure.empty
        except UnsupportedError:
            results.unsupported.add(key)
        except PsoptError as error:
            results.refusal = results.refusal or error
    return results


def _result(line: bytes) -> tuple[bytes, int, object]:
    """The key, the HTTP status and the body of a result; status 0 if it is not a result, or was not sent."""
    try:
        result = read_json(line)
        response = result.get("response") or {}
        return bytes.fromhex(result["custom_id"]), int(response.get("status_code") or 0), response.get("body")
    except (ValueError, LookupError, TypeError, AttributeError):
        return b"", 0, None


LONGEST_OUTAGE = 86_400.0  # seconds, a batch's window: after a longer outage every batch has expired


class Patience:
    """Asks again at each tick while a server is unreachable; by the loop's clock, which nobody sets."""

    def __init__(self, name: str, tick: float, notices: WaitNotices) -> None:
        self._name = name
        self._tick = tick
        self._notices = notices
        self._since: float | None = None

    async def insist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer; raises ServerGoneError if there was none for a day."""
        while True:
            try:
                answer = await ask()
            except TransientError as failure:
                await asyncio.sleep(max(self._tick, self.count(failure)))
            else:
                self.answered()
                return answer

    def count(self, failure: TransientError) -> float:
        """Record that a try has failed; return the seconds that the server asked to wait."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        away = now - self._since
        if away > LONGEST_OUTAGE:
            raise ServerGoneError(
                f"{self._name}: no word of its batches for {span(away)}: {failure}; they are kept, and asked for again"
                " when the run is resumed"
            ) from None
        notice = f"no word of its batches since {clock(-away)} ({failure}); asking again; Ctrl-C saves"
        self._notices.tell("away", notice)
        return min(failure.wait or 0.0, LONGEST_OUTAGE)

    def answered(self) -> None:
        self._since = None
        self._notices.tell_back()
