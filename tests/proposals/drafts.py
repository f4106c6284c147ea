"""What tests of drafted edits share: why one is not used, and a writer that only listens."""

from __future__ import annotations

from typing import Any

from psopt.proposals.llm._draft_checks import DraftError

__all__ = ["DraftError", "Listener", "asked_label"]


class Listener:
    """Keeps what it is asked, and writes nothing."""

    name = "test/listener"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def write(self, conversations: Any, **_: object) -> list[str]:
        self.asked += [messages[-1]["content"] for messages in conversations]
        return [""] * len(conversations)


def asked_label(request: str) -> str:
    """The label that a draft is asked for; where that is one for all labels, Number."""
    return request.rpartition('"label": "')[2].partition('"')[0] if '"label": "' in request else "Number"
