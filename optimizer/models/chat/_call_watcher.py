"""Who watches calls to language models, one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.models.chat._errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.models.chat._client import Answer


@dataclass(frozen=True, slots=True)
class CallStart:
    """A request that is about to be sent; one that is sent again is another call."""

    model: str  # as `ChatClient.name` has it: ``openai/NAME``
    endpoint: str | None  # where it goes, if that is known
    request: Mapping[str, Any]  # the request's body


@dataclass(frozen=True, slots=True)
class CallEnd:
    """What became of a call."""

    text: str | None = None  # the answer; None where there is none
    # As `Answer` has them
    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    reasoning: int = 0
    finish_reason: str = ""  # ``stop``, ``length`` or ``content_filter``; empty where the call failed
    # A short name of what went wrong, of which there are few: an HTTP status, ``timeout``, ``cancelled`` or the
    # exception's name; empty where nothing did
    error: str = ""
    message: str = ""  # what is said of that

    @classmethod
    def answered(cls, answer: Answer) -> CallEnd:
        """A call that was answered. Servers say more about its end than an `Answer` keeps, but not otherwise."""
        refused = "content_filter" if answer.unanswered or answer.text is None else "stop"
        told = {name: getattr(answer, name) for name in ("text", "tokens_in", "tokens_out", "cached_in", "reasoning")}
        return cls(**told, finish_reason="length" if answer.truncated else refused)

    @classmethod
    def failed(cls, error: BaseException) -> CallEnd:
        """A call that came to nothing; an empty answer is one all the same."""
        if not isinstance(error, TransientError):
            name = "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
            return cls(error=name, message=str(error))
        if error.empty is not None:
            return cls.answered(error.empty)
        line = "connection" if error.unreachable else "transient"
        name = "timeout" if error.given_up else str(error.status or line)
        return cls(error=name, message=str(error))


OnCallEnd = Callable[[CallEnd], None]
CallWatcher = Callable[[CallStart], OnCallEnd]
"""Is told of each call as it is sent, and returns what is to be told of its end.

Both are called in the thread that sends: they return at once and raise nothing. Answers from the cache are no calls;
those of batches are none either, since they come together.
"""
