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
    merged = _Merged()
    for event in events:
        if event != b"[DONE]":
            merged.add(read_json(event))
    if not merged.is_whole and b"[DONE]" not in events:
        raise ValueError("the stream breaks off")
    return merged.completion()


class _Merged:
    """What the chunks have said so far."""

    def __init__(self) -> None:
        self._choice: dict[str, Any] = {"message": {}, "finish_reason": None}
        self._places: list[Any] = []
        self._rest: dict[str, Any] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the end was said, or an error."""
        return bool(self._choice["finish_reason"] or self._rest.get("error"))

    def add(self, chunk: dict[str, Any]) -> None:
        """Take the next chunk into account."""
        for name in ("usage", "error"):
            if chunk.get(name):
                self._rest[name] = chunk[name]
        for choice in chunk.get("choices") or []:
            if not choice.get("index"):
                self._add_choice(choice)

    def _add_choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or choice.get("message") or {}
        message = self._choice["message"]
        for name in _TEXTS:
            if delta.get(name):
                message[name] = _joined(message.get(name), delta[name])
        self._places += (choice.get("logprobs") or {}).get("content") or []
        for name in ("finish_reason", "error"):
            if choice.get(name):
                self._choice[name] = choice[name]

    def completion(self) -> dict[str, Any]:
        """The completion that would have come without streaming."""
        choice = {**self._choice, "logprobs": {"content": self._places} if self._places else None}
        return {**self._rest, "choices": [choice]}


def _joined(before: Any, after: Any) -> Any:
    """Join what two chunks say: texts, or parts."""
    if before is None:
        return after
    if isinstance(before, str) and isinstance(after, str):
        return before + after
    return [*_as_parts(before), *_as_parts(after)]


def _as_parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]
