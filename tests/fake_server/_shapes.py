"""The shapes in which servers give their answers, and the words in which they refuse a text for good."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

THOUGHT = "Is it a Number or an Entity? Let me see."
SHAPES = {
    "plain": "OpenAI's",
    "parts": "content as a list of parts, as Mistral",
    "thinking-parts": "a part that thinks before the part that answers, as Mistral's Magistral",
    "reasoning": "reasoning in reasoning_content, as vLLM and DeepSeek",
    "reasoning-field": "reasoning in reasoning, as OpenRouter",
    "all-reasoning": "content null, the answer in reasoning_content",
    "thought-out": "content null, all tokens used up by reasoning_content",
    "think": "reasoning in <think>",
    "fenced": "JSON in a fence",
    "error200": "HTTP 200 with an error 502 at first, as OpenRouter; then the answer",
    "error200-final": "HTTP 200 with an error 400",
    "finish-error": "finish_reason error and half an answer at first, as OpenRouter; then the answer",
    "list-error": "HTTP 400 whose body is a list, as Gemini",
    "html": "HTTP 200 with a page",
    "null": "content null, and nothing else",
    "tool-call": "content null, the answer as the arguments of a tool's call",
    "uncounted": "no usage, as some gateways",
    "falls-back": "another model's name beside the answer Entity, as proxies that fall back",
}
REFUSALS: dict[str, tuple[int, dict[str, Any]]] = {
    "content_filter": (
        400,
        {
            "message": "The prompt triggered Azure OpenAI's content management policy.",
            "param": "prompt",
            "code": "content_filter",
            "innererror": {"code": "ResponsibleAIPolicyViolation"},
        },
    ),
    "vllm_context": (
        400,
        {
            "message": "This model's maximum context length is 512 tokens. However, you requested 700 (444 in the"
            " messages, plus 256 'max_tokens'). Please reduce the length of the messages or completion.",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
}
IN_THE_ANSWER = ("filtered", "refusal")


def refusal_kinds() -> tuple[str, ...]:
    """What `--unanswerable WORD:KIND` takes as a kind."""
    return (*REFUSALS, *IN_THE_ANSWER)


def unanswerable(pairs: str, body: dict[str, Any], completion: dict[str, Any]) -> web.Response | None:
    """Refuse a request for good if its last two lines hold one of the words of ``WORD:KIND,WORD:KIND``.

    They hold the text to classify; examples stand before.
    """
    last_lines = "\n".join(str(body["messages"][-1].get("content")).splitlines()[-2:])
    for pair in filter(None, pairs.split(",")):
        word, _, kind = pair.rpartition(":")
        if word in last_lines and kind in REFUSALS:
            status, error = REFUSALS[kind]
            return web.json_response({"error": error}, status=status)
        if word in last_lines:
            return web.json_response(_refused(completion, kind))
    return None


def _refused(completion: dict[str, Any], kind: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if kind == "refusal":
        message["refusal"] = "I can't help with that."
    reason = "content_filter" if kind == "filtered" else "stop"
    return {**completion, "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}]}


def shaped(completion: dict[str, Any], shape: str, *, first: bool) -> web.Response:
    """Return a completion in one of the shapes; `first` is whether this request came for the first time."""
    choice = completion["choices"][0]
    text = choice["message"]["content"]
    if shape == "falls-back" and "Entity" in text:
        return web.json_response({**completion, "model": "smaller"})
    if shape == "tool-call":
        call = {"type": "function", "function": {"name": "answer", "arguments": json.dumps({"label": text})}}
        called = {
            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
            "finish_reason": "tool_calls",
        }
        return web.json_response({**completion, "choices": [{**choice, **called}]})
    if shape == "html":
        return web.Response(text="<html><body>Welcome to the gateway.</body></html>", content_type="text/html")
    if shape == "list-error":
        error = {"code": 400, "message": "API key not valid. Please pass a valid one.", "status": "INVALID_ARGUMENT"}
        return web.json_response([{"error": error}], status=400)
    if shape == "error200-final" or (shape == "error200" and first):
        code = 400 if shape == "error200-final" else 502
        return web.json_response({"error": {"code": code, "message": "Provider returned error"}, "user_id": "u"})
    if shape == "finish-error" and first:
        broken = {**choice, "message": {"role": "assistant", "content": text[:2]}, "finish_reason": "error"}
        return web.json_response({**completion, "choices": [broken]})
    if shape == "uncounted":
        completion = {name: value for name, value in completion.items() if name != "usage"}
    message, reason = _message(text, shape)
    message = {"role": "assistant", **message}
    return web.json_response(
        {**completion, "choices": [{**choice, "message": message, "finish_reason": reason or choice["finish_reason"]}]}
    )


def _message(text: str, shape: str) -> tuple[dict[str, Any], str | None]:
    """What stands in the message, and why it ended, if that is peculiar to the shape."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    messages: dict[str, dict[str, Any]] = {
        "parts": {"content": [{"type": "text", "text": text}]},
        "thinking-parts": {"content": [thinking, {"type": "text", "text": text}]},
        "reasoning": {"content": text, "reasoning_content": THOUGHT},
        "reasoning-field": {"content": text, "reasoning": THOUGHT},
        "all-reasoning": {"content": None, "reasoning_content": f"{THOUGHT}\nAnswer: {text}"},
        "thought-out": {"content": None, "reasoning_content": THOUGHT},
        "think": {"content": f"<think>{THOUGHT}</think>\n{text}"},
        "fenced": {"content": f'```json\n{{"label": "{text}"}}\n```'},
        "null": {"content": None},
    }
    return messages.get(shape, {"content": text}), "length" if shape == "thought-out" else None
