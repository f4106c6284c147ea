"""Keeping keys out of whatever is shown or written: servers and libraries repeat them in their errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PARTS = ("key", "token", "secret", "password", "headers", "credential")
_NOT_SECRET = {"max_tokens", "max_completion_tokens"}
_SHORTEST = 8
_SHOWN = 300


def is_secret(name: str) -> bool:
    """Whether a setting of this name may hold a secret.

    >>> is_secret("api_key"), is_secret("max_tokens")
    (True, False)
    """
    return name not in _NOT_SECRET and any(part in name.casefold() for part in _PARTS)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a message on one line and not too long, without these secrets and those in the environment."""
    known = {*secrets, *secret_values(os.environ)}
    for secret in sorted(known, key=len, reverse=True):
        if secret:
            text = text.replace(secret, "***")
    return " ".join(text.split())[:_SHOWN]


def secret_values(settings: Mapping[str, Any]) -> list[str]:
    """The values that may be secrets, but for those too short to be told from words."""
    values = [value for name, value in settings.items() if is_secret(name) and isinstance(value, str)]
    return [value for value in values if len(value) >= _SHORTEST]
