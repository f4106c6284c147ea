"""Keys are kept out of messages, and messages stay readable whatever the key."""

from __future__ import annotations

import pytest
from psopt.models.chat._secrets import redacted

from tests.sweeps import each

REFUSAL = "Unsupported parameter: 'max_tokens' is not supported; use 'max_completion_tokens' (HTTP 400, lm-studio)"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GPG_KEY", "API_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@each("key", ["", "x", "token", "EMPTY", "none", "400", "ollama", "lm-studio", "max_tokens", "tokens", "supported"])
def test_a_dummy_key_leaves_a_message_as_it_is(key: str) -> None:
    assert redacted(REFUSAL, [key]) == REFUSAL


@each(
    "key",
    [
        "sk-proj-A1b2C3d4E5f6G7h8",
        "0123456789abcdef0123456789abcdef",
        "gsk_abcdefghijklmnopqrstuvwxyzabcd",
        "AbCdEfGhIjKlMnOpQrSt",
        "sk-very-secret-0123456789",
    ],
)
def test_a_real_key_is_cut_out_wherever_it_stands(key: str) -> None:
    said = redacted(f"Incorrect API key: {key}. (Bearer%20{key}x, 'max_tokens')", [key])
    assert said == "Incorrect API key: ***. (Bearer%20***x, 'max_tokens')"


@each("key", ["sk-1234", "hunter2", "passWord"])
def test_a_short_key_is_cut_out_where_it_stands_alone(key: str) -> None:
    assert redacted(f"key {key}, {key}x, 'max_tokens'", [key]) == f"key ***, {key}x, 'max_tokens'"


def test_keys_of_the_environment_are_cut_out_too_and_the_longer_before_the_one_it_contains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert redacted("a1b2c3d4e5f6a7b8c9d0", ["a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8c9d0"]) == "***"
    monkeypatch.setenv("API_TOKEN", "a1b2c3d4e5f6a7b8")
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    assert redacted("a1b2c3d4e5f6a7b8 is no key; max_tokens") == "*** is no key; max_tokens"
