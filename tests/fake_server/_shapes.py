"""The shapes in which servers give their answers, and the words in which they refuse a text for good."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

THOUGHT = "Is it a Number or an Entity? Let me see."
# Refusals of a text: an error of this kind with HTTP 400, or a choice that takes the answer's place
_ERRORS: dict[str, dict[str, Any]] = {
    "content_filter": {
        "message": "The prompt triggered Azure OpenAI's content management policy.",
        "param": "prompt",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    },
    "vllm_context": {
        "message": "This model's maximum context length is 512 tokens. However, you requested 700 (444 in the"
        " messages, plus 256 'max_tokens'). Please reduce the length of the messages or completion.",
        "type": "BadRequestError",
        "code": 400,
    },
}
_CHOICES: dict[str, dict[str, Any]] = {
    "filtered": {"message": {"content": None}, "finish_reason": "content_filter"},
    "refusal": {"message": {"content": None, "refusal": "I can't help with that."}, "finish_reason": "stop"},
}
REFUSALS = (*_ERRORS, *_CHOICES)


def unanswerable(pairs: str, body: dict[str, Any], completion: dict[str, Any]) -> web.Response | None:
    """Refuse a request for good if its last two lines hold one of the words of ``WORD:KIND,WORD:KIND``.

    They hold the text to classify; examples stand before.
    """
    last_lines = "\n".join(str(body["messages"][-1].get("content")).splitlines()[-2:])
    for pair in filter(None, pairs.split(",")):
        word, _, kind = pair.rpartition(":")
        if word in last_lines and kind in _ERRORS:
            return web.json_response({"error": _ERRORS[kind]}, status=400)
        if word in last_lines:
            return web.json_response({**completion, "choices": [{"index": 0, "logprobs": None, **_CHOICES[kind]}]})
    return None


def shaped(completion: dict[str, Any], shape: str, *, first: bool) -> web.Response:
    """Return a completion in a shape; `first` is whether this request came for the first time."""
    choice = completion["choices"][0]
    text = choice["message"]["content"]
    match shape:
        case "falls-back" if "Entity" in text:  # as proxies that fall back
            completion = {**completion, "model": "smaller"}
        case "uncounted":  # as some gateways
            completion = {name: value for name, value in completion.items() if name != "usage"}
        case "html":
            return web.Response(text="<html><body>Welcome to the gateway.</body></html>", content_type="text/html")
        case "list-error":  # as Gemini
            error = {"code": 400, "message": "API key not valid. Please pass a valid one."}
            return web.json_response([{"error": error}], status=400)
        case "error200-final":  # this one and the next as OpenRouter, the latter at first
            return web.json_response({"error": {"code": 400, "message": "Provider returned error"}})
        case "error200" if first:
            return web.json_response({"error": {"code": 502, "message": "Provider returned error"}})
        case "finish-error" if first:
            broken = {**choice, "message": {"role": "assistant", "content": text[:2]}, "finish_reason": "error"}
            return web.json_response({**completion, "choices": [broken]})
    message, reason = _messages(text).get(shape, ({"content": text}, choice["finish_reason"]))
    choice = {**choice, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return web.json_response({**completion, "choices": [choice]})


def _messages(text: str) -> dict[str, tuple[dict[str, Any], str]]:
    """What stands in the message, and why it ended, where that is peculiar to a shape."""
    said = {"type": "text", "text": text}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    call = {"type": "function", "function": {"name": "answer", "arguments": json.dumps({"label": text})}}
    return {
        "parts": ({"content": [said]}, "stop"),  # as Mistral
        "thinking-parts": ({"content": [thinking, said]}, "stop"),  # as Mistral's Magistral
        "reasoning": ({"content": text, "reasoning_content": THOUGHT}, "stop"),  # as vLLM and DeepSeek
        "reasoning-field": ({"content": text, "reasoning": THOUGHT}, "stop"),  # as OpenRouter
        "all-reasoning": ({"content": None, "reasoning_content": f"{THOUGHT}\nAnswer: {text}"}, "stop"),
        "beside-empty": ({"content": None, "reasoning_content": "", "reasoning": f"Answer: {text}"}, "stop"),
        "thought-out": ({"content": None, "reasoning_content": THOUGHT}, "length"),
        "think": ({"content": f"<think>{THOUGHT}</think>\n{text}"}, "stop"),
        "fenced": ({"content": f'```json\n{{"label": "{text}"}}\n```'}, "stop"),
        "null": ({"content": None}, "stop"),
        "tool-call": ({"content": None, "tool_calls": [call]}, "tool_calls"),
    }


_WHOLE = ("plain", "falls-back", "uncounted", "html", "list-error", "error200-final", "error200", "finish-error")
SHAPES = (*_WHOLE, *_messages(""))
