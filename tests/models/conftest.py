"""What tests of language models share: a fake server that starts once a file, and is as new for each test."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer, FakeServerOptions
from tests.fake_server._options import FIXED_AT_START

LABELS = ("Entity", "Person", "Number")
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.")]
TEXTS = [f"What is thing {i} ?" for i in range(30)]
KEY = "sk-very-secret-0123456789"
AS_NEW = {
    option.name: option.default for option in dataclasses.fields(FakeServerOptions) if option.name not in FIXED_AT_START
}


@pytest.fixture
def server(running_server: FakeServer) -> FakeServer:
    """The file's server, as new."""
    running_server.change(**AS_NEW)
    running_server.reset()
    return running_server


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and hardly a wait before what failed is tried again."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Give the server's model a price, ``in = 1.0, out = 2.0``."""

    def price(line: str) -> None:
        (tmp_path / "prices.toml").write_text(f'"openai/test" = {{ {line} }}')
        monkeypatch.setenv("PSOPT_PRICES", str(tmp_path / "prices.toml"))

    return price


def model_at(
    server: FakeServer, folder: Path | None = None, budget: Budget | None = None, name: str = "test", **options: Any
) -> Any:
    """The server's model, whose answers are kept in a folder, or for as long as it lives."""
    return chat_model("openai", name, AnswerCache(folder), LMConfig(api_base=server.url, **options), budget)
