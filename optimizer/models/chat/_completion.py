"""Reads chat completions in the forms that servers send: plain, in parts, or as an error."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.models.chat._client import Answer, TransientError
from psopt.models.chat._label_probabilities import confidence_of
from psopt.models.chat._refusals import CONTENT_FILTER, REFUSED, status_of
from psopt.models.chat._secrets import redacted

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.models.chat._client import Alternatives

_LARGEST_ANSWER = 16_000_000  # bytes: log-probabilities of 128 alternatives for 1,500 tokens fit; more is a fault
# DeepSeek, vLLM and llama.cpp use reasoning_content, OpenRouter and newer vLLM reasoning.
_REASONING = ("reasoning_content", "reasoning")
# Types of parts: "thinking" at Mistral, "reasoning" elsewhere.
_THINKING = frozenset({"thinking", "reasoning"})
_SHOWN = 80  # characters of an unreadable response that an error quotes
_SEARCHED = 16_384  # characters of it that are searched for secrets: a key is no longer, since no server's headers are
# Endings, in lower case: llama.cpp, vLLM, OpenAI say length; Mistral model_length; Anthropic, Gemini, Cohere max_tokens
_CUT_SHORT = frozenset({"length", "model_length", "max_tokens"})
# DeepSeek says insufficient_system_resource, vLLM and SGLang say abort
_BROKEN_OFF = frozenset({"insufficient_system_resource", "abort"})


class ErrorInAnswerError(Exception):
    """A server sent an error under HTTP 200, as OpenRouter does: it is treated as the status that it names."""

    def __init__(self, body: Any) -> None:
        self.status = status_of(body)
        self.body = body
        super().__init__(f"HTTP 200 with error {self.status}")


def read_completion(content: bytes, safe: Callable[[str], str] = redacted) -> Answer:
    """Read the body of a chat completion; `safe` removes secrets from what is shown of it.

    Raises TransientError if it is none, or an empty one. Raises ErrorInAnswerError if it is in fact an error.
    """
    if len(content) > _LARGEST_ANSWER:
        raise TransientError(f"an answer of {len(content):,} bytes")
    try:
        body = _unless_error(read_json(content))
        choice = _unless_error(min(body["choices"], key=lambda choice: choice.get("index") or 0))
        answer = _read(choice, body.get("usage"))
        return replace(answer, model=safe(str(body.get("model") or "")))
    except (ValueError, LookupError, TypeError, AttributeError):
        shown = safe(content[:_SEARCHED].decode("utf-8", "replace"))[:_SHOWN]
        raise TransientError(f"no chat completion: {shown!r}", unreadable=True) from None


def _read(choice: dict[str, Any], usage: Any) -> Answer:
    ending = _ending_of(choice)
    if ending in _BROKEN_OFF:
        raise TransientError(f"the server broke the answer off ({ending})")
    text, refusal, is_thought = _text(choice["message"])
    answer = Answer(
        text,
        **_tokens(usage),
        logprobs=_alternatives(choice.get("logprobs")),
        truncated=ending in _CUT_SHORT,
        is_thought=is_thought,
        confidence=confidence_of(choice.get("logprobs")),
    )
    if ending == "content_filter":
        return replace(answer, text=None, unanswered=CONTENT_FILTER, reason="the answer was filtered")
    if refusal and not text:
        return replace(answer, unanswered=REFUSED, reason=refusal)
    if answer.is_empty:
        raise TransientError("an empty answer", empty=answer)
    return answer


def _ending_of(choice: dict[str, Any]) -> str:
    """Why an answer ended, in lower case: some gateways pass on names such as MAX_TOKENS."""
    return str(choice.get("finish_reason") or "").casefold()


def _tokens(usage: Any) -> dict[str, Any]:
    """What an answer took, as `usage` reports it; 0 where that is missing.

    Reasoning tokens are part of `completion_tokens` (OpenAI's protocol), unless the server's own numbers show that they
    are counted separately: `total_tokens` includes them on top, or there are more of them than tokens in the answer.
    Then they are added, since they cost the same.
    """
    usage = usage or {}
    tokens_in = _count(usage, "prompt_tokens")
    tokens_out = _count(usage, "completion_tokens")
    # xAI and some gateways give the number at the top level.
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens") or _count(usage, "reasoning_tokens")
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    if _count(usage, "total_tokens") == tokens_in + tokens_out + reasoning or reasoning > tokens_out:
        tokens_out += reasoning
    cached_in = min(cached, tokens_in)
    return {"tokens_in": tokens_in, "tokens_out": tokens_out, "reasoning": reasoning, "cached_in": cached_in}


def _count(counts: Any, name: str) -> int:
    """A count in a usage report; 0 if it is missing, null or not a count."""
    try:
        return max(0, int(counts.get(name) or 0))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return 0


def _text(message: dict[str, Any]) -> tuple[str | None, str, bool]:
    """The text of a message, its refusal, and whether the text is reasoning.

    Reasoning in a field of its own is an answer only where nothing else is: the server has mistaken it for reasoning.
    """
    text, thought, refusal = _parts(message.get("content"))
    beside = (message.get(name) for name in _REASONING)
    thought = thought or next((field for field in beside if field and isinstance(field, str)), "")
    refusal = refusal or str(message.get("refusal") or "")
    text = _called(message) or text  # text next to a call is not an answer: "Let me look at that."
    if text or refusal or not thought:
        return text, refusal, False
    return thought, "", True


def _called(message: dict[str, Any]) -> str | None:
    """What a message answers by calling tools, a line per call: the arguments as JSON, or else the name."""
    calls = [call.get("function") for call in message.get("tool_calls") or ()]
    calls = calls or [message.get("function_call")]  # what servers sent before there were tools
    parts = message.get("content")
    if isinstance(parts, list):  # Anthropic's format, which some gateways pass on
        used = (part for part in parts if isinstance(part, dict) and part.get("type") == "tool_use")
        calls += [{**part, "arguments": part.get("input")} for part in used]
    lines = []
    for function in filter(None, calls):
        line = function.get("arguments") or ""
        if not isinstance(line, str):  # Ollama's own interface sends an object
            line = json.dumps(line)
        if line.strip() in ("", "{}", "null"):
            line = function.get("name") or ""
        lines.append(line)
    return "\n".join(lines) or None


def _parts(content: Any) -> tuple[str | None, str, str]:
    """The answer, the reasoning and the refusal in a message's content: a text, or a list of parts."""
    if content is None or isinstance(content, str):
        return content, "", ""
    if not isinstance(content, list):
        raise TypeError
    answered = thought = refused = ""
    for part in content:
        if isinstance(part, str):
            answered += part
        elif part.get("type") in _THINKING:  # Mistral nests parts there
            thought += _parts(part.get("thinking") or part.get("text"))[0] or ""
        elif part.get("type") == "refusal":
            refused += str(part.get("refusal") or "")
        elif isinstance(part.get("text"), str):
            answered += part["text"]
    return answered, thought, refused


def _unless_error(body: Any) -> Any:
    if body.get("error") or _ending_of(body) == "error":
        raise ErrorInAnswerError(body)
    return body


def _alternatives(logprobs: Any) -> Alternatives | None:
    """The alternatives at each place, and what was written: a grammar may force a model to an unlikely token."""
    places = (logprobs or {}).get("content") or []
    if all("top_logprobs" not in place for place in places):  # where no alternatives were asked for
        return None
    alternatives: Alternatives = []
    for place in places:
        listed = list(map(_likely, place["top_logprobs"]))
        if place.get("logprob") is not None and place["token"] not in dict(listed):
            listed.append(_likely(place))
        alternatives.append((_token(place), listed))
    return alternatives


def _token(place: dict[str, Any]) -> str:
    if not isinstance(place["token"], str):
        raise TypeError
    return place["token"]


def _likely(place: dict[str, Any]) -> tuple[str, float]:
    """A token and its log-probability, which some servers round to slightly above 0."""
    logprob = min(float(place["logprob"]), 0.0)
    if math.isnan(logprob):
        raise ValueError("not a number")
    return _token(place), logprob


def read_json(content: bytes) -> Any:
    r"""Return the value of JSON text; half a surrogate pair becomes a question mark.

    >>> read_json(b'"a\\ud800"')
    'a?'

    Raises ValueError if it is not JSON, or nested too deeply to be read.
    """
    try:
        value = json.loads(content)
        if b"\\u" not in content and b"\xed" not in content:  # neither escaped nor as bytes: the usual case
            return value
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deep") from None
