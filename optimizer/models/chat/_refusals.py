"""Reads how a server refuses, and how long it asks to wait: any status, any form of error body, any wording."""

from __future__ import annotations

import contextlib
import functools
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CONTENT_FILTER = "content filter"
CONTEXT_LENGTH = "context length"
INVALID_JSON = "invalid JSON"
REFUSED = "refused"

_FINAL = frozenset({400, 413, 422})
_SERVER_ERROR = 500  # llama-cpp-python's status for a context that is too long
# How servers say it, in their codes or in words. Sources: OpenAI (context_length_exceeded, content_filter), Azure
# (content_filter, ResponsibleAIPolicyViolation, "content management policy"), vLLM and SGLang ("maximum context
# length", "longer than the model's context length"), llama.cpp (exceed_context_size_error, "available context
# size"), llama-cpp-python ("exceed context window"), Anthropic ("prompt is too long"), TGI ("`inputs` tokens"), Groq
# (json_validate_failed), Gemini (PROHIBITED_CONTENT), DashScope (data_inspection_failed), LiteLLM (ContextWindow..).
_WORDS = {
    CONTEXT_LENGTH: re.compile(
        r"context_length_exceeded|exceed_context_size|context ?window|context length|available context size"
        r"|prompt is too long|input is too long|`inputs` tokens|inputs` must have less|request_too_large"
        r"|reduce the length of the|maximum model length|max_new_tokens` must be",
        re.IGNORECASE,
    ),
    CONTENT_FILTER: re.compile(
        r"content_?filter|content management policy|ResponsibleAIPolicy|content_policy_violation|ContentPolicyViolation"
        r"|data_inspection_failed|PROHIBITED_CONTENT|safety system|flagged by (?:our )?(?:content )?moderation",
        re.IGNORECASE,
    ),
    INVALID_JSON: re.compile(
        r"json_validate_failed|failed to (?:generate|validate) JSON|failed_generation", re.IGNORECASE
    ),
}

# Validation errors repeat what they were sent, the user's words and not the server's; `object` is always "error".
_LEFT_OUT = {"input", "ctx", "body", "url", "request", "object"}
# Characters: a refusal that echoes the request may be as long as the request, and patterns search all of it.
_LONGEST_MESSAGE = 4_000
# A location within a message: pydantic's 'loc': ('body', 'seed'), Gemini's Unknown name "seed", OpenAI's 'seed'.
_PLACES = re.compile(
    r"""["']loc["']:\s*[\[(]([^\])]*)[\])] | unknown\s+(?:name|field)\s+["'`]?([\w.]+) """, re.IGNORECASE | re.VERBOSE
)
_INPUT = re.compile(r"""["']input["']:\s*(\{.*?\}|\[.*?\]|'[^']*'|"[^"]*"|[^,}\s]+)""", re.DOTALL)
_VALIDATION = re.compile(
    r"validat|_error'|_forbidden|not permitted|not supported|n['o]?t support|unsupported|unexpected keyword"
    r"|unrecognized|unknown (name|field|parameter)|should be|must (be|alternate)|only user and assistant",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model\W+[^ ]{0,80} ?(does not exist|not found|is not (found|a valid)|not available)|model_not_found"
    r"|(invalid|unknown|no such) model|not a valid model|DeploymentNotFound|deployment .{0,40}does not exist",
    re.IGNORECASE,
)


class Feature(NamedTuple):
    """A part of requests; once a server has refused it, the next best takes its place."""

    name: str  # under which the cache keeps what was learnt
    uses: Callable[[dict[str, Any]], bool]  # whether a request uses it
    field: str  # the field of a request that holds it
    called: str  # regular expression: how refusals name it, as the place of an error or in its words
    words: str = ""  # regular expression that the words of a refusal must match as well; empty for any


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server's error says."""

    status: int
    text: str  # its words, without what it repeats from the request
    places: tuple[str, ...] = ()  # the places in the request that it names, as ``body.response_format.type``

    @property
    def text_kind(self) -> str | None:
        """Why this one text is refused for good, which says nothing about any other; None if it is not its fault.

        >>> Refusal(400, "This model's maximum context length is 4096 tokens. However, you requested ..").text_kind
        'context length'
        >>> Refusal(400, "Unsupported parameter: 'seed'").text_kind is None
        True
        """
        kind = next((kind for kind, words in _WORDS.items() if words.search(self.text)), None)
        is_final = self.status in _FINAL or (self.status == _SERVER_ERROR and kind == CONTEXT_LENGTH)
        return kind if is_final else None

    @property
    def is_about_the_model(self) -> bool:
        """Whether there is no model of this name."""
        return _NO_MODEL.search(self.text) is not None

    @property
    def is_about_the_request(self) -> bool:
        """Whether the server read the request and refuses its form; llama-cpp-python says so with HTTP 500."""
        if self.text_kind or self.is_about_the_model:
            return False
        return self.status in {400, 422} or (self.status in {500, 501} and _VALIDATION.search(self.text) is not None)

    def names(self, features: Sequence[Feature]) -> Feature | None:
        """Return the refused feature: by the place named, else the first that the words name; None if it is another."""
        fitting = [feature for feature in features if _found(feature.words, self.text)]
        for place in self.places:
            for feature in fitting:
                if _found(feature.called, place):
                    return feature
        named = [(match.start(), feature) for feature in fitting if (match := _found(feature.called, self.text))]
        return min(named, key=itemgetter(0))[1] if named else None


def _found(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE)


def read_refusal(status: int, body: Any, text: str) -> Refusal:
    """Read an error's JSON (None if it is none) and its raw text.

    >>> detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
    >>> read_refusal(422, {"detail": detail}, "")
    Refusal(status=422, text='extra_forbidden body.seed Extra inputs are not permitted', places=('body.seed',))
    """
    leaves = [*_leaves(body)]
    words = " ".join(dict.fromkeys(value for _, value in leaves))
    message = _INPUT.sub("", words or text).strip()[:_LONGEST_MESSAGE]
    places = [value for name, value in leaves if name in {"loc", "param", "field"}]
    places += [re.sub(r"\W+", ".", first or second).strip(".") for first, second in _PLACES.findall(message)]
    return Refusal(status, message, tuple(dict.fromkeys(places)))


def status_of(body: Any) -> int:
    """Return the HTTP status that an error under HTTP 200 names; 500 where it names none."""
    error = _innermost(body)
    if not isinstance(error, dict):
        return _SERVER_ERROR
    named = (str(error.get(name)) for name in ("code", "status", "status_code"))
    return next((int(value) for value in named if re.fullmatch(r"[45]\d\d", value)), _SERVER_ERROR)


def _innermost(body: Any) -> Any:
    """The error itself, without any list or ``error`` field around it."""
    while True:
        if isinstance(body, list) and body:
            body = body[0]
        elif isinstance(body, dict) and isinstance(body.get("error"), (dict, list, str)) and body["error"]:
            body = body["error"]
        else:
            return body


def _leaves(body: Any) -> Iterator[tuple[str, str]]:
    """The strings of an error body with the names of their fields; a location is one string."""
    waiting: list[tuple[str, Any]] = [("", body)]
    while waiting:  # no recursion: a body may be nested as deeply as JSON can be read
        name, value = waiting.pop()
        if isinstance(value, str) and value:
            yield name, value
        elif isinstance(value, list) and name == "loc":
            yield name, ".".join(map(str, value))
        elif isinstance(value, list):
            waiting += [(name, inner) for inner in reversed(value)]
        elif isinstance(value, dict):
            waiting += [(key, inner) for key, inner in reversed(value.items()) if key not in _LEFT_OUT]


_UNITS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # seconds, by how it begins
_PART = r"(\d+(?:\.\d+)?)\s*(ms|milli|s|m|h|d)[a-z]*"
_IN_WORDS = re.compile(
    rf"(?:try again|retry|wait)(?:\s+(?:again|after|in|for|at least))*\s+((?:{_PART}[\s,]*(?:and\s+)?)+)", re.IGNORECASE
)
_30_YEARS = 1e9  # seconds: nobody asks to wait so long
_NOW = functools.partial(datetime.now, UTC)


def retry_after(headers: Mapping[str, str], message: str, now: Callable[[], datetime] = _NOW) -> float | None:
    """Seconds that a refusal asks to wait; None if it does not say.

    The most exact goes first: `retry-after-ms`, `retry-after` (seconds or a date), the words of the message.

    >>> retry_after({"retry-after-ms": "1500", "retry-after": "2"}, "")
    1.5
    >>> retry_after({}, "Rate limit reached for gpt-4o. Please try again in 1m2.5s. Visit https://..")
    62.5
    """
    waits = []
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        with contextlib.suppress(ValueError):
            waits.append(float(value) * unit)
        with contextlib.suppress(ValueError, TypeError, OverflowError):  # a date without a zone is not an HTTP date
            waits.append((parsedate_to_datetime(value) - now()).total_seconds())
    if words := _IN_WORDS.search(message):
        parts = re.findall(_PART, words[1].lower())
        waits.append(sum(float(number) * _UNITS[unit] for number, unit in parts))
    return next((max(0.0, seconds) for seconds in waits if seconds < _30_YEARS), None)
