"""The fake server's batch API, as OpenAI publishes it: files, and batches that are answered in a while."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from tests.fake_server._server import Server

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Line = dict[str, Any]
ENDINGS = {
    "completed": "every line is answered",
    "partial": "completed, but the lines after a half of them are errors of the server",
    "expired": "the window closes after half of the lines",
    "cancelled": "somebody cancels it after half of the lines",
    "unheard": "the window closes before the first line",
    "rejected": "its first line does not pass the validation",
    "tokens": "failed: too many tokens wait in batches already",
    "failed": "failed: the account's limit is reached",
}
# OpenAI's first URL; Azure's deployments are asked at the second.
_ENDPOINTS = ("/v1/chat/completions", "/chat/completions")
_PREFIXES = ("/v1", "/openai", "/openai/v1")
_LOOK = 0.005  # seconds between two looks at options that may have changed
# Errors before anything is answered, by the ending that they stand for: code, message, line
_REFUSED = {
    "tokens": ("token_limit_exceeded", "Enqueued token limit reached for test. Please try again later.", None),
    "failed": ("billing_hard_limit_reached", "Billing hard limit has been reached.", None),
    "rejected": ("invalid_request", "This line can't be processed.", 1),
}
_FAULT = {"error": {"message": "The server had an error while processing your request.", "code": "server_error"}}


@dataclass(slots=True, eq=False)
class Batch:
    """A batch; no other key than its owner's sees it."""

    id: str
    owner: str
    input_file_id: str
    endpoint: str
    metadata: dict[str, str] | None
    ending: str  # what becomes of it, see `ENDINGS`
    lines: list[Line] = field(default_factory=list)
    status: str = "validating"
    errors: list[dict[str, Any]] = field(default_factory=list)
    n_completed: int = 0
    n_failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None

    @property
    def files(self) -> list[str]:
        """Its input file and what it has written."""
        return [file for file in (self.input_file_id, self.output_file_id, self.error_file_id) if file]

    def to_dict(self) -> dict[str, Any]:
        """What the API shows of it, as far as psopt or a test reads that."""
        names = ("id", "endpoint", "input_file_id", "status", "output_file_id", "error_file_id", "metadata")
        return {
            **{name: getattr(self, name) for name in names},
            "completion_window": "24h",
            "errors": {"data": self.errors} if self.errors else None,
            "request_counts": {"total": len(self.lines), "completed": self.n_completed, "failed": self.n_failed},
        }

    def validate(self, model: str) -> None:
        """Note what is wrong with it: what its ending says, lines of the same name, for elsewhere, for no model."""
        if self.ending in _REFUSED:
            self._note(*_REFUSED[self.ending])
            return
        if len({line["custom_id"] for line in self.lines}) < len(self.lines):
            self._note("duplicate_custom_id", "The custom_id of a line is that of another, too.", 1)
        for number, line in enumerate(self.lines, 1):
            asked = line["body"]["model"]
            if (line["method"], line["url"]) != ("POST", self.endpoint):
                self._note("mismatched_url", f"The URL does not match the batch's, {self.endpoint}.", number)
            elif model and asked != model:
                message = f"The provided model '{asked}' is not supported by the Batch API."
                self._note("model_not_found", message, number)

    def _note(self, code: str, message: str, line: int | None) -> None:
        self.errors.append({"code": code, "message": message, "line": line})


class Batches:
    """Files and batches, each of the key that brought it; a server answers, and has the options."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._files: dict[str, tuple[str, bytes]] = {}  # owner and content
        self._batches: dict[str, Batch] = {}
        self._numbers = itertools.count(1)
        self._running: set[asyncio.Task[None]] = set()
        self._endings_to_come: list[str] = []
        self._endings = ""

    def add_routes(self, app: web.Application) -> None:
        """Serve the API's addresses: OpenAI's, and Azure's with a version in the query or in the path."""
        routes = [
            ("POST", "/files", self.upload),
            ("GET", "/files/{id}/content", self.content),
            ("DELETE", "/files/{id}", self.delete),
            ("POST", "/batches", self.create),
            ("GET", "/batches", self.list_own),
            ("GET", "/batches/{id}", self.retrieve),
            ("POST", "/batches/{id}/cancel", self.cancel),
        ]
        for prefix, (method, path, handle) in itertools.product(_PREFIXES, routes):
            app.router.add_route(method, f"{prefix}{path}", self._guarded(handle))
        app.router.add_get("/control/batches", self.control)

    def _guarded(self, handle: Handler) -> Handler:
        """Refuse a key that is not the server's, another's file or batch, and all where there is no batch API."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if self._server.options.batches == "no":
                return web.Response(status=404, text="404 page not found")
            if refusal := self._server.refuse(request, {}):
                return refusal
            name = request.match_info.get("id")
            owners = {file: owner for file, (owner, _) in self._files.items()}
            owners |= {batch.id: batch.owner for batch in self._batches.values()}
            if name and owners.get(name) != _key(request):
                return self._server.error(404, f"There is no file or batch '{name}'", "not_found")
            return await handle(request)

        return guarded

    async def upload(self, request: web.Request) -> web.Response:
        parts: dict[str, bytes] = {}
        async for part in await request.multipart():
            parts[part.name or ""] = bytes(await part.read())
        content = parts.get("file", b"")
        if parts.get("purpose") != b"batch" or len(content) > self._server.options.batch_most_bytes:
            return self._server.error(400, "The file has no purpose 'batch', or is too large.", "invalid_file")
        return web.json_response({"id": self._keep(_key(request), content)})

    async def content(self, request: web.Request) -> web.Response:
        return web.Response(body=self._files[request.match_info["id"]][1])

    async def delete(self, request: web.Request) -> web.Response:
        del self._files[request.match_info["id"]]
        return web.json_response({"deleted": True})

    async def create(self, request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        owner, content = self._files.get(asked.get("input_file_id"), ("", b""))
        if owner != _key(request) or asked.get("completion_window") != "24h" or asked.get("endpoint") not in _ENDPOINTS:
            message = "input_file_id, endpoint and completion_window are needed."
            return self._server.error(400, message, "invalid_request")
        name = f"batch_{next(self._numbers)}"
        batch = Batch(
            name, owner, asked["input_file_id"], asked["endpoint"], asked.get("metadata"), self._next_ending()
        )
        batch.lines = [json.loads(line) for line in content.splitlines()]
        self._batches[name] = batch
        running = asyncio.ensure_future(self._run(batch, request))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return web.json_response(batch.to_dict())

    async def list_own(self, request: web.Request) -> web.Response:
        # The key's own, the last first
        own = [batch.to_dict() for batch in reversed(self._batches.values()) if batch.owner == _key(request)]
        return web.json_response({"data": own[: int(request.query["limit"])]})

    async def retrieve(self, request: web.Request) -> web.Response:
        if self._server.options.poll_faults:
            self._server.count_down("poll_faults")
            return self._server.error(503, "The server is overloaded.", "server_error")
        return web.json_response(self._batches[request.match_info["id"]].to_dict())

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self._batches[request.match_info["id"]]
        if batch.status not in {"validating", "in_progress"}:
            return self._server.error(409, f"Cannot cancel a batch with status '{batch.status}'.", "invalid_request")
        batch.status = "cancelling"
        return web.json_response(batch.to_dict())

    async def control(self, _: web.Request) -> web.Response:
        """GET /control/batches: every batch, whoever opened it, and which files it has."""
        return web.json_response(
            [
                {**batch.to_dict(), "files": [file for file in batch.files if file in self._files]}
                for batch in self._batches.values()
            ]
        )

    def _keep(self, owner: str, content: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self._files[name] = (owner, content)
        return name

    def _next_ending(self) -> str:
        """What becomes of the next batch: endings that were told anew begin anew."""
        told = self._server.options.batch_endings
        if told != self._endings:
            self._endings = told
            self._endings_to_come = [*filter(None, told.split(","))]
        return self._endings_to_come.pop(0) if self._endings_to_come else "completed"

    async def _run(self, batch: Batch, request: web.Request) -> None:
        """Take a batch through its life: half of its lines are answered at first."""
        await self._wait(batch)
        batch.validate(self._server.options.model)
        if batch.errors:
            batch.status = "failed"
            return
        if batch.status == "validating":
            batch.status = "in_progress"
        n_first = 0 if batch.ending == "unheard" else max(1, len(batch.lines) // 2)
        results = [self._answered(batch, line, request) for line in batch.lines[:n_first]]
        await self._wait(batch)
        rest = batch.lines[n_first:]
        expires = batch.ending in {"expired", "unheard"}
        status = "expired" if expires else "completed"
        if batch.status == "cancelling" or batch.ending == "cancelled":
            status = "cancelled"
        elif expires:
            results += [_result(line, None, "batch_expired") for line in rest]
        elif batch.ending == "partial":
            results += [_result(line, {"status_code": 500, "body": _FAULT}) for line in rest]
        else:
            results += [self._answered(batch, line, request) for line in rest]
        self._end(batch, results, status)

    async def _wait(self, batch: Batch) -> None:
        """Wait for half of what a batch takes; a wish to cancel it cuts that short."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < self._server.options.batch_ms / 2000 and batch.status != "cancelling":
            await asyncio.sleep(_LOOK)

    def _end(self, batch: Batch, results: list[Line], status: str) -> None:
        """Write the files: answers and errors, in an order of the server's own."""
        good = [line for line in results if _is_answered(line)]
        bad = [line for line in results if not _is_answered(line)]
        batch.n_failed = len(bad)
        if good:
            batch.output_file_id = self._keep(batch.owner, _jsonl(good[::-1]))
        if bad:
            batch.error_file_id = self._keep(batch.owner, _jsonl(bad[::-1]))
        batch.status = status

    def _answered(self, batch: Batch, line: Line, request: web.Request) -> Line:
        """Answer one line as it would be answered alone."""
        response = self._server.respond(request, line["body"])
        result = _result(line, {"status_code": response.status, "body": json.loads(response.text or "")})
        batch.n_completed += _is_answered(result)
        return result


def _result(line: Line, response: Any, code: str = "") -> Line:
    return {"custom_id": line["custom_id"], "response": response, "error": {"code": code} if code else None}


def _is_answered(result: Line) -> bool:
    return bool(result["response"]) and result["response"]["status_code"] == 200


def _jsonl(lines: list[Line]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _key(request: web.Request) -> str:
    headers = request.headers
    return str(headers.get("Authorization") or headers.get("api-key") or "")
