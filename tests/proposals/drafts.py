"""What tests of drafted edits share: why one is not used, and a writer that drafts by a function."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class Writer:
    """Drafts what a function makes of each request, nothing if there is none, and keeps the requests."""

    name = "test/writer"

    def __init__(self, draft: Callable[[str], str] = lambda _: "") -> None:
        self.draft = draft
        self.asked: list[str] = []

    def write(self, conversations: Any, **_: object) -> list[str]:
        requests = [messages[-1]["content"] for messages in conversations]
        self.asked += requests
        return [self.draft(request) for request in requests]


def asked_label(request: str) -> str:
    """The label that a draft is asked for; where that is one for all labels, Number."""
    return request.rpartition('"label": "')[2].partition('"')[0] if '"label": "' in request else "Number"


def draft_of(label: str, **texts: str) -> str:
    """A draft as a model writes it."""
    return json.dumps({"label": label, **texts})
