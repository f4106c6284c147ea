"""Drawing samples so that every class keeps its share, or so that all classes have the same share."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from psopt.tasks._data import Sample

    Samples = tuple[Sample, ...]

_SEED = 42
"""The seed of the draws that reduce a published data set. They don't depend on a task's seed, so that results are on
the same test set and comparable; the task's seed draws val from train."""

T = TypeVar("T")


def subset(samples: Sequence[Sample], n: int, *, seed: int, by_label: bool = True) -> Samples:
    """Choose at most `n` samples, stratified by label and seeded, in their own order.

    Every label keeps its share, and at least one sample if `n` allows. If labels are not classes (`by_label` False),
    all samples are treated as one class.
    """
    if n >= len(samples):
        return tuple(samples)
    strata = _strata(samples, by_label=by_label)
    return _parted(samples, strata, shares(Counter(strata), n), _generator(seed, 3))[1]


def part_off(
    samples: Sequence[Sample], share: float, *, seed: int, stream: int, by_label: bool
) -> tuple[Samples, Samples]:
    """Divide samples into (the rest, a stratified `share`), each in its own order.

    Every class with two samples or more is on both sides, even if that makes the share larger. `stream` keeps
    the draws of one seed apart.
    """
    strata = _strata(samples, by_label=by_label)
    sizes = Counter(strata)
    n = max(round(share * len(samples)), len(sizes))
    wanted = {label: min(size, sizes[label] - 1) for label, size in shares(sizes, n).items()}
    return _parted(samples, strata, wanted, _generator(seed, stream))


def class_sizes(samples: Sequence[Sample]) -> Counter[str]:
    """Count samples by label; None counts as a class of its own."""
    return Counter(_strata(samples, by_label=True))


def _strata(samples: Sequence[Sample], *, by_label: bool) -> list[str]:
    if not by_label:
        return [""] * len(samples)
    return [str(sample.label) for sample in samples]


def shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Share `n` out in proportion to `sizes`, by largest remainder, with at least one each if `n` allows.

    >>> shares({"a": 64, "b": 35, "c": 1}, 10)
    {'a': 6, 'b': 3, 'c': 1}
    """
    total = sum(sizes.values())
    labels = sorted(sizes)
    exact = {label: n * sizes[label] / total for label in labels}
    least = int(n >= len(labels))
    counts = {label: max(least, int(exact[label])) for label in labels}
    by_remainder = sorted(labels, key=lambda label: (counts[label] - exact[label], label))
    for label in by_remainder[: max(0, n - sum(counts.values()))]:
        counts[label] += 1
    while sum(counts.values()) > n:  # what small classes get as their minimum is taken from the largest
        counts[max(labels, key=lambda label: (counts[label], label))] -= 1
    return counts


def draw_balanced(items: Iterable[tuple[str, T]], labels: Sequence[str], n: int, *, stream: int) -> list[T]:
    """Draw `n` items, equally many of every label (give or take one), in their own order.

    If a label has too few items, all are taken. `items` are (label, item), read once: each gets a random key, and the
    smallest keys of each label are kept, so that memory holds at most `n` items. `stream` keeps draws apart.

    >>> draw_balanced(((label, i) for i, label in enumerate("aaaaaaaaab")), "ab", 4, stream=1)
    [1, 2, 9]
    """
    wanted = shares(dict.fromkeys(labels, 1), n)
    heaps: dict[str, list[tuple[float, int, T]]] = {label: [] for label in labels}
    for number, (key, (label, item)) in enumerate(zip(_keys(stream), items, strict=False)):
        heap = heaps[label]  # its first entry has the largest key, stored as a negative number
        if len(heap) < wanted[label]:
            heapq.heappush(heap, (-key, number, item))
        elif heap and -key > heap[0][0]:
            heapq.heapreplace(heap, (-key, number, item))
    drawn = sorted(itertools.chain.from_iterable(heaps.values()), key=lambda entry: entry[1])
    return [item for _, _, item in drawn]


def _keys(stream: int) -> Iterator[float]:
    rng = _generator(_SEED, stream)
    while True:
        yield from rng.random(4096).tolist()


def _parted(
    samples: Sequence[Sample], strata: Sequence[str], wanted: Mapping[str, int], rng: np.random.Generator
) -> tuple[Samples, Samples]:
    """The samples that are not drawn, and those that are: the wanted number from each stratum."""
    members: dict[str, list[int]] = {label: [] for label in wanted}
    for index, stratum in enumerate(strata):
        members[stratum].append(index)
    drawn: set[int] = set()
    for label in sorted(wanted):
        drawn.update(rng.permutation(members[label])[: wanted[label]].tolist())
    left = tuple(sample for index, sample in enumerate(samples) if index not in drawn)
    return left, tuple(sample for index, sample in enumerate(samples) if index in drawn)


def _generator(seed: int, stream: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng([seed, stream])
