"""Keeps keys out of everything that is shown or written: servers and libraries repeat them in their errors."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

_PARTS = ("key", "token", "secret", "password", "headers", "credential")
_NOT_SECRET = {"max_tokens", "max_completion_tokens"}
CUT = "***"
_SHOWN = 300  # characters: two or three lines of a terminal
# Providers' keys have 32 characters (Azure) or more. Parameter names must stay readable; they have up to 21 characters
# (max_completion_tokens), without digits or upper case. "sk-1234" (7) is what LiteLLM's guide starts with.
_SHORTEST = 6
_LONG = 16
_ESCAPE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")  # ECMA-48: CSI and OSC
_VERY_LONG = 24
T = TypeVar("T")

asker_key: ContextVar[str] = ContextVar("asker_key", default="")
"""The key for requests to servers, in place of the environment's; empty for none."""


def asking_with_key(key: str) -> AbstractContextManager[None]:
    """Ask servers with this key in place of the environment's, in this thread only; an empty key changes nothing."""
    return holding(asker_key, key)


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give a variable a value, in this context."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def is_secret(name: str) -> bool:
    """Whether a setting of this name may hold a secret.

    >>> is_secret("api_key"), is_secret("max_tokens")
    (True, False)
    """
    return name not in _NOT_SECRET and any(part in name.casefold() for part in _PARTS)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a message that can be shown: on one line, not too long, without what moves a cursor, and without secrets.

    Secrets are `secrets`, the key in use, and the environment's. One is removed everywhere if it is so long and mixed
    that no other text contains it by chance; a shorter one only where it stands alone. One that might be a plain word,
    such as a local server's dummy key, stays: without "token", "max_tokens" would be unreadable.

    >>> redacted("wrong key: sk-a1B2c3D4e5F6g7H8, 'max_tokens'", ["sk-a1B2c3D4e5F6g7H8", "token"])
    "wrong key: ***, 'max_tokens'"
    """
    text = one_line(_ESCAPE.sub("", text))
    for secret in sorted({*secrets, asker_key.get(), *secret_values(os.environ)} - {""}, key=len, reverse=True):
        if len(secret) >= _VERY_LONG or (len(secret) >= _LONG and _is_no_word(secret)):
            text = text.replace(secret, CUT)
        elif _is_no_word(secret):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", CUT, text)
    return text[:_SHOWN]


def secret_values(settings: Mapping[str, Any]) -> list[str]:
    """The values of settings whose names suggest that they are secrets."""
    return [value for name, value in settings.items() if is_secret(name) and isinstance(value, str) and value]


def _is_no_word(secret: str) -> bool:
    """Whether a string begins as keys do, or has a digit, or upper case after lower case, as no word of a message."""
    return len(secret) >= _SHORTEST and bool(re.search(r"^sk-|\d|[a-z][^A-Z]*[A-Z]", secret))
