"""The parts of a request that a server may not accept, and what is sent in their place."""

from __future__ import annotations

import re
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from psopt.search_spaces import Messages

Body = dict[str, Any]
# top_logprobs: the maximum at OpenAI (API reference, chat completions), and at Together, Fireworks and earlier
# versions of vLLM.
ALTERNATIVES = 20
FEWER_ALTERNATIVES = 5
# For answers restricted to a form: llama.cpp sends what was likely before its grammar. There, of SmolLM2's six labels
# for TREC (25 questions) half were not among the likeliest 20, and one in 37 was not among the likeliest 128.
MOST_ALTERNATIVES = 128
BOTH = "structure with logprobs"  # a separate name: a server that refuses the two together may accept each
TOKENS_ALONE = "logprobs of tokens"  # a separate name: a server that refuses alternatives may accept these
LEAST_TEMPERATURE = 0.01  # where 0 is refused: the nearest value that TGI and others accept


class Feature(NamedTuple):
    """A part of requests; once a server has refused it, the next best takes its place."""

    name: str  # under which the cache keeps what was learnt
    uses: Callable[[Body], bool]  # whether a request uses it
    field: str  # the field of a request that holds it
    called: str  # regular expression: how refusals name it, as the place of an error or in its words
    words: str = ""  # regular expression that the words of a refusal must match as well; empty for any


_STRUCTURED = r"response_?format|json_schema|\bstructured|\bguided|\bgrammar|json.?(mode|object)"
_LOGPROBS = r"log_?prob(abilitie)?s"
_LENGTH = r"\bmax_(completion_)?tokens\b"
_ROLES = r"\balternat\w+|\bconsecutive\b|same role"
_SYSTEM = rf"\broles?\b|\bsystem (message|prompt|instruction)|\bdeveloper (message|instruction)|{_ROLES}"


def _has(field: str) -> Callable[[Body], bool]:
    return lambda body: field in body


def _has_form(*forms: str) -> Callable[[Body], bool]:
    return lambda body: (body.get("response_format") or {}).get("type") in forms


def _more_alternatives_than(n: int) -> Callable[[Body], bool]:
    return lambda body: bool(body.get("top_logprobs", 0) > n)


def asks_for_tokens_alone(body: Body) -> bool:
    """Whether a request asks for the log-probabilities of the tokens that are written, and for no others."""
    return bool(body.get("logprobs")) and not body.get("top_logprobs")


def _both(body: Body) -> bool:
    return _has_form("json_schema", "json_object")(body) and bool(body.get("top_logprobs"))


def _roles(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


_IN_BOTH = rf"(?s)(?=.*({_STRUCTURED}))(?=.*{_LOGPROBS})"
_POSITIVE = r"positive|greater than 0|> ?0|above 0|non-?zero"
# In the order in which they are given up where a refusal does not say what it is about: the most dispensable first.
FEATURES = (
    Feature("most logprobs", _more_alternatives_than(ALTERNATIVES), "top_logprobs", _LOGPROBS),
    Feature(BOTH, _both, "response_format", f"{_STRUCTURED}|{_LOGPROBS}", _IN_BOTH),
    Feature("json_schema", _has_form("json_schema"), "response_format", _STRUCTURED),
    Feature("json_object", _has_form("json_object"), "response_format", _STRUCTURED),
    Feature("seed", _has("seed"), "seed", r"\bseed\b"),
    Feature("random_seed", _has("random_seed"), "random_seed", r"\b(random_)?seed\b"),
    Feature("many logprobs", _more_alternatives_than(FEWER_ALTERNATIVES), "top_logprobs", _LOGPROBS),
    Feature("logprobs", lambda body: 0 < body.get("top_logprobs", 0) <= FEWER_ALTERNATIVES, "top_logprobs", _LOGPROBS),
    Feature(TOKENS_ALONE, asks_for_tokens_alone, "logprobs", _LOGPROBS),
    Feature("temperature 0", lambda body: body.get("temperature") == 0, "temperature", r"\btemperature\b", _POSITIVE),
    Feature("temperature", _has("temperature"), "temperature", r"\btemperature\b"),
    Feature("max_tokens", _has("max_tokens"), "max_tokens", _LENGTH),
    Feature("max_completion_tokens", _has("max_completion_tokens"), "max_completion_tokens", _LENGTH),
    Feature("consecutive roles", lambda body: any(map(eq, _roles(body), _roles(body)[1:])), "messages", _ROLES),
    Feature("system role", lambda body: "system" in _roles(body), "messages", _SYSTEM),
)


def about_the_form(text: str) -> bool:
    """Whether the words of a refusal name the response format.

    >>> about_the_form("'response_format' is not supported by this model")
    True
    """
    return re.search(_STRUCTURED, text, re.IGNORECASE) is not None


def features_of(body: Body) -> list[Feature]:
    return [feature for feature in FEATURES if feature.uses(body)]


def without_refused(body: Body, lacks: Container[str]) -> Body:
    """Write a request without the temperatures and roles that its server refuses."""
    body = dict(body)
    if "temperature" in lacks:
        body.pop("temperature", None)
    elif "temperature 0" in lacks and body.get("temperature") == 0:
        body["temperature"] = LEAST_TEMPERATURE
    if "system role" in lacks:
        body["messages"] = without_system(body["messages"])
    if "consecutive roles" in lacks:
        body["messages"] = alternating(body["messages"])
    return body


def without_system(messages: Messages) -> Messages:
    """Put the text of system messages at the beginning of the user's first message."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    others = [dict(message) for message in messages if message["role"] != "system"]
    if not others or others[0]["role"] != "user":
        return [{"role": "user", "content": system}, *others]
    others[0]["content"] = f"{system}\n\n{others[0]['content']}"
    return others


def alternating(messages: Messages) -> Messages:
    """Join consecutive messages of the same role."""
    joined: Messages = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {**message, "content": f"{joined[-1]['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined
