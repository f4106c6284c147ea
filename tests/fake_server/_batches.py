"""The fake server's batch API, as OpenAI publishes it: files, and batches that are answered in a while."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable
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


class Batch:
    """A batch: what the API shows of it, as far as psopt or a test reads that, its lines, and what becomes of it."""

    def __init__(self, name: str, asked: dict[str, Any], content: bytes, ending: str) -> None:
        self.lines: list[Line] = [json.loads(line) for line in content.splitlines()]
        self.ending = ending  # see `ENDINGS`
        self.shown: dict[str, Any] = {
            **{name: asked.get(name) for name in ("endpoint", "input_file_id", "completion_window", "metadata")},
            "id": name,
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "request_counts": {"total": len(self.lines), "completed": 0, "failed": 0},
        }

    def is_(self, *states: str) -> bool:
        return self.shown["status"] in states

    def validate(self, model: str) -> None:
        """Note what is wrong with it: what its ending says, lines of the same name, for elsewhere, for no model."""
        errors: list[tuple[str, str, int | None]] = []
        names = Counter(line["custom_id"] for line in self.lines)
        for number, line in enumerate(self.lines, 1):
            asked = line["body"]["model"]
            if names[line["custom_id"]] > 1 or (line["method"], line["url"]) != ("POST", self.shown["endpoint"]):
                errors.append(("invalid_line", "It has another's custom_id, or another URL than the batch.", number))
            elif model and asked != model:
                message = f"The provided model '{asked}' is not supported by the Batch API."
                errors.append(("model_not_found", message, number))
        if self.ending in _REFUSED:
            errors = [_REFUSED[self.ending]]
        if errors:
            data = [dict(zip(("code", "message", "line"), error, strict=True)) for error in errors]
            self.shown |= {"status": "failed", "errors": {"data": data}}


class Batches:
    """Files and batches, each of the key that brought it; a server answers, and has the options."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._owners: dict[str, str] = {}  # of files and batches
        self._files: dict[str, bytes] = {}
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

    def log(self) -> list[dict[str, Any]]:
        """Every batch, whoever opened it, and which of its files are there."""
        names = ("input_file_id", "output_file_id", "error_file_id")
        return [
            {**batch.shown, "files": [batch.shown[name] for name in names if batch.shown[name] in self._files]}
            for batch in self._batches.values()
        ]

    def _guarded(self, handle: Handler) -> Handler:
        """Refuse a key that is not the server's, another's file or batch, and all where there is no batch API."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if self._server.options.batches == "no":
                return web.Response(status=404, text="404 page not found")
            name = request.match_info.get("id")
            if name and self._owners.get(name) != _key(request):
                return self._server.error(404, f"There is no file or batch '{name}'", "not_found")
            return self._server.refuse(request, {}) or await handle(request)

        return guarded

    async def upload(self, request: web.Request) -> web.Response:
        parts = {part.name: bytes(await part.read()) async for part in await request.multipart()}
        content = parts["file"]
        if parts.get("purpose") != b"batch" or len(content) > self._server.options.batch_most_bytes:
            return self._server.error(400, "The file has no purpose 'batch', or is too large.", "invalid_file")
        return web.json_response({"id": self._keep(_key(request), content)})

    async def content(self, request: web.Request) -> web.Response:
        return web.Response(body=self._files[request.match_info["id"]])

    async def delete(self, request: web.Request) -> web.Response:
        del self._files[request.match_info["id"]]
        return web.json_response({"deleted": True})

    async def create(self, request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        file, owner = asked["input_file_id"], _key(request)
        if self._owners[file] != owner or asked["completion_window"] != "24h" or asked["endpoint"] not in _ENDPOINTS:
            return self._server.error(400, "file, endpoint and window must be right.", "invalid_request")
        name = f"batch_{next(self._numbers)}"
        batch = Batch(name, asked, self._files[file], self._next_ending())
        self._batches[name], self._owners[name] = batch, owner
        running = asyncio.ensure_future(self._run(batch, request))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return web.json_response(batch.shown)

    async def list_own(self, request: web.Request) -> web.Response:
        # The key's own, the last first
        own = [batch.shown for name, batch in self._batches.items() if self._owners[name] == _key(request)]
        return web.json_response({"data": own[::-1][: int(request.query["limit"])]})

    async def retrieve(self, request: web.Request) -> web.Response:
        if self._server.options.poll_faults:
            self._server.count_down("poll_faults")
            return self._server.error(503, "The server is overloaded.", "server_error")
        return web.json_response(self._batches[request.match_info["id"]].shown)

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self._batches[request.match_info["id"]]
        if not batch.is_("validating", "in_progress"):
            return self._server.error(409, "Cannot cancel a batch that has ended.", "invalid_request")
        batch.shown["status"] = "cancelling"
        return web.json_response(batch.shown)

    def _keep(self, owner: str, content: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self._files[name], self._owners[name] = content, owner
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
        if batch.is_("failed"):
            return
        if batch.is_("validating"):
            batch.shown["status"] = "in_progress"
        n_first = 0 if batch.ending == "unheard" else max(1, len(batch.lines) // 2)
        results = [self._answered(batch, line, request) for line in batch.lines[:n_first]]
        await self._wait(batch)
        rest, status = batch.lines[n_first:], "completed"
        if batch.is_("cancelling") or batch.ending == "cancelled":
            status = "cancelled"
        elif batch.ending in {"expired", "unheard"}:
            status = "expired"
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
        while loop.time() - began < self._server.options.batch_ms / 2000 and not batch.is_("cancelling"):
            await asyncio.sleep(_LOOK)

    def _end(self, batch: Batch, results: list[Line], status: str) -> None:
        """Write the files: answers and errors, in an order of the server's own."""
        owner = self._owners[batch.shown["id"]]
        for name, is_good in (("output_file_id", True), ("error_file_id", False)):
            lines = [line for line in results[::-1] if _is_answered(line) == is_good]
            if lines:
                batch.shown[name] = self._keep(owner, "".join(json.dumps(line) + "\n" for line in lines).encode())
        batch.shown["request_counts"]["failed"] = sum(not _is_answered(line) for line in results)
        batch.shown["status"] = status

    def _answered(self, batch: Batch, line: Line, request: web.Request) -> Line:
        """Answer one line as it would be answered alone."""
        response = self._server.respond(request, line["body"])
        result = _result(line, {"status_code": response.status, "body": json.loads(response.text or "")})
        batch.shown["request_counts"]["completed"] += _is_answered(result)
        return result


def _result(line: Line, response: Any, code: str = "") -> Line:
    return {"custom_id": line["custom_id"], "response": response, "error": {"code": code} if code else None}


def _is_answered(result: Line) -> bool:
    return bool(result["response"]) and result["response"]["status_code"] == 200


def _key(request: web.Request) -> str:
    headers = request.headers
    return str(headers.get("Authorization") or headers.get("api-key") or "")
