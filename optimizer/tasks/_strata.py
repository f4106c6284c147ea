"""Drawing samples so that every class keeps its share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from psopt.tasks._data import Sample

    Samples = tuple[Sample, ...]


def subset(samples: Sequence[Sample], n: int, *, seed: int, by_label: bool = True) -> Samples:
    """Choose at most `n` samples, stratified by label and seeded, in their own order.

    Every label keeps its share, and at least one sample where `n` allows. Where labels are no classes (`by_label`
    False), all samples are of one kind.
    """
    if n >= len(samples):
        return tuple(samples)
    strata = _strata(samples, by_label=by_label)
    chosen = _choose(strata, shares(Counter(strata), n), _generator(seed, 3))
    return tuple(sample for index, sample in enumerate(samples) if index in chosen)


def part_off(
    samples: Sequence[Sample], share: float, *, seed: int, stream: int, by_label: bool = True
) -> tuple[Samples, Samples]:
    """Divide samples into (the rest, a stratified `share`), each in its own order.

    Every class of two samples or more is on both sides, even where that makes the share larger. `stream` sets
    apart the draws of one seed.
    """
    strata = _strata(samples, by_label=by_label)
    sizes = Counter(strata)
    n = max(round(share * len(samples)), len(sizes))
    wanted = {label: min(size, sizes[label] - 1) for label, size in shares(sizes, n).items()}
    chosen = _choose(strata, wanted, _generator(seed, stream))
    rest = tuple(sample for index, sample in enumerate(samples) if index not in chosen)
    return rest, tuple(sample for index, sample in enumerate(samples) if index in chosen)


def class_sizes(samples: Sequence[Sample]) -> Counter[str]:
    """Count samples by label; None counts as a class of its own."""
    return Counter(_strata(samples, by_label=True))


def _strata(samples: Sequence[Sample], *, by_label: bool) -> list[str]:
    return [str(sample.label) if by_label else "" for sample in samples]


def shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Share `n` out in proportion to `sizes`, by largest remainder, with at least one each where `n` allows.

    >>> shares({"a": 64, "b": 35, "c": 1}, 10)
    {'a': 6, 'b': 3, 'c': 1}
    """
    total = sum(sizes.values())
    labels = sorted(sizes)
    exact = {label: n * sizes[label] / total for label in labels}
    least = 1 if n >= len(labels) else 0
    counts = {label: max(least, int(exact[label])) for label in labels}
    by_remainder = sorted(labels, key=lambda label: (counts[label] - exact[label], label))
    for label in by_remainder[: max(0, n - sum(counts.values()))]:
        counts[label] += 1
    while sum(counts.values()) > n:  # the least for small classes comes from the largest
        counts[max(labels, key=lambda label: (counts[label], label))] -= 1
    return counts


def _choose(strata: Sequence[str], wanted: Mapping[str, int], rng: np.random.Generator) -> set[int]:
    chosen: set[int] = set()
    for label in sorted(wanted):
        members = [index for index, stratum in enumerate(strata) if stratum == label]
        chosen.update(int(index) for index in rng.permutation(members)[: wanted[label]])
    return chosen


def _generator(seed: int, stream: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng([seed, stream])
