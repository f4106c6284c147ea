"""The lines of a batch's files: requests in, results out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.models.chat._server_json import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator


class Result(NamedTuple):
    """What became of one line.

    Attributes
    ----------
    key : bytes
        The answer's key, which went with the request.
    status : int
        The HTTP status that the request would have had alone; 0 where it was not sent.
    body : Any
        The body of that response.
    """

    key: bytes
    status: int
    body: Any


def request_line(key: bytes, url: str, request: dict[str, Any]) -> bytes:
    r"""Write a request's line; its `custom_id` is the answer's key, by which anyone can tell what it answers.

    >>> request_line(b"\x01", "/v1/chat/completions", {"model": "m"})
    b'{"custom_id": "01", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}\n'
    """
    return json.dumps({"custom_id": key.hex(), "method": "POST", "url": url, "body": request}).encode() + b"\n"


def read_results(content: bytes) -> Iterator[Result]:
    r"""Read an output or an error file; a line that can't be read, or that has no key of ours, is passed over.

    >>> list(read_results(b'{"custom_id": "01", "response": null, "error": {"code": "batch_expired"}}\n{"custom'))
    [Result(key=b'\x01', status=0, body=None)]
    """
    for line in content.split(b"\n"):
        try:
            result = read_json(line)
            key = bytes.fromhex(result["custom_id"])
            response = result.get("response") or {}
            yield Result(key, int(response.get("status_code") or 0), response.get("body"))
        except (ValueError, LookupError, TypeError, AttributeError):  # its request is then one without an answer
            continue
