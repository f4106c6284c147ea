"""The fake server's routes: requests that are refused, that meet a fault, and that are answered; and its control."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
import signal
import socket
import struct
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fake_server._answering import Answerer, digest
from tests.fake_server._batches import Batches
from tests.fake_server._providers import refuse
from tests.fake_server._shapes import shaped, unanswerable

if TYPE_CHECKING:
    from tests.fake_server._options import FakeServerOptions

SLOW_SECONDS = 0.2  # before the first byte of a slow answer
_STEP = 512  # characters, 128 tokens of this server: OpenAI counts cached ones in such steps


@dataclass(slots=True)
class Seen:
    """How often each request came and was answered, by its digest, and each status."""

    requests: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    last_request: dict[str, Any] = field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0
    beginnings: set[str] = field(default_factory=set)

    def __enter__(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def __exit__(self, *_: object) -> None:
        self.in_flight -= 1

    def clear(self) -> None:
        """Forget all but what is in flight."""
        for counter in (self.requests, self.answered, self.statuses):
            counter.clear()
        self.most_in_flight, self.last_request = self.in_flight, {}

    def came_in(self, request: web.Request, body: dict[str, Any]) -> None:
        headers = {name.casefold(): value for name, value in request.headers.items()}
        self.last_request = {"path": request.path, "headers": headers, "query": dict(request.query), "body": body}
        self.requests[digest(body)] += 1

    def cached(self, body: dict[str, Any]) -> int:
        """How many tokens of the messages' beginning were read before, as a server with prefix caching counts them."""
        text = "\x00".join(str(turn.get("content") or "") for turn in body["messages"])
        beginnings = {text[:end] for end in range(_STEP, len(text) + 1, _STEP)}
        n_known = len(beginnings & self.beginnings)
        self.beginnings |= beginnings
        return n_known * _STEP // 4

    def summary(self) -> dict[str, Any]:
        """Counts. `statuses` are 200, an error's status, a fault's name, and gone for a client that did not wait.

        Each request counts once there; a slow one that was answered, twice.
        """
        return {
            "requests": self.requests.total(),
            "answered": self.answered.total(),
            "answered_twice": sum(count > 1 for count in self.answered.values()),
            "most_in_flight": self.most_in_flight,
            "statuses": dict(self.statuses),
        }

    def log(self) -> list[dict[str, Any]]:
        """Every different request, in the order in which they came."""
        return [
            {"sha256": name, "count": count, "answered": self.answered[name]} for name, count in self.requests.items()
        ]


class Server:
    """What the server is told, and what it has seen."""

    def __init__(self, options: FakeServerOptions) -> None:
        self.options = options
        self.seen = Seen()
        self.answerer = Answerer(options)
        self.batches = Batches(self)
        self._random = random.Random(0)
        self._turns = asyncio.Lock()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        with self.seen:
            body = json.loads(await request.read())
            self.seen.came_in(request, body)
            return self.refuse(request, body) or await self._misbehave(request) or await self._answer(body)

    def respond(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        """Answer a request that came in a batch: at once, and without a fault."""
        self.seen.came_in(request, body)
        return self.refuse(request, body) or self._completed(body)

    async def models(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/models."""
        model = {"id": self.options.model or "test", "object": "model", "created": 0, "owned_by": "psopt"}
        return self.refuse(request, {}) or web.json_response({"object": "list", "data": [model]})

    async def control(self, request: web.Request) -> web.Response:
        """GET and POST /control, GET /control/log."""
        if request.method == "POST":
            changes = await request.json()
            if changes.pop("reset", False):
                self.seen.clear()
            self.options = dataclasses.replace(self.options, **changes)
        if request.path.endswith("/log"):
            seen = {"log": self.seen.log(), "last_request": self.seen.last_request}
            return web.json_response({**seen, "batches": self.batches.log()})
        return web.json_response(self.seen.summary())

    def count_down(self, name: str) -> None:
        """Take one from an option that says how often something is to happen yet."""
        self.options = dataclasses.replace(self.options, **{name: getattr(self.options, name) - 1})

    def refuse(self, request: web.Request, body: dict[str, Any]) -> web.Response | None:
        """Refuse a key, or what a request holds; None where there is nothing against it."""
        options = self.options
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if options.key and key != options.key:
            return self.error(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        refusal = refuse(options.provider, options.model, request, body) if body else None
        if refusal:
            status, error = refusal
            self.seen.statuses[str(status)] += 1
            return web.json_response(error, status=status)
        if lacking := next(filter(options.lacking.__contains__, body), None):
            message = f"Unsupported parameter: '{lacking}' is not supported with this model."
            return self.error(400, message, "unsupported_parameter", lacking)
        return None

    async def _misbehave(self, request: web.Request) -> web.StreamResponse | None:
        """Draw a fault and do what it says; None for none, and after a slow start."""
        options = self.options
        if options.rate_limit and self.seen.in_flight > options.rate_limit:
            return self._too_many()
        faults = options.drawn_faults
        if not faults or self._random.random() >= options.fault_rate:
            return None
        fault = self._random.choice(faults)
        if fault == "429":
            return self._too_many()
        if fault in {"500", "503"}:
            return self.error(int(fault), "The server had an error.", "server_error")
        self.seen.statuses[fault] += 1
        match fault:
            case "quota":
                error = {"message": "You exceeded your current quota.", "code": "insufficient_quota"}
                return web.json_response({"error": error}, status=429)
            case "hang":
                return await self._hang(request)
            case "slow":
                await asyncio.sleep(SLOW_SECONDS)
                return None
            case "half":
                return await self._half(request)
            case "reset":
                return self._reset(request)
            case "badjson":
                return web.Response(text='{"choices": [', content_type="application/json")
            case "nochoices":
                return web.json_response({"id": "chatcmpl-0", "model": "test", "usage": {}})
            case _:
                return web.json_response(self.answerer.completion({}, "" if fault == "empty" else None))

    async def _hang(self, request: web.Request) -> web.Response:
        if not self.options.hang_ms:
            await asyncio.Event().wait()  # cancelled when the client goes
        await asyncio.sleep(self.options.hang_ms / 1000)
        return self._reset(request)

    async def _half(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
        await response.prepare(request)
        await response.write(b'{"id": "chatcmpl-0", "choices": [{"mess')
        _connection(request).close()
        return response

    def _reset(self, request: web.Request) -> web.Response:
        connection = _connection(request)
        # To linger for no time at all makes the kernel send RST, as a crashed machine would, in place of FIN.
        connection.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.abort()
        return web.Response()

    async def _answer(self, body: dict[str, Any]) -> web.Response:
        seconds = self.options.delay_ms / 1000
        try:
            if self.options.serial:
                await asyncio.shield(self._in_turn(seconds))
            elif seconds:
                await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.seen.statuses["gone"] += 1
            raise
        return self._completed(body)

    def _completed(self, body: dict[str, Any]) -> web.Response:
        """The answer, with the tokens that this server counts, in the shape in which it gives answers."""
        options = self.options
        completion = self.answerer.answer(body, options)
        usage = completion["usage"]
        if options.reads:
            usage["prompt_tokens"] = min(usage["prompt_tokens"], options.reads)
        if options.reasoning_tokens:
            usage["completion_tokens"] += options.reasoning_tokens
            usage["total_tokens"] += options.reasoning_tokens
            usage["completion_tokens_details"] = {"reasoning_tokens": options.reasoning_tokens}
        if options.cached_from:
            cached = self.seen.cached(body)
            cached = cached if cached >= options.cached_from else 0
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        name = digest(body)
        response = unanswerable(options.unanswerable, body, completion)
        response = response or shaped(completion, options.shape, first=self.seen.requests[name] == 1)
        self.seen.answered[name] += 1
        self.seen.statuses[str(response.status)] += 1
        return response

    async def _in_turn(self, seconds: float) -> None:
        """Work through the queue as it came; what nobody waits for any more is computed too, as servers do."""
        async with self._turns:
            await asyncio.sleep(seconds)

    def _too_many(self) -> web.Response:
        response = self.error(429, "Too many requests.", "rate_limit_exceeded")
        response.headers["Retry-After"] = str(self.options.retry_after)
        return response

    def error(self, status: int, message: str, code: str, param: str | None = None) -> web.Response:
        """An error in OpenAI's form."""
        self.seen.statuses[str(status)] += 1
        kind = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": message, "type": kind, "param": param, "code": code}
        return web.json_response({"error": error}, status=status)


def _connection(request: web.Request) -> asyncio.Transport:
    if request.transport is None:
        raise ConnectionResetError("the client has gone")
    return request.transport


async def serve(options: FakeServerOptions) -> None:
    """Serve until SIGTERM, or until stdin closes."""
    server = Server(options)
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_post("/openai/deployments/{deployment}/chat/completions", server.chat)
    app.router.add_get("/v1/models", server.models)
    app.router.add_route("*", "/control", server.control)
    app.router.add_get("/control/log", server.control)
    server.batches.add_routes(app)
    # With handler_cancellation a request whose client has gone is no longer in flight.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", options.port, backlog=1024).start()
    port = runner.addresses[0][1]
    print(json.dumps({"port": port, "url": f"http://127.0.0.1:{port}/v1"}), flush=True)  # noqa: T201
    await _until_stopped(until_stdin_closes=options.until_stdin_closes)
    await runner.cleanup()


async def _until_stopped(*, until_stdin_closes: bool) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if until_stdin_closes:
        loop.add_reader(sys.stdin, stop.set)
    await stop.wait()
