"""Keys are kept out of messages, and messages stay readable whatever the key."""

from __future__ import annotations

from typing import Any

import pytest
from psopt.errors import InputError
from psopt.models.chat import LMConfig, public_address, server_of
from psopt.models.chat._secrets import redacted

from tests.sweeps import each

REFUSAL = "Unsupported parameter: 'max_tokens' is not supported; use 'max_completion_tokens' (HTTP 400, lm-studio)"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GPG_KEY", "API_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.delenv(name, raising=False)


DUMMIES = ["", "x", "token", "EMPTY", "none", "400", "ollama", "lm-studio", "max_tokens", "tokens", "supported"]
SHORT = ["sk-1234", "hunter2", "passWord"]
REAL = ["sk-proj-A1b2C3d4E5f6G7h8", "0123456789abcdef0123456789abcdef", "AbCdEfGhIjKlMnOpQrSt"]


def test_a_real_key_is_cut_out_wherever_it_stands_a_short_one_where_it_stands_alone_and_a_dummy_nowhere() -> None:
    said = "Incorrect API key: {0}. (Bearer%20{0}x, 'max_tokens')"
    for key in REAL:
        assert redacted(said.format(key), [key]) == said.format("***"), key
    for key in SHORT:
        assert redacted(f"key {key}, {key}x, 'max_tokens'", [key]) == f"key ***, {key}x, 'max_tokens'"
    for key in DUMMIES:
        assert redacted(REFUSAL, [key]) == REFUSAL, key


def test_keys_of_the_environment_are_cut_out_too_and_the_longer_before_the_one_it_contains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert redacted("a1b2c3d4e5f6a7b8c9d0", ["a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8c9d0"]) == "***"
    monkeypatch.setenv("API_TOKEN", "a1b2c3d4e5f6a7b8")
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    assert redacted("a1b2c3d4e5f6a7b8 is no key; max_tokens") == "*** is no key; max_tokens"


def test_an_address_is_shown_without_what_opens_a_gateway() -> None:
    secrets = "code=c0de1234&Sig=s1g12345&subscription-key=k3y12345"
    for user in ("", "me:pw@"):
        shown = public_address(f"https://{user}gate.test/v1?{secrets}&api-version=2")
        assert shown == "https://gate.test/v1?api-version=2"
    assert public_address("http://[::1/v1") is None


def opens(kind: str = "openai", api_base: str = "http://gate.test/v1", **options: Any) -> bool:
    return bool(server_of(f"{kind}/x", LMConfig(api_base=api_base, **options)))


@each("key, sent", [("sk-1234\n", True), (" sk-1234\r\n", True), ("\u201csk-1234\u201d", False), ("sk-\u00e4", False)])
def test_a_key_is_sent_without_what_copying_adds_or_refused(
    key: str, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, variable in (("openai", "OPENAI_API_KEY"), ("azure", "AZURE_OPENAI_API_KEY")):
        monkeypatch.setenv(variable, key)
        if sent:
            assert opens(kind)
            continue
        with pytest.raises(InputError, match=f"{variable} can't be sent: it holds"):
            opens(kind)


def test_a_header_that_can_t_be_sent_is_refused_whoever_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("J\u00fcrgen", "5 \u20ac"):
        with pytest.raises(InputError, match="--header X-Name can't be sent"):
            opens(headers={"X-Name": name})
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X: a\nY: b")
    assert opens()
    for variable, value in (("OPENAI_ORG_ID", "org-1\n"), ("OPENAI_CUSTOM_HEADERS", "X: a\nY: \u00e4")):
        with monkeypatch.context() as patched:
            patched.setenv(variable, value)
            with pytest.raises(InputError, match=f"{variable} can't be sent"):
                opens()


@each("place", ["localhost:PORT", "localhost:99999", "localhost:0", "[::1", "", "local host", "a\x1b[31mb:1"])
def test_an_address_that_leads_nowhere_is_refused_and_its_query_not_shown(place: str, monkeypatch: Any) -> None:
    address = f"http://{place}/v1?code=c0de1234"
    with pytest.raises(InputError, match="--api-base must be an address such as") as caught:
        opens(api_base=address)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(InputError, match=r"^OPENAI_BASE_URL must be an address such as"):
        opens(api_base="")
    assert "c0de1234" not in str(caught.value)
    assert str(caught.value).isprintable()
