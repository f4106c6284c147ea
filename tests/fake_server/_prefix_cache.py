"""What a server with prefix caching has read before of a request's messages."""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from typing import Any

_TOKEN = 4  # characters, as everywhere in this server
_STEP = 128  # tokens: OpenAI counts cached ones in such steps


class PrefixCache:
    """The messages that were read so far, in their order, so that the nearest stand beside each other."""

    def __init__(self) -> None:
        self._read: list[str] = []

    def cached_tokens(self, body: dict[str, Any], least: int) -> int:
        """How many tokens at the beginning were read before, none if fewer than `least`; and read the whole."""
        text = "\x00".join(str(turn.get("content") or "") for turn in body.get("messages", ()))
        place = bisect_left(self._read, text)
        beside = self._read[max(0, place - 1) : place + 1]
        shared = [len(os.path.commonprefix([text, other])) for other in beside]  # noqa: RUF071  # letter by letter
        common = max(shared, default=0) // _TOKEN
        if text not in beside:
            insort(self._read, text)
        return common // _STEP * _STEP if common >= least else 0
