"""Answers that are no label, by number: an array of them is as small as one of labels, wherever it was made."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FIRST_CODE = 1 << 40
"""Below are labels, N/A, and -1 where nobody has asked."""
_BITS = 60
_texts: dict[int, str] = {}


def code_of(text: str) -> int:
    """Return the number of an answer: equal ones have equal numbers, in any process and on any machine.

    The number is drawn from the text (60 bits of BLAKE2): among a million different answers two have the same in one
    case of two million. This process remembers which text it was.
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    code = FIRST_CODE + int.from_bytes(digest) % (1 << _BITS)
    _texts[code] = text
    return code


def text_of(code: int) -> str:
    """Return the answer of a number that `code_of` gave, here or in the process whose answers were taken over."""
    return _texts[code]


def packed(codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[str]]:
    """Return a grid of open answers as it can be kept: places among the texts, N/A after the last, -1 not asked."""
    distinct = np.unique(codes[codes >= FIRST_CODE])
    places = np.searchsorted(distinct, codes)
    places = np.where(codes >= FIRST_CODE, places, np.where(codes < 0, -1, len(distinct)))
    return places.astype(np.int32), [text_of(code) for code in distinct.tolist()]


def unpacked(places: NDArray[np.integer], texts: Sequence[str], n_labels: int) -> NDArray[np.int64]:
    """Return the numbers of answers that `packed` has written, for a task of so many labels."""
    codes = np.array([*map(code_of, texts), n_labels, -1], dtype=np.int64)  # the last is where -1 points to
    return np.asarray(codes[places])


def texts_to_bytes(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts as an array of bytes: an array of strings takes the longest one's room for each."""
    return np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8)


def texts_from_bytes(content: NDArray[np.uint8]) -> list[str]:
    """Return the texts that `texts_to_bytes` wrote."""
    texts: list[str] = json.loads(content.tobytes().decode())
    return texts
