"""The fake server's batch API: files, and batches that are answered in a while, as OpenAI publishes it."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fake_server._answering import BadRequestError, digest
from tests.fake_server._batch import ENDPOINTS, Batch, errors_in
from tests.fake_server._providers import refuse
from tests.fake_server._shapes import unanswerable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.fake_server._server import Server

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

FIRST_SHARE = 0.5  # of a batch's lines: answered at first, and before it expires or is cancelled
_LOOK = 0.005  # seconds between two looks at options that may have changed
_PREFIXES = ("/v1", "/openai", "/openai/v1")
_EXPIRED = {
    "code": "batch_expired",
    "message": "This request could not be executed before the completion window expired.",
}


class BatchServer:
    """Files and batches, each of the key that brought it; a server answers, and has the options."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._files: dict[str, tuple[str, bytes]] = {}
        self._batches: dict[str, Batch] = {}
        self._numbers = itertools.count(1)
        self._running: set[asyncio.Task[None]] = set()
        self._n_opened = 0
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
        """Refuse a key that is not the server's, and everything where there is no batch API."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if self._server.options.batches == "no":
                return web.Response(status=404, text="404 page not found")
            return self._server.refuse(request, {}) or await handle(request)

        return guarded

    async def upload(self, request: web.Request) -> web.Response:
        """POST /v1/files."""
        parts: dict[str, bytes] = {}
        async for part in await request.multipart():
            parts[part.name or ""] = bytes(await part.read())
        content = parts.get("file", b"")
        if parts.get("purpose") != b"batch" or len(content) > self._server.options.batch_most_bytes:
            return _error(400, "The file has no purpose 'batch', or is too large.", "invalid_file")
        name = self._keep(request, content)
        shown = {"id": name, "object": "file", "bytes": len(content), "purpose": "batch", "status": "processed"}
        return web.json_response(shown)

    async def content(self, request: web.Request) -> web.Response:
        """GET /v1/files/ID/content."""
        return self._of_file(request) or web.Response(body=self._files[request.match_info["id"]][1])

    async def delete(self, request: web.Request) -> web.Response:
        """DELETE /v1/files/ID."""
        name = request.match_info["id"]
        if refusal := self._of_file(request):
            return refusal
        del self._files[name]
        return web.json_response({"id": name, "object": "file", "deleted": True})

    def _of_file(self, request: web.Request) -> web.Response | None:
        """Refuse what is about another key's file, or about none."""
        name = request.match_info["id"]
        if self._files.get(name, ("", b""))[0] == _key(request):
            return None
        return _error(404, f"No such File object: {name}", "not_found")

    async def create(self, request: web.Request) -> web.Response:
        """POST /v1/batches."""
        asked = json.loads(await request.read())
        owner, content = self._files.get(asked.get("input_file_id"), ("", b""))
        if owner != _key(request) or asked.get("completion_window") != "24h" or asked.get("endpoint") not in ENDPOINTS:
            return _error(400, "input_file_id, endpoint and completion_window are needed.", "invalid_request")
        name = f"batch_{next(self._numbers)}"
        batch = Batch(name, owner, asked["input_file_id"], asked["endpoint"], asked.get("metadata"), self._ending())
        self._batches[name] = batch
        running = asyncio.ensure_future(self._run(batch, content, request))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return web.json_response(batch.to_dict())

    async def list_own(self, request: web.Request) -> web.Response:
        """GET /v1/batches: the key's own, the last first."""
        own = [batch.to_dict() for batch in reversed(self._batches.values()) if batch.owner == _key(request)]
        most = int(request.query.get("limit", 20))
        return web.json_response({"object": "list", "data": own[:most], "has_more": len(own) > most})

    async def retrieve(self, request: web.Request) -> web.Response:
        """GET /v1/batches/ID."""
        if self._server.options.poll_faults:
            self._server.count_down("poll_faults")
            return _error(503, "The server is overloaded.", "server_error")
        return self._own(request)

    async def cancel(self, request: web.Request) -> web.Response:
        """POST /v1/batches/ID/cancel."""
        batch = self._batches.get(request.match_info["id"])
        if batch and batch.owner == _key(request):
            if batch.has_ended:
                return _error(409, f"Cannot cancel a batch with status '{batch.status}'.", "invalid_request")
            batch.enter("cancelling")
        return self._own(request)

    async def control(self, _: web.Request) -> web.Response:
        """GET /control/batches: every batch, whoever opened it, and which files it has."""
        return web.json_response(
            [
                {**batch.to_dict(), "files": [file for file in batch.files if file in self._files]}
                for batch in self._batches.values()
            ]
        )

    def _own(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        batch = self._batches.get(name)
        if batch is None or batch.owner != _key(request):
            return _error(404, f"No batch found with id '{name}'.", "not_found")
        return web.json_response(batch.to_dict())

    def _keep(self, request: web.Request, content: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self._files[name] = (_key(request), content)
        return name

    def _ending(self) -> str:
        """What becomes of the next batch: endings that were told anew begin anew."""
        told = self._server.options.batch_endings
        if told != self._endings:
            self._endings = told
            self._n_opened = 0
        endings = [*filter(None, told.split(","))]
        self._n_opened += 1
        return endings[self._n_opened - 1] if self._n_opened <= len(endings) else "completed"

    async def _run(self, batch: Batch, content: bytes, request: web.Request) -> None:
        """Take a batch through its life."""
        await self._wait(batch)
        if errors := errors_in(content, batch, self._server.options.model):
            batch.fail(errors)
            return
        if batch.status == "validating":
            batch.enter("in_progress")
        n_first = max(1, int(len(batch.lines) * FIRST_SHARE))
        answered = await self._answers(batch, batch.lines[:n_first], request)
        await self._wait(batch)
        if batch.status == "cancelling" or batch.ending == "cancelled":
            self._end(batch, answered, "cancelled", request)
            return
        rest = batch.lines[n_first:]
        if batch.ending in {"expired", "partial"}:
            answered += [self._unanswered(batch, line) for line in rest]
        else:
            answered += await self._answers(batch, rest, request)
        batch.enter("finalizing")
        await self._wait(batch)
        self._end(batch, answered, "expired" if batch.ending == "expired" else "completed", request)

    async def _wait(self, batch: Batch) -> None:
        """Wait for a third of what a batch takes; a wish to cancel it cuts that short."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < self._server.options.batch_ms / 3000 and batch.status != "cancelling":
            await asyncio.sleep(_LOOK)

    def _end(self, batch: Batch, answered: list[dict[str, Any]], status: str, request: web.Request) -> None:
        """Write the files: answers and errors, in an order of the server's own."""
        good = [line for line in answered if (line["response"] or {}).get("status_code") == 200]
        bad = [line for line in answered if (line["response"] or {}).get("status_code") != 200]
        if good:
            batch.output_file_id = self._keep(request, _jsonl(good[::-1]))
        if bad:
            batch.error_file_id = self._keep(request, _jsonl(bad[::-1]))
        batch.enter(status)

    async def _answers(self, batch: Batch, lines: list[dict[str, Any]], request: web.Request) -> list[dict[str, Any]]:
        answered = []
        for line in lines:
            status, body = await self._answer(line["body"], request)
            if status == 200:
                batch.n_completed += 1
            else:
                batch.n_failed += 1
            answered.append(_result(batch, line, {"status_code": status, "request_id": "req", "body": body}, None))
        return answered

    async def _answer(self, body: dict[str, Any], request: web.Request) -> tuple[int, dict[str, Any]]:
        """Answer one line as it would be answered alone."""
        options = self._server.options
        name = digest(body)
        self._server.seen.came_in(name, {"path": request.path, "headers": {}, "query": {}, "body": body})
        if refusal := refuse("" if options.provider == "azure" else options.provider, "", request, body):
            return refusal
        for field in options.lacking & body.keys():
            message = f"Unsupported parameter: '{field}' is not supported with this model."
            return 400, {"error": {"message": message, "param": field, "code": "unsupported_parameter"}}
        try:
            completion = self._server.answerer.answer(body, options)
        except (ValueError, BadRequestError) as error:
            return 400, {"error": {"message": str(error), "code": "invalid_request"}}
        if refused := unanswerable(options.unanswerable, body, completion):
            return refused.status, dict(json.loads(refused.text or "{}"))
        self._server.seen.answered[name] += 1
        return 200, completion

    def _unanswered(self, batch: Batch, line: dict[str, Any]) -> dict[str, Any]:
        batch.n_failed += 1
        if batch.ending == "expired":
            return _result(batch, line, None, _EXPIRED)
        error = {"message": "The server had an error while processing your request.", "code": "server_error"}
        return _result(batch, line, {"status_code": 500, "request_id": "req", "body": {"error": error}}, None)


def _result(batch: Batch, line: dict[str, Any], response: Any, error: Any) -> dict[str, Any]:
    name = f"batch_req_{batch.id}_{line['custom_id'][:8]}"
    return {"id": name, "custom_id": line["custom_id"], "response": response, "error": error}


def _jsonl(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _key(request: web.Request) -> str:
    headers = request.headers
    return str(headers.get("Authorization") or headers.get("api-key") or "")


def _error(status: int, message: str, code: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status)
