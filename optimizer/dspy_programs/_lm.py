"""The language model of a program, asked through psopt's own engine: counted, limited, retried, and kept on disk."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError, PsoptError
from psopt.models.chat import CHAT_KINDS, Query, public_address

if TYPE_CHECKING:
    from psopt.models import ModelProvider
    from psopt.models.chat import Engine
    from psopt.search_spaces import Messages


class CountedEngine:
    """An engine of DSPy's that asks through one of psopt's.

    Parameters
    ----------
    engine : Engine
    """

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

        Raises
        ------
        ModelError
            If the request holds more than texts.
        PsoptError
            As `Engine.answers`.
        """
        from dspy import lm15

        query = Query(_messages(request), (), request.config.temperature)
        answer = self._engine.answers([query])[0]
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message(role="assistant", parts=(lm15.TextPart(answer.text or " "),)),
            finish_reason="length" if answer.truncated else "stop",
            usage=lm15.Usage(input_tokens=answer.tokens_in, output_tokens=answer.tokens_out),
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


def counted_lm(model: Any, models: ModelProvider) -> Any:
    """Make a `dspy.LM` whose requests go through psopt's engine; DSPy neither keeps nor repeats them.

    Parameters
    ----------
    model : str or dspy.LM
        ``openai/NAME``, ``dspy/NAME``, or an LM that is made already.
    models : ModelProvider
        Says how it is asked, what the whole run may spend, and where answers are kept.

    Raises
    ------
    InputError
        If it is no language model.
    """
    import dspy

    kind, _, name = model.partition("/") if isinstance(model, str) else ("dspy", "", model)
    if kind not in CHAT_KINDS or not name:
        raise InputError(
            f"a program needs a language model: minilm, openai/NAME, azure/NAME or dspy/NAME, not {model!r}"
        )
    engine = CountedEngine(models.engine(kind, name))
    full = model.model if not isinstance(model, str) else name if kind == "dspy" else model
    own = {} if isinstance(model, str) else {part: model.kwargs.get(part) for part in ("temperature", "max_tokens")}
    asked = {"temperature": models.lm.temperature, "max_tokens": models.lm.max_tokens}
    asked |= {part: value for part, value in own.items() if value is not None}
    return dspy.LM(full, engine=engine, async_engine=AsyncCountedEngine(engine), cache=False, num_retries=0, **asked)


def is_counted(lm: Any) -> bool:
    """Whether an LM's requests go through psopt's engine."""
    return isinstance(getattr(lm, "_engine_spec", None), CountedEngine)


def without_cache(lm: Any) -> Any:
    """An LM that DSPy keeps no answers of: its key does not hold the server."""
    return lm.copy(cache=False) if getattr(lm, "cache", False) else lm


def place_of(lm: Any) -> list[str]:
    """What decides an LM's answers beside its name and settings: the server, as far as DSPy's settings don't say it."""
    engine = getattr(lm, "_engine_spec", None)
    if isinstance(engine, CountedEngine):
        return [engine.place]
    bases = [os.environ.get(name) for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE")]
    return [base for base in bases if base] if isinstance(engine, str) else []


def reason_of(error: BaseException) -> PsoptError | None:
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
    return messages + [{"role": one.role, "content": _text(one.parts)} for one in request.messages]


def _text(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    if any(not isinstance(getattr(part, "text", None), str) for part in parts):
        raise ModelError("the program sends more than text, which psopt's own client does not: use a dspy.LM in Python")
    return "\n".join(part.text for part in parts)
