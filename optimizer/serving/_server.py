"""The server of `psopt serve`, in the style of OpenAI's chat completions: one text in, one label out.

At SIGTERM it answers all accepted requests before it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import socket
import time
import uuid
from typing import TYPE_CHECKING, Any

import uvicorn
from psopt.errors import BudgetReachedError, DataError, InputError, PsoptError
from psopt.evaluation import NA
from psopt.serving._queue import QueueFullError, TextQueue
from psopt.text import one_line
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.api import Classified, Classifier
    from starlette.requests import Request

_LOGGER = logging.getLogger("psopt.serve")
_MOST_BYTES = 1_000_000  # of a request: more than any of today's models reads
_BUSY_SECONDS = 1  # after which a client that was turned away may ask again
_BACKLOG = 2048  # connections that the system queues while others are answered
_LONGEST_ENDING = 20  # seconds for accepted texts after SIGTERM; Kubernetes ends a process after 30


def serve(
    classifier: Classifier,
    *,
    host: str,
    port: int,
    n_threads: int,
    most_waiting: int,
    passes_keys: bool,
    on_ready: Callable[[str], None],
) -> None:
    """Answer requests until SIGINT or SIGTERM; raises InputError if it can't listen at the address.

    After a signal, accepted texts have some seconds to be answered; threads that still wait for a server are left.
    """
    listening = _listen(host, port)
    shown_host = f"[{host}]" if ":" in host else host
    queue = TextQueue(classifier, n_threads, most_waiting)
    app = _chat_app(queue, classifier, passes_keys=passes_keys)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_LONGEST_ENDING,
    )
    on_ready(f"http://{shown_host}:{listening.getsockname()[1]}")
    try:
        with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises its signal again: being told to stop is no error
            uvicorn.Server(config).run([listening])
    finally:
        queue.close()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    is_v6 = ":" in host
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    try:
        return socket.create_server(
            (host, port), family=family, backlog=_BACKLOG, dualstack_ipv6=is_v6 and socket.has_dualstack_ipv6()
        )
    except (OSError, OverflowError) as error:
        # `create_server` repeats the address in brackets, which the message names anyhow
        reason = str(getattr(error, "strerror", None) or error).partition(" (while attempting")[0]
        is_about_port = isinstance(error, OverflowError) or error.errno in {errno.EADDRINUSE, errno.EACCES}
        other = "--port, or 0 for a free one" if is_about_port else "--host, such as 127.0.0.1"
        raise InputError(f"--host {host} --port {port}: {reason}; give another {other}") from error


class RequestError(DataError):
    """A request that can't be answered; `status` is the HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def _chat_app(queue: TextQueue, classifier: Classifier, *, passes_keys: bool) -> Starlette:
    """Build the application; `passes_keys` asks the model with the key of each request, which is never stored."""
    name = f"psopt/{classifier.prompt.id}"

    async def complete(request: Request) -> JSONResponse:
        try:
            text = classifier.text_of(_content(await _body(request)))
            key = _key(request) if passes_keys else ""
            return _completion(await queue.answer(text, key), name)
        except PsoptError as error:
            return _refusal(error)
        except asyncio.CancelledError:  # by uvicorn, some time after the signal
            return _error(503, "psopt serve was told to stop, and the model has not answered", "server_error")
        except Exception:
            _LOGGER.exception("a request failed")
            return _error(500, "this is a bug of psopt; its log says more", "server_error")

    async def models(request: Request) -> JSONResponse:  # noqa: ARG001  # Starlette's
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model", "owned_by": "psopt"}]})

    async def health(request: Request) -> JSONResponse:  # noqa: ARG001  # Starlette's
        return JSONResponse({"status": "ok", "waiting": queue.n_waiting})

    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        message = f"{request.method} {request.url.path}: {error.detail}"
        return _error(error.status_code, message, "invalid_request_error")

    completions = Route("/v1/chat/completions", complete, methods=["POST"])
    routes = [completions, Route("/v1/models", models), Route("/health", health)]
    return Starlette(routes=routes, exception_handlers={HTTPException: unknown})  # type: ignore[dict-item]


def _key(request: Request) -> str:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise RequestError("a request must bear the key for the model: Authorization: Bearer KEY", 401)
    return key.strip()


async def _body(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise RequestError(f"the request has more than {_MOST_BYTES:,} bytes", 413)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError("the request is no JSON") from None
    if not isinstance(content, dict):
        raise RequestError("the request is no JSON object")
    return content


def _content(body: dict[str, Any]) -> str:
    """The text to classify: the content of the last message."""
    if body.get("stream"):
        raise RequestError("an answer is a label and comes in whole: leave stream out")
    if body.get("n") not in (None, 1):  # OpenAI's clients send null for what is not given
        raise RequestError("a text has one answer: leave n out")
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(last, dict):
        raise RequestError("messages must hold one message, whose content is the text to classify")
    if last.get("role") != "user":
        raise RequestError("the last message must be the user's: its content is the text to classify")
    content = last.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = texts[0] if len(texts) == len(content) == 1 else None
    if not isinstance(content, str) or not content.strip():
        raise RequestError("the last message's content must be a text")
    return content


def _completion(answer: Classified, name: str) -> JSONResponse:
    measured = {"agreement": answer.agreement, "sensitivity": answer.sensitivity}
    details: dict[str, Any] = {"label": answer.label, **measured}
    label = answer.label
    if label is None:
        label = NA
        details |= {"na_kind": answer.na_kind, "said": answer.said}
    content = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": label}, "finish_reason": "stop"}],
        "psopt": details,
    }
    headers = {f"x-psopt-{key}": f"{value:.4f}" for key, value in measured.items()}
    return JSONResponse(content, headers=headers)


def _refusal(error: PsoptError) -> JSONResponse:
    """The answer to a request that failed for a reason that somebody can fix."""
    message = one_line(str(error))
    if isinstance(error, DataError):
        return _error(getattr(error, "status", 400), message, "invalid_request_error")
    if isinstance(error, QueueFullError):
        return _error(429, message, "rate_limit_error", {"retry-after": str(_BUSY_SECONDS)})
    if isinstance(error, BudgetReachedError):
        return _error(403, message, "limit_reached")  # asking again would not help
    _LOGGER.warning(message)
    return _error(502, message, "upstream_error")


def _error(status: int, message: str, kind: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": kind, "code": kind}}, status, headers)
