"""The addresses of `psopt serve`, in the style of OpenAI's chat completions: one text in, one label out."""

from __future__ import annotations

import json
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any

from psopt.errors import BudgetReachedError, DataError, PsoptError
from psopt.evaluation import NA
from psopt.serving._queue import QueueFullError
from psopt.text import one_line
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.api import Classified
    from psopt.serving._queue import TextQueue
    from starlette.requests import Request

_LOGGER = logging.getLogger("psopt.serve")
_MOST_BYTES = 1_000_000  # of a request: more than any of today's models reads
_BUSY_SECONDS = 1  # after which a client that was turned away may ask again


class RequestError(DataError):
    """A request that can't be answered; `status` is the HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def chat_app(queue: TextQueue, name: str, read_text: Callable[[str], str], *, passes_keys: bool = False) -> Starlette:
    """Build the application.

    Parameters
    ----------
    queue : TextQueue
    name : str
        The model's name in answers.
    read_text : callable
        Returns the text for the model from a message's content; raises DataError if that can't be used.
    passes_keys : bool
        Ask the model with the key of the request, which is never stored.
    """

    async def complete(request: Request) -> JSONResponse:
        try:
            text = read_text(_content(await _body(request)))
            key = _key(request) if passes_keys else ""
            return _completion(await queue.answer(text, key), name)
        except PsoptError as error:
            return _refusal(error)
        except Exception:
            _LOGGER.exception("a request failed")
            return _error(500, "this is a bug of psopt; its log says more", "server_error")

    async def models(request: Request) -> JSONResponse:  # noqa: ARG001  # Starlette's
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model", "owned_by": "psopt"}]})

    async def health(request: Request) -> JSONResponse:  # noqa: ARG001  # Starlette's
        return JSONResponse({"status": "ok", "waiting": queue.n_waiting})

    routes = [
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/v1/models", models),
        Route("/health", health),
    ]
    return Starlette(routes=routes)


def _key(request: Request) -> str:
    """The key of a request."""
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
    if body.get("n", 1) != 1:
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
    label = NA if answer.label is None else answer.label
    measured = {"agreement": answer.agreement, "sensitivity": answer.sensitivity}
    why = {"na_kind": answer.na_kind, "said": answer.said} if answer.label is None else {}
    content = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": label}, "finish_reason": "stop"}],
        "psopt": {"label": answer.label, **measured, **why},
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
