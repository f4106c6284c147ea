"""The batch API as OpenAI publishes it (platform.openai.com/docs/api-reference/batch), and Azure after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models.chat._errors import NotThereError, TransientError
from psopt.models.chat._server_json import read_json

if TYPE_CHECKING:
    from psopt.models.chat._openai_client import OpenAIClient

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_LISTED = 100  # the most that the API lists at once
# Bytes a second of a line that is slow, by which the time for a file is counted.
_SLOW_LINE = 100_000


@dataclass(frozen=True, slots=True)
class BatchState:
    """How a batch stands.

    Attributes
    ----------
    id, status : str
    n_answered : int
        Lines that are answered so far.
    files : tuple of str
        The output and the error file, as far as there are any.
    input_file : str
        The file that it was opened on; empty where the server does not say.
    errors : tuple of (line, code, message)
        What was wrong with it; a line counts from 1, and is None for what is wrong with the whole.
    """

    id: str
    status: str
    n_answered: int = 0
    files: tuple[str, ...] = ()
    errors: tuple[tuple[int | None, str, str], ...] = ()
    input_file: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.status in _ENDED


class BatchService:
    """Files and batches at one server; see `OpenAIClient.call` for what is raised.

    Parameters
    ----------
    client : OpenAIClient
    timeout : float
        Seconds to wait for an answer that is short.
    """

    def __init__(self, client: OpenAIClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        # Azure's resources know the deployment by the request's model.
        self.url = "/chat/completions" if client.is_azure else "/v1/chat/completions"

    async def check(self) -> None:
        """Make sure that the server has batches.

        Raises
        ------
        InputError
            If it has none.
        """
        try:
            listed = await self._call("GET", "/batches", {"limit": "1"})
        except NotThereError as error:
            raise self._none(f"HTTP {error.status}") from None
        if not isinstance(listed.get("data"), list):
            raise self._none("something else")

    def _none(self, answered: str) -> InputError:
        where = f"{self._client.endpoint} has no batches (GET /batches answered {answered})"
        return InputError(f"--batch needs a server with OpenAI's batch API, and {where}: leave --batch out")

    async def upload(self, content: bytes) -> str:
        """Send a file of requests; return its name."""
        timeout = self._timeout + len(content) / _SLOW_LINE
        data = await self._client.call("POST", "/files", timeout, upload=content)
        return str(_object(data)["id"])

    async def create(self, file: str, tag: str) -> str:
        """Open a batch on a file of requests, under a tag of ours; return its id."""
        wish = {"input_file_id": file, "endpoint": self.url, "completion_window": "24h", "metadata": {"psopt": tag}}
        return str((await self._call("POST", "/batches", body=wish))["id"])

    async def find(self, tag: str) -> str | None:
        """Return the id of the batch under a tag, among the last hundred; None where there is none."""
        listed = await self._call("GET", "/batches", {"limit": str(_LISTED)})
        own = (batch for batch in listed["data"] if (batch.get("metadata") or {}).get("psopt") == tag)
        return next((str(batch["id"]) for batch in own), None)

    async def state(self, id: str) -> BatchState:  # noqa: A002  # the API's word
        """Ask how a batch stands."""
        return _state(await self._call("GET", f"/batches/{id}"))

    async def content(self, file: str, n_lines: int) -> bytes:
        """Fetch a file of so many results."""
        # A result with its envelope has some thousand bytes, with probabilities ten thousand.
        return await self._client.call("GET", f"/files/{file}/content", self._timeout + n_lines * 10_000 / _SLOW_LINE)

    async def delete(self, file: str) -> None:
        """Delete a file."""
        await self._call("DELETE", f"/files/{file}")

    async def cancel(self, id: str) -> None:  # noqa: A002
        """Ask for a batch to be ended; what is answered stays."""
        await self._call("POST", f"/batches/{id}/cancel")

    async def _call(
        self, method: str, path: str, params: dict[str, str] | None = None, body: Any = None
    ) -> dict[str, Any]:
        data = await self._client.call(method, path, self._timeout, params=params, body=body)
        return _object(data)


def _object(data: bytes) -> dict[str, Any]:
    try:
        body = read_json(data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise TransientError(f"no JSON object: {data[:80]!r}", unreadable=True)
    return body


def _state(data: dict[str, Any]) -> BatchState:
    """Read a batch; an error's line may be missing, and so may all counts."""
    counts = data.get("request_counts") or {}
    listed = (data.get("errors") or {}).get("data") or []
    errors = tuple(
        (error.get("line"), f"{error.get('code') or ''}", f"{error.get('message') or ''}") for error in listed
    )
    files = tuple(str(file) for file in (data.get("output_file_id"), data.get("error_file_id")) if file)
    return BatchState(
        str(data.get("id")),
        str(data.get("status")),
        int(counts.get("completed") or 0),
        files,
        errors,
        str(data.get("input_file_id") or ""),
    )
