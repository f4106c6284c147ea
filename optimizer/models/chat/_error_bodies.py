"""Reading the bodies of errors, in the shapes that servers give them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_STATUSES = range(400, 600)
_NAMES = ("code", "type", "status", "param")


class ErrorBody(NamedTuple):
    """An error.

    Attributes
    ----------
    message : str
        What the server says, all of it where it says it in no known shape.
    code : str
        How it names the error: its code, type and status, whatever of them is a text.
    status : int or None
        The HTTP status that it names, if any.
    """

    message: str
    code: str
    status: int | None


def error_of(body: Any, fallback: str = "") -> ErrorBody:
    r"""Read the body of an error: an object or a list of them, with the error inside or as it is.

    >>> error_of([{"error": {"code": 400, "message": "Unknown name \"seed\"", "status": "INVALID_ARGUMENT"}}])
    ErrorBody(message='Unknown name "seed"', code='INVALID_ARGUMENT', status=400)
    """
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), (dict, list, str)) and body["error"]:
        return error_of(body["error"], fallback)
    if isinstance(body, str):
        return ErrorBody(body, "", None)
    if not isinstance(body, dict):
        return ErrorBody(fallback, "", None)
    message = body.get("message")
    if not isinstance(message, str):
        message = fallback or json.dumps(body, ensure_ascii=False)
    inner = body.get("innererror") or body.get("inner_error") or {}
    values = [*(body.get(name) for name in _NAMES), inner.get("code") if isinstance(inner, dict) else None]
    code = " ".join(str(value) for value in values if isinstance(value, str) and not value.isdigit())
    return ErrorBody(message, code, _status(body))


def _status(body: dict[str, Any]) -> int | None:
    for name in ("code", "status", "status_code"):
        value = body.get(name)
        if isinstance(value, (int, str)) and str(value).isdigit() and int(value) in _STATUSES:
            return int(value)
    return None
