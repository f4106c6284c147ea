"""A server that speaks OpenAI's chat completions, for tests: it classifies, and misbehaves when told to.

    python tests/chat_server/openai_server.py --answer hash --faults 429,hang,half --fault-rate .3

When it is ready, it prints one line of JSON, `{"port": 43211, "url": "http://127.0.0.1:43211/v1"}`. Equal requests get
equal answers: whoever sends a request again until it is answered ends up with what a faultless server gives.

POST /v1/chat/completions and GET /v1/models are OpenAI's. GET /control returns the options and counts of what was
seen, POST /control changes options by name (`{"fault_rate": 0}`; `{"reset": true}` sets the counts to 0), and GET
/control/log adds each different request's digest, how often it came, and how often it was answered;
and the last request whole.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import signal
import socket
import struct
import sys
from collections import Counter
from typing import Any

from aiohttp import web
from answering import Answerer, BadRequestError, digest
from providers import PROVIDERS, refused
from shapes import SHAPES, refusal_kinds, shaped, unanswerable

FAULTS = ("429", "500", "503", "hang", "half", "badjson", "empty", "null", "nochoices", "slow", "reset")
STRUCTURED = {"yes": "answers in JSON", "ignore": "does not look at it", "no": "answers 400"}
FIXED_AT_START = {"port", "task", "until_stdin_closes"}


def parser() -> argparse.ArgumentParser:
    """The options; `POST /control` takes them under the same names, with underscores."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--port", type=int, default=0, help="0: any free one")
    add("--answer", default="hash", help="hash (of the messages), minilm (psopt's, reading them), or fixed:TEXT")
    add("--task", default="trec", help="lends minilm its unlabelled texts: what load_task takes, without network")
    add("--delay-ms", type=float, default=0.0, help="from a request to its answer")
    add("--faults", default="", help=f"all, or of {','.join(FAULTS)},quota (which is not in all): drawn at random")
    add("--fault-rate", type=float, default=0.3, help="total probability of a fault, drawn as a request arrives")
    add("--fault-seed", type=int, default=0)
    add("--retry-after", type=float, default=0.05, help="seconds, the header of a 429")
    add("--hang-ms", type=float, default=0.0, help="how long a hang lasts until the connection is cut; 0: for ever")
    add("--serial", action="store_true", help="answers one after another, each after --delay-ms, wanted or not")
    add("--slow-ms", type=float, default=200.0, help="before the first byte of a slow answer")
    add("--rate-limit", type=int, default=0, help="429 whenever more requests than these are in flight; 0: never")
    add("--structured", nargs="?", const="yes", default="ignore", choices=STRUCTURED, help="what response_format does")
    add("--logprobs", nargs="?", const="yes", default="yes", choices=("yes", "no"), help="no: they are left out")
    add("--drafts", default="good", help="good, bad or obedient: how it writes rephrasings and proposals")
    add("--lacks", default="", help="parameters that are answered with 400, with commas between")
    add("--no-seed", action="store_true", help="the same as --lacks seed")
    add("--provider", default="", help=f"refuses what one of these does: {', '.join(PROVIDERS)}, azure")
    add("--model", default="", help="knows no model but this one")
    add("--shape", default="plain", choices=SHAPES, help="how answers look")
    add("--unanswerable", default="", help=f"WORD:KIND,..: texts that are refused; of {', '.join(refusal_kinds())}")
    add("--reasoning-tokens", type=int, default=0, help="thought before each answer, and counted with it")
    add("--key", default="", help="asks for this key, and repeats any other in its error")
    add("--until-stdin-closes", action="store_true", help="ends when whoever started it has ended")
    return parser


def check(options: argparse.Namespace) -> None:
    """Raise ValueError if the options make no sense together."""
    unknown = [fault for fault in drawn(options.faults) if fault not in (*FAULTS, "quota")]
    if unknown:
        raise ValueError(f"no such fault: {unknown[0]!r}; there are all, {', '.join(FAULTS)} and quota")
    if options.answer not in {"hash", "minilm"} and not options.answer.startswith("fixed:"):
        raise ValueError(f"answer must be hash, minilm or fixed:TEXT, not {options.answer!r}")
    if options.provider not in {"", "azure", *PROVIDERS}:
        raise ValueError(f"provider must be azure or one of {', '.join(PROVIDERS)}, not {options.provider!r}")
    if not 0 <= options.fault_rate <= 1:
        raise ValueError(f"fault_rate must be between 0 and 1, not {options.fault_rate}")
    if options.shape not in SHAPES:
        raise ValueError(f"no such shape: {options.shape!r}; there are {', '.join(SHAPES)}")
    kinds = [pair.rpartition(":")[2] for pair in filter(None, options.unanswerable.split(","))]
    if not {*kinds} <= {*refusal_kinds()}:
        raise ValueError(f"unanswerable takes WORD:KIND, of {', '.join(refusal_kinds())}")
    if options.structured not in STRUCTURED:
        raise ValueError(f"structured must be one of {', '.join(STRUCTURED)}, not {options.structured!r}")


def drawn(faults: str) -> tuple[str, ...]:
    """The faults that an option names."""
    return FAULTS if faults == "all" else tuple(filter(None, faults.split(",")))


class Seen:
    """What came in and what went out."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self.in_flight = self.most_in_flight = 0
        self.last_body: dict[str, Any] | None = None

    def clear(self) -> None:
        """Forget all but what is in flight."""
        for counter in (self.requests, self.answered, self.statuses, self.keys):
            counter.clear()
        self.most_in_flight, self.last_body = self.in_flight, None

    @contextlib.contextmanager
    def under_way(self):
        """Count a request as in flight."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    def summary(self) -> dict[str, Any]:
        """Counts. `statuses` are 200, an error's status, a fault's name, and gone for a client that did not wait.

        Each request counts once there; a slow one that was answered, twice. `last` is the last request.
        """
        return {
            "requests": self.requests.total(),
            "different": len(self.requests),
            "answered": self.answered.total(),
            "answered_twice": sum(count > 1 for count in self.answered.values()),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "statuses": dict(self.statuses),
            "authorized": self.keys.total(),
            "keys": len(self.keys),
            "last": self.last,
        }

    def log(self) -> list[dict[str, Any]]:
        """Every different request, in the order in which they came."""
        return [{"sha256": name, "count": n, "answered": self.answered[name]} for name, n in self.requests.items()]


class Server:
    """What the server is told, and what it has seen."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.seen = Seen()
        self.answerer = Answerer(options.task)
        self._random = random.Random(options.fault_seed)
        self._turns = asyncio.Lock()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        with self.seen.under_way():
            try:
                body = json.loads(await request.read())
                if not isinstance(body, dict):
                    raise BadRequestError("the request must be a JSON object")
                name = digest(body)
                self.seen.last = _told(request, body)
                self.seen.requests[name] += 1
                self.seen.last_body = body
                refused = self._refuse(request, body)
                return refused or await self._misbehave(request) or await self._answer(body, name)
            except (ValueError, BadRequestError) as error:
                return self._error(400, str(error), "invalid_request")

    async def models(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/models."""
        model = {"id": self.options.model or "test", "object": "model", "created": 0, "owned_by": "psopt"}
        return self._refuse(request, {}) or web.json_response({"object": "list", "data": [model]})

    async def control(self, request: web.Request) -> web.Response:
        """GET and POST /control, GET /control/log."""
        if request.method == "POST":
            try:
                self._change(await request.json())
            except (ValueError, TypeError) as error:
                return web.json_response({"error": str(error)}, status=400)
        told = {"options": vars(self.options), **self.seen.summary()}
        if request.path.endswith("/log"):
            told |= {"log": self.seen.log(), "last_body": self.seen.last_body}
        return web.json_response(told)

    def _change(self, changes: dict[str, Any]) -> None:
        changes = dict(changes)
        if changes.pop("reset", False):
            self.seen.clear()
        options = argparse.Namespace(**vars(self.options))
        for name, value in changes.items():
            if name not in vars(options) or name in FIXED_AT_START:
                raise ValueError(f"no option that can be changed: {name!r}")
            setattr(options, name, type(getattr(options, name))(value))
        check(options)
        self.options = options
        if "fault_seed" in changes:
            self._random = random.Random(options.fault_seed)

    def _refuse(self, request: web.Request, body: dict[str, Any]) -> web.Response | None:
        options, given = self.options, request.headers.get("Authorization", "")
        if given:
            self.seen.keys[given] += 1
        if options.key and given != f"Bearer {options.key}":
            said = given.removeprefix("Bearer ")
            return self._error(401, f"Incorrect API key provided: {said}.", "invalid_api_key")
        if body and (refusal := refused(options.provider, options.model, request, body)):
            self.seen.statuses[str(refusal[0])] += 1
            return web.json_response(refusal[1], status=refusal[0])
        lacks = {*filter(None, options.lacks.split(",")), *(["seed"] if options.no_seed else [])}
        lacks |= {"response_format"} if options.structured == "no" else set()
        for field in body:
            if field in lacks:
                said = f"Unsupported parameter: '{field}' is not supported with this model."
                return self._error(400, said, "unsupported_parameter", field)
        return None

    async def _misbehave(self, request: web.Request) -> web.StreamResponse | None:
        """Draw a fault and do what it says; None for none, and after a slow start."""
        options = self.options
        if options.rate_limit and self.seen.in_flight > options.rate_limit:
            return self._too_many()
        faults = drawn(options.faults)
        if not faults or self._random.random() >= options.fault_rate:
            return None
        fault = self._random.choice(faults)
        if fault == "429":
            return self._too_many()
        if fault == "quota":
            return self._error(429, "You exceeded your current quota.", "insufficient_quota", counted_as=fault)
        if fault in {"500", "503"}:
            return self._error(int(fault), "The server had an error.", "server_error")
        self.seen.statuses[fault] += 1
        return await getattr(self, f"_{fault}")(request)

    async def _hang(self, request: web.Request) -> web.Response:
        if not self.options.hang_ms:
            await asyncio.Event().wait()  # cancelled when the client goes
        await asyncio.sleep(self.options.hang_ms / 1000)
        return await self._reset(request)

    async def _slow(self, request: web.Request) -> None:
        await asyncio.sleep(self.options.slow_ms / 1000)

    async def _half(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
        await response.prepare(request)
        await response.write(b'{"id": "chatcmpl-0", "choices": [{"mess')
        request.transport.close()
        return response

    async def _reset(self, request: web.Request) -> web.Response:
        connection = request.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST in place of FIN
        request.transport.abort()
        return web.Response()

    async def _badjson(self, request: web.Request) -> web.Response:
        return web.Response(text='{"choices": [', content_type="application/json")

    async def _nochoices(self, request: web.Request) -> web.Response:
        return web.json_response({"id": "chatcmpl-0", "object": "chat.completion", "model": "test", "usage": {}})

    async def _empty(self, request: web.Request) -> web.Response:
        return web.json_response(self.answerer.completion({}, ""))

    async def _null(self, request: web.Request) -> web.Response:
        return web.json_response(self.answerer.completion({}, None))

    async def _answer(self, body: dict[str, Any], name: str) -> web.Response:
        options = self.options
        structured, logprobs = options.structured == "yes", options.logprobs == "yes"
        try:
            if options.serial:
                await asyncio.shield(self._in_turn(options.delay_ms / 1000))
            elif options.delay_ms:
                await asyncio.sleep(options.delay_ms / 1000)
            self.answerer.drafts = options.drafts
            completion = await self.answerer.answer(body, options.answer, structured=structured, logprobs=logprobs)
        except asyncio.CancelledError:
            self.seen.statuses["gone"] += 1
            raise
        if options.reasoning_tokens:
            usage = completion["usage"]
            usage["completion_tokens"] += options.reasoning_tokens
            usage["total_tokens"] += options.reasoning_tokens
            usage["completion_tokens_details"] = {"reasoning_tokens": options.reasoning_tokens}
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
        response = self._error(429, "Too many requests.", "rate_limit_exceeded")
        response.headers["Retry-After"] = str(self.options.retry_after)
        return response

    def _error(
        self, status: int, message: str, code: str, param: str | None = None, counted_as: str | None = None
    ) -> web.Response:
        self.seen.statuses[counted_as or str(status)] += 1
        kind = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": message, "type": kind, "param": param, "code": code}
        return web.json_response({"error": error}, status=status)


def _told(request: web.Request, body: dict[str, Any]) -> dict[str, Any]:
    """What a request said."""
    headers = {name.casefold(): value for name, value in request.headers.items()}
    query = dict(request.query)
    return {"path": request.path, "headers": headers, "query": query, "body": body}


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM, or until stdin closes."""
    server = Server(options)
    if options.answer == "minilm":
        await server.answerer.load()
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_post("/openai/deployments/{deployment}/chat/completions", server.chat)
    app.router.add_get("/v1/models", server.models)
    app.router.add_route("*", "/control", server.control)
    app.router.add_get("/control/log", server.control)
    # With handler_cancellation a request whose client has gone is no longer in flight.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", options.port, backlog=1024).start()
    port = runner.addresses[0][1]
    print(json.dumps({"port": port, "url": f"http://127.0.0.1:{port}/v1"}), flush=True)  # noqa: T201
    await _told_to_stop(until_stdin_closes=options.until_stdin_closes)
    await runner.cleanup()


async def _told_to_stop(*, until_stdin_closes: bool) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stop.set)
    if until_stdin_closes:
        loop.add_reader(sys.stdin, stop.set)
    await stop.wait()


def main() -> None:
    """Read the options and serve."""
    options = parser().parse_args()
    try:
        check(options)
    except ValueError as error:
        parser().error(str(error))
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
