"""Drawing as many samples of every class, from files that may be long."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeVar

from psopt.tasks._strata import shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SEED = 42
"""Of the draws that make a published data set small: they stay the same whatever a task's seed, so that results on
one test set compare; the task's seed draws val from train."""

T = TypeVar("T")


def draw_balanced(items: Iterable[tuple[str, T]], labels: Sequence[str], n: int, *, stream: int) -> list[T]:
    """Draw `n` items, as many of every label (give or take one), in their own order.

    Of a label with too few items all are taken. `items` are (label, item), read once: every one is given a random key,
    and the smallest keys of each label are kept, so that memory holds `n` items and no more. `stream` sets apart draws.

    >>> draw_balanced(((label, i) for i, label in enumerate("aaaaaaaaab")), "ab", 4, stream=1)
    [1, 2, 9]
    """
    wanted = shares(dict.fromkeys(labels, 1), n)
    kept: dict[str, list[tuple[float, int, T]]] = {label: [] for label in labels}
    for number, (key, (label, item)) in enumerate(zip(_keys(stream), items, strict=False)):
        heap = kept[label]  # its first is the largest key, kept negative
        if len(heap) < wanted[label]:
            heapq.heappush(heap, (-key, number, item))
        elif heap and -key > heap[0][0]:
            heapq.heapreplace(heap, (-key, number, item))
    by_number = {number: item for heap in kept.values() for _, number, item in heap}
    return [by_number[number] for number in sorted(by_number)]


def _keys(stream: int) -> Iterator[float]:
    import numpy as np

    rng = np.random.default_rng([SEED, stream])
    while True:
        yield from rng.random(4096).tolist()
