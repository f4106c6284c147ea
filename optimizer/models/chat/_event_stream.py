"""Streams of server-sent events that nobody asked for, put together to one completion."""

from __future__ import annotations

from typing import Any

from psopt.models.chat._server_json import read_json

_DATA = b"data:"
_FIRST = (_DATA, b"event:", b"id:", b"retry:", b":")
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def merged_stream(content: bytes) -> dict[str, Any] | None:
    r"""Return the completion that a stream's chunks make together; None if it is no stream.

    >>> stream = b'data: {"choices": [{"delta": {"content": "Num"}}]}'
    >>> stream += b'\n\ndata: {"choices": [{"delta": {"content": "ber"}, "finish_reason": "stop"}]}\n\ndata: [DONE]'
    >>> merged_stream(stream)["choices"][0]["message"]["content"]
    'Number'

    Raises
    ------
    ValueError
        If a chunk is no JSON, or the stream breaks off.
    """
    if not content.lstrip().startswith(_FIRST):
        return None
    lines = (line.strip() for line in content.splitlines())
    events = [line.removeprefix(_DATA).strip() for line in lines if line.startswith(_DATA)]
    message: dict[str, Any] = {}
    places: list[Any] = []
    ends: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    for chunk in (read_json(event) for event in events if event != b"[DONE]"):
        whole |= {name: chunk[name] for name in ("usage", "error", "model") if chunk.get(name)}
        for choice in chunk.get("choices") or []:
            if choice.get("index"):
                continue
            delta = choice.get("delta") or choice.get("message") or {}
            message |= {name: _joined(message.get(name), delta[name]) for name in _TEXTS if delta.get(name)}
            places += (choice.get("logprobs") or {}).get("content") or []
            ends |= {name: choice[name] for name in ("finish_reason", "error") if choice.get(name)}
    if not ends.get("finish_reason") and not whole.get("error") and b"[DONE]" not in events:
        raise ValueError("the stream breaks off")
    return {**whole, "choices": [{"message": message, "logprobs": {"content": places} if places else None, **ends}]}


def _joined(before: Any, after: Any) -> Any:
    """Join what two chunks say: texts, or parts."""
    if before is None:
        return after
    if isinstance(before, str) and isinstance(after, str):
        return before + after
    return [part for said in (before, after) for part in (said if isinstance(said, list) else [said])]
