"""Addresses of servers as they may be shown and written down: without what is secret in them."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from psopt.models.chat._secrets import is_secret


def public_address(address: str | None) -> str | None:
    """An address without user, password and secret parameters; None for what is no address on the web.

    >>> public_address("http://me:pw@localhost:8000/v1?api-key=abc&api-version=2")
    'http://localhost:8000/v1?api-version=2'
    >>> public_address("dspy")
    """
    if address is None or not address.startswith(("http://", "https://")):
        return None
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    query = [(name, value) for name, value in parse_qsl(parts.query) if not is_secret(name)]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(query), ""))
