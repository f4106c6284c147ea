"""JSON as servers send it: nested without end, or with halves of surrogate pairs, which no file takes."""

from __future__ import annotations

import json
from typing import Any


def read_json(content: bytes) -> Any:
    r"""Return the value; half a surrogate pair becomes a question mark.

    >>> read_json(b'"a\\ud800"')
    'a?'

    Raises
    ------
    ValueError
        If it is no JSON, or nested too deep to be read.
    """
    try:
        value = json.loads(content)
        if b"\\u" not in content and b"\xed" not in content:  # neither escaped nor as bytes: most contents
            return value
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deep") from None
