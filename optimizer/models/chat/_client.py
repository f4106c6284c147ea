"""What a chat client is: one request out, one answer or failure in; and how each call can be watched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import ModelError, causes

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from psopt.errors import PsoptError
    from psopt.models.chat._refusals import Feature
    from psopt.search_spaces import Messages

Alternatives = list[tuple[str, list[tuple[str, float]]]]
"""For each token of an answer: its text, and the likeliest tokens at its place with their log-probabilities."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and how many tokens that took."""

    text: str | None  # the answer; None if the model refused
    # Tokens as the server counted them, 0 where it did not
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: Alternatives | None = None  # the likeliest tokens at each place, where they were asked for
    truncated: bool = False  # whether the answer was cut at the limit of tokens
    # Why the text is refused for good: ``refused``, ``content filter``, ``context length``, ``invalid JSON``
    unanswered: str | None = None
    reason: str = ""  # the server's words for that
    # How many of `tokens_out` were reasoning, and how many of `tokens_in` the server had cached
    reasoning: int = 0
    cached_in: int = 0
    is_thought: bool = False  # whether the text is reasoning, since the server sent nothing else
    # The mean probability of the answer's tokens, in [0, 1], where log-probabilities were asked for
    confidence: float | None = None
    model: str = ""  # the model that answered, according to the server; empty where it names none

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing, without a reason: often a fault of the server, which may be over."""
        return not (self.text or self.unanswered or self.truncated)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the cache keeps it: what differs from the default."""
        values = ((field, getattr(self, field.name)) for field in fields(self) if field.name != "cached_in")
        return {field.name: value for field, value in values if value != field.default}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Answer:
        """Read an answer from the cache, without what a later version of psopt keeps besides."""
        return cls(**{name: value for name, value in data.items() if name in cls.__slots__})


class Query(NamedTuple):
    """What is asked."""

    messages: Messages
    labels: Sequence[str] = ()  # what the answer should be one of; empty for free text
    temperature: float | None = None  # in place of the options' temperature
    sample: int = 0  # which of several answers to the same messages; distinguishes them in the cache
    response_format: str = ""  # the user's own, as JSON text; it is sent unchanged, or not at all
    max_tokens: int | None = None  # most tokens of the answer, in place of the options'
    # Whether the answer should say how probable its tokens were; without alternatives to them
    has_confidence: bool = False
    is_own: bool = False  # whether the messages are the user's own, so that psopt adds nothing to them
    asking: int = 0  # which repetition of the same request (`Prompt.asking`): changes the seed, where one is sent


class ChatClient:
    """Sends chat messages somewhere; the engine, its only caller, caches, limits, retries and gives up."""

    name: str  # the name under which `load_model` finds the model
    endpoint: str | None  # where requests go, as part of the cache's key; None if answers must not be kept on disk
    # What requests can do without if the server refuses it; the most dispensable first
    features: tuple[Feature, ...] = ()
    refused: set[str]  # the names of those that requests are built without

    def prepare(self) -> None:
        """Do slow preparation first, so that it does not count as part of the time until an answer."""

    def request(self, query: Query) -> dict[str, Any]:
        """Build the request, the JSON data that determine the answer, without unsupported features."""
        raise NotImplementedError

    def own_fields(self, request: dict[str, Any]) -> Container[str]:  # noqa: ARG002  # for those that know any
        """The fields of a request that are the user's own."""
        return ()

    def negotiable(self, request: dict[str, Any]) -> list[Feature]:
        """Return the features that a request uses and can do without."""
        own = self.own_fields(request)
        return [feature for feature in self.features if feature.uses(request) and feature.field not in own]

    async def send(self, request: dict[str, Any]) -> Answer:
        """Send a request once.

        Raises TransientError if it may pass, UnsupportedError if another form may pass, ModelRefusedError if none does.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections."""


@dataclass
class BatchResults:
    """The lines of a batch's output and error file, each read as if it had come alone, by the keys of their answers."""

    answers: dict[bytes, Answer] = field(default_factory=dict)
    empty: dict[bytes, Answer] = field(default_factory=dict)  # answers without a text
    failed: list[bytes] = field(default_factory=list)
    unsupported: set[bytes] = field(default_factory=set)  # whose requests must be written in another way
    refusal: PsoptError | None = None  # the first


# The names in httpx and aiohttp; openai's client over aiohttp also reports a cut connection as a ConnectTimeout.
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}
_CUT = (ConnectionResetError, BrokenPipeError)
_DISCONNECTED = "ServerDisconnectedError"  # in aiohttp: a connection that was closed without an answer

# Those that the openai package retries (408, 409, 429 and 5xx), and 425 Too Early (RFC 8470).
_PASSING = frozenset({408, 409, 425, 429})
_FAULTS_OF_SERVERS = 500
# 529: Anthropic's "overloaded"; 504: a gateway in front of a server whose queue is too long.
TOO_MANY = frozenset({429, 504, 529})


def passes(status: int) -> bool:
    """Whether a request that failed with this HTTP status may succeed next time."""
    return status in _PASSING or status >= _FAULTS_OF_SERVERS


@dataclass(eq=False)
class TransientError(Exception):
    """A call failed in a way that may pass, so it is sent again."""

    reason: str
    wait: float | None = None  # how many seconds the server asked to wait
    overloaded: bool = False  # whether the server said that it gets too many requests
    unreachable: bool = False  # whether no connection was made at all
    empty: Answer | None = None  # the answer, if its only fault is that it is empty
    unreadable: bool = False  # whether the response is no answer at all; a server that never sent one never will
    given_up: bool = False  # whether no answer came in time
    status: int | None = None  # the HTTP status, if there was one

    def __str__(self) -> str:
        return self.reason


class UnsupportedError(Exception):
    """The server does not know a feature that the request uses; the request can be made without it."""

    def __init__(self, feature: str, reason: str) -> None:
        super().__init__(reason)
        self.feature = feature


class NotThereError(ModelError):
    """A server doesn't have what it was asked for: an address, or something under it, by its HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class ModelRefusedError(ModelError):
    """The server will not answer this client at all (key, model name, quota, malformed request): the run stops."""


class ServerGoneError(ModelError):
    """A server that answered before has been unreachable for too long: the run stops, and can be resumed."""


class UnclearRefusalError(ModelRefusedError):
    """The server refuses the request without saying which part is wrong; a request without that part may succeed."""


def is_unreachable(error: BaseException) -> bool:
    """Whether no connection was made, judging by an error and its causes."""
    chain = causes(error)
    if any(isinstance(cause, _CUT) or type(cause).__name__ == _DISCONNECTED for cause in chain):
        return False  # the request may have arrived, and been paid for
    return any(isinstance(cause, ConnectionRefusedError) or type(cause).__name__ in _NO_CONNECTION for cause in chain)


@dataclass(frozen=True, slots=True)
class CallStart:
    """A request that is about to be sent; a retry is another call."""

    model: str  # as in `ChatClient.name`: ``openai/NAME``
    endpoint: str | None  # where it goes, if that is known
    request: Mapping[str, Any]  # the request's body


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The outcome of a call."""

    text: str | None = None  # the answer; None where there is none
    # As in `Answer`
    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    reasoning: int = 0
    finish_reason: str = ""  # ``stop``, ``length`` or ``content_filter``; empty where the call failed
    # A short name of what went wrong, from a small set: an HTTP status, ``timeout``, ``cancelled`` or the exception's
    # name; empty where nothing did
    error: str = ""
    message: str = ""  # the message of that error

    @classmethod
    def answered(cls, answer: Answer) -> CallEnd:
        """A call that was answered. Servers give more detail about its end than an `Answer` keeps."""
        finish_reason = "stop"
        if answer.truncated:
            finish_reason = "length"
        elif answer.unanswered or answer.text is None:
            finish_reason = "content_filter"
        told = {name: getattr(answer, name) for name in ("text", "tokens_in", "tokens_out", "cached_in", "reasoning")}
        return cls(**told, finish_reason=finish_reason)

    @classmethod
    def failed(cls, error: BaseException) -> CallEnd:
        """A call that failed; but an empty answer still counts as an answer."""
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
"""Is notified of each call as it is sent, and returns what to notify of its end.

Both are called in the thread that sends: they must return at once and raise nothing. Answers from the cache are not
calls; those of batches are not either, since they come together.
"""
