"""JSON as servers send it: nested without end, or with halves of surrogate pairs, which no file takes."""

from __future__ import annotations

import json
from typing import Any


def read_json(content: bytes | str) -> Any:
    r"""Return the value; half a surrogate pair becomes a question mark.

    >>> read_json('"a\\ud800"')
    'a?'

    Raises
    ------
    ValueError
        If it is no JSON, or nested too deep to be read.
    """
    try:
        value = json.loads(content)
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise ValueError("nested too deep") from None
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return value
