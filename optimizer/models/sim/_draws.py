"""Random numbers by hash: the same in every process, on every platform and in any order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]


def key(*parts: str | int) -> int:
    """Return 64 bits that stand for these parts."""
    joined = "\x00".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "little")


def keys(values: list[int]) -> Keys:
    """Return keys as an array."""
    return np.array(values, dtype=np.uint64)


def uniform(first: Keys, second: Keys) -> NDArray[np.float64]:
    """Return a uniform number in [0, 1) for every pair of keys, by NumPy's rules of broadcasting.

    Steele, Lea & Flood (2014), *Fast splittable pseudorandom number generators*: SplitMix64's finaliser, used twice.
    """
    bits = _mixed(_mixed(first) ^ second)
    return np.asarray((bits >> np.uint64(11)) * 2.0**-53)


def _mixed(bits: Keys) -> Keys:
    bits = bits + np.array(0x9E3779B97F4A7C15, dtype=np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.array(0xBF58476D1CE4E5B9, dtype=np.uint64)
    bits = (bits ^ (bits >> np.uint64(27))) * np.array(0x94D049BB133111EB, dtype=np.uint64)
    return bits ^ (bits >> np.uint64(31))
