"""What a chat client is: one request out, one answer in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.models.chat._features import Feature
    from psopt.search_spaces import Messages

Alternatives = list[tuple[str, list[tuple[str, float]]]]
"""For each token of an answer: its text, and the likeliest tokens at its place with their log-probabilities."""
# As the cache has always called these fields of an answer.
_KEPT_AS = {"tokens_in": "in", "tokens_out": "out", "is_thought": "thought"}
_ALWAYS_KEPT = frozenset({"text", "tokens_in", "tokens_out"})
_NOT_KEPT = frozenset({"cached_in"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and what that took."""

    text: str | None  # the answer; None if the model refused
    # Tokens as the server counted them, 0 where it did not
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: Alternatives | None = None  # the likeliest tokens at each place, where they were asked for
    truncated: bool = False  # whether the answer was cut at the limit of tokens
    # As what the text is refused for good: ``refused``, ``content filter``, ``context length``, ``invalid JSON``
    unanswered: str | None = None
    reason: str = ""  # how the server said that
    # Of `tokens_out` those thought and not said, of `tokens_in` those that the server had read before
    reasoning: int = 0
    cached_in: int = 0
    is_thought: bool = False  # whether the text is what the server sent as reasoning, having sent nothing else
    # The mean probability of the answer's tokens, in [0, 1], where log-probabilities were asked for
    confidence: float | None = None
    model: str = ""  # the model that the server names as the one that answered; empty where it names none

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the cache keeps it."""
        return {
            kept: value
            for name, kept, default in _FIELDS
            if (value := getattr(self, name)) != default or name in _ALWAYS_KEPT
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Answer:
        """Read an answer from the cache."""
        return cls(**{name: data[kept] for name, kept, _ in _FIELDS if kept in data})


_FIELDS = tuple(
    (field.name, _KEPT_AS.get(field.name, field.name), field.default)
    for field in fields(Answer)
    if field.name not in _NOT_KEPT
)


class Query(NamedTuple):
    """What is asked."""

    messages: Messages
    labels: Sequence[str] = ()  # what the answer should be one of; empty for free text
    temperature: float | None = None  # in place of the options' temperature
    sample: int = 0  # which of several answers to the same messages; tells them apart in the cache
    response_format: str = ""  # the user's own, as JSON text; it is sent as it is, or not at all
    max_tokens: int | None = None  # most tokens of the answer, in place of the options'
    # Whether the answer should say how probable its tokens were; without alternatives to them
    has_confidence: bool = False
    is_own: bool = False  # whether the messages are the user's own, to which nothing of psopt's is added


class ChatClient:
    """Sends chat messages somewhere.

    The engine is the only caller: it caches, limits, retries and gives up, so that a client does none of that.

    Attributes
    ----------
    name : str
        The name under which `load_model` finds the model.
    endpoint : str or None
        Where requests go, as part of the cache's key; None if answers must not be kept on disk.
    features : tuple of str
        What requests may do without, should the server not take it; the most dispensable first.
    refused : set of str
        Those among them that requests are built without, where there are any.
    headers : mapping
        Of the last answer.
    """

    name: str
    endpoint: str | None
    features: tuple[str, ...] = ()
    refused: set[str]
    headers: Mapping[str, str] = {}

    def prepare(self) -> None:
        """Do what takes long, before the time until an answer counts."""

    def request(self, query: Query) -> dict[str, Any]:
        """Build the request, JSON data that decide the answer, using no unsupported feature."""
        raise NotImplementedError

    def negotiable(self, request: dict[str, Any]) -> list[Feature]:  # noqa: ARG002  # for those that can do without one
        """Return those features that a request uses and can be made without."""
        return []

    async def send(self, request: dict[str, Any]) -> Answer:
        """Send a request once.

        Raises TransientError if it may go well next time. Raises UnsupportedError if it would go well without some
        feature. Raises ModelRefusedError if it will never go well.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections."""
