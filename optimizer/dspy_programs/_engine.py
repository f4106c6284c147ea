"""psopt's chat engine as an engine of DSPy's: a program's requests are counted, limited, sent again, and kept."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._dspy import dspy
from psopt.errors import ModelError, PsoptError
from psopt.models.chat import Query, public_address

if TYPE_CHECKING:
    from psopt.models.chat import Engine
    from psopt.search_spaces import Messages


class CountedEngine:
    """An engine of DSPy's that asks through one of psopt's."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def server(self) -> str | None:
        """The address that is asked, without secrets; None where DSPy decides it."""
        return public_address(self._engine.client.endpoint)

    @property
    def place(self) -> str:
        """What decides an answer beside the messages: where it is asked, and how."""
        request = self._engine.client.request(Query([]))
        return json.dumps([self._engine.client.endpoint, request], sort_keys=True, default=str)

    def dump_state(self) -> dict[str, Any]:
        """Return what may be written down of it."""
        return {"model": self._engine.client.name, "server": self.server}

    def complete(self, request: Any) -> Any:
        """Answer one request (an `lm15.Request`) with an `lm15.Response`; DSPy's threads may call it at once.

        Raises ModelError if the request holds more than texts. Raises PsoptError as `Engine.answers`.
        """
        query = Query(_messages(request), (), request.config.temperature)
        answer = self._engine.answers([query])[0]
        # An empty part is refused by DSPy; a blank is parsed as no answer, which it is.
        text = dspy.lm15.TextPart(answer.text or " ")
        return dspy.lm15.Response(
            id=None,
            model=request.model,
            message=dspy.lm15.Message(role="assistant", parts=(text,)),
            finish_reason="length" if answer.truncated else "stop",
            usage=dspy.lm15.Usage(input_tokens=answer.tokens_in, output_tokens=answer.tokens_out),
        )


class AsyncCountedEngine:
    """The same for programs that are awaited."""

    def __init__(self, engine: CountedEngine) -> None:
        self._engine = engine

    def dump_state(self) -> dict[str, Any]:
        """Return what may be written down of it."""
        return self._engine.dump_state()

    async def complete(self, request: Any) -> Any:
        """Answer one request; see `CountedEngine.complete`."""
        return await asyncio.to_thread(self._engine.complete, request)


def own_error(error: BaseException) -> PsoptError | None:
    """The error of psopt's that another one was raised from; DSPy wraps what an engine raises."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PsoptError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _messages(request: Any) -> Messages:
    """A request's messages, as chat completions have them."""
    if request.tools:
        raise ModelError("the program calls tools, which psopt's own client does not send: use a dspy.LM in Python")
    messages = [{"role": "system", "content": _text(request.system)}] if request.system else []
    return messages + [{"role": message.role, "content": _text(message.parts)} for message in request.messages]


def _text(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    if any(not isinstance(getattr(part, "text", None), str) for part in parts):
        raise ModelError("the program sends more than text, which psopt's own client does not: use a dspy.LM in Python")
    return "\n".join(part.text for part in parts)
