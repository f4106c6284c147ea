"""The user's own Python function as the model: chat messages in, the answer's text out."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import re
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, PsoptError
from psopt.models.chat._client import TOO_MANY, Answer, ChatClient, ModelRefusedError, TransientError, passes
from psopt.models.chat._secrets import redacted
from psopt.models.chat._worker_pool import ENDINGS, in_a_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from psopt.models.chat._client import Query
    from psopt.settings import LMConfig

KIND = "function"


class FunctionClient(ChatClient):
    """Asks a function, in a separate thread; a coroutine that it returns runs in the loop that all models share.

    The function takes a list of ``{"role": .., "content": ..}``, which it may change, and returns a str. The options'
    `concurrency` is the most calls at once; 1 is for functions that are not thread-safe. An exception ends the work,
    unless it may pass: broken connections, time-outs, and those with such a `status_code` (408, 409, 429, 500 and
    more). These calls are made again.

    Answers are kept on disk only if the function has an attribute `cache_key`, a text that names what they depend on
    besides the function's source: nobody else can know that. Otherwise they are kept as long as the model lives.
    """

    def __init__(self, function: Callable[[list[dict[str, str]]], Any], options: LMConfig) -> None:
        if options.headers or options.extra_body:
            raise InputError("a function of your own sends no headers and no extra_body: leave them out of lm")
        self._function = function
        self.name = function_name(function)
        self.endpoint = _place(function)

    def request(self, query: Query) -> dict[str, Any]:
        return {"model": self.name, "messages": query.messages}

    async def send(self, request: dict[str, Any]) -> Answer:
        messages = [dict(message) for message in request["messages"]]
        try:
            answer = await in_a_thread(lambda: self._function(messages))
            if inspect.isawaitable(answer):  # what a coroutine function returns at once
                answer = await _awaited(answer)
        except (TransientError, PsoptError):
            raise
        except (Exception, SystemExit) as error:  # the user's function may raise anything; an exit would end the loop
            raise self._failure(error) from error
        if not isinstance(answer, str):
            raise ModelRefusedError(
                f"{self.name} returned {answer!r:.60}: a function that is a model takes chat messages and returns "
                "the answer as a str"
            )
        return Answer(answer.encode("utf-8", "replace").decode())  # without halves of surrogate pairs

    def _failure(self, error: BaseException) -> Exception:
        """What a function has raised, as a failure that may pass or one that ends the work, in one line."""
        reason = redacted(f"{type(error).__name__}: {error}")
        status = getattr(error, "status_code", None)
        if (isinstance(status, int) and passes(status)) or isinstance(error, (ConnectionError, TimeoutError)):
            return TransientError(reason, overloaded=status in TOO_MANY)
        return ModelRefusedError(f"{self.name} raised {reason}")


def function_name(function: Any) -> str:
    """``function/NAME``; a partial function has the name of the function in it, an object that of its class.

    >>> function_name(lambda messages: "yes")
    'function/lambda'
    """
    named = _whole(function)
    name = getattr(named, "__name__", type(named).__name__)
    return f"{KIND}/{re.sub(r'[^0-9A-Za-z_.-]+', '', name) or KIND}"


def _whole(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


async def _awaited(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except ENDINGS as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # our own, not the function's
            raise
        raise RuntimeError(type(error).__name__) from error


def _place(function: Any) -> str | None:
    """Which function it is, as part of the cache's key; None where it does not say what its answers depend on."""
    key = getattr(function, "cache_key", None)
    if key is None:
        return None
    if not isinstance(key, str) or not key:
        rule = "must be a text that names what its answers depend on"
        raise InputError(f"{function_name(function)}: its cache_key {rule}, not {key!r}")
    whole = _whole(function)
    code = whole if inspect.isroutine(whole) else type(whole)
    try:
        source = inspect.getsource(code)
    except (OSError, TypeError):  # defined interactively, or not in Python
        source = ""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    return f"{KIND}:{code.__module__}:{code.__qualname__}:{digest}:{key}"
