"""Splits: stratified, seeded, disjoint, without a text that occurs in two of them; and how samples are drawn."""

from __future__ import annotations

import heapq
import itertools
import unicodedata
from collections import Counter, defaultdict
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

from psopt.errors import DataError, InputError
from psopt.tasks._labels import words_hint
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    import numpy as np
    from psopt.tasks._row import Sample
    from psopt.tasks._samples import Placed

    Samples = tuple[Sample, ...]

_SEED = 42
"""The seed of the draws that reduce a published data set. They don't depend on a task's seed, so that results are on
the same test set and comparable; the task's seed draws val from train."""


def subset(samples: Sequence[Sample], n: int, *, seed: int, by_label: bool = True) -> Samples:
    """Choose at most `n` samples, stratified by label and seeded, in their own order.

    Every label keeps its share, and at least one sample if `n` allows. If labels are not classes (`by_label` False),
    all samples are treated as one class.
    """
    if n >= len(samples):
        return tuple(samples)
    strata = _strata(samples, by_label=by_label)
    return _parted(samples, strata, shares(Counter(strata), max(0, n)), _generator(seed, 3))[1]


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


def draw_balanced(samples: Iterable[Sample], labels: Sequence[str], n: int, *, stream: int) -> list[Sample]:
    """Draw `n` samples, equally many of every label (give or take one) if there are enough, in their own order.

    They are read once: each gets a random key, and the smallest keys of each label are kept, so that memory holds at
    most `n` samples. `stream` keeps draws apart.
    """
    wanted = shares(dict.fromkeys(labels, 1), n)
    rng = _generator(_SEED, stream)
    heaps: dict[str, list[tuple[float, int, Sample]]] = {label: [] for label in labels}
    for number, sample in enumerate(samples):
        heap = heaps[str(sample.label)]  # its first entry has the largest key, stored as a negative number
        heapq.heappush(heap, (-rng.random(), number, sample))
        if len(heap) > wanted[str(sample.label)]:
            heapq.heappop(heap)
    drawn = sorted(itertools.chain.from_iterable(heaps.values()), key=lambda entry: entry[1])
    return [sample for _, _, sample in drawn]


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

    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}")
    return np.random.default_rng([int(seed), stream])


# Candidates are compared on val, so its size decides what a search costs; the number is chosen, not measured.
MOST_VAL = 1000
_MOST_NAMED = 10  # classes that a note names


class Splits(NamedTuple):
    """The three splits of a task."""

    train: tuple[Sample, ...]
    val: tuple[Sample, ...]
    test: tuple[Sample, ...]

    @property
    def labels(self) -> list[str]:
        """The label of each sample that has one."""
        return [sample.label for sample in itertools.chain(*self) if sample.label is not None]


def make_splits(
    source: str, placed: Sequence[Placed], separate_test: Sequence[Placed] = (), *, seed: int, by_label: bool = True
) -> Splits:
    """Split samples as the data say, and at random where they don't.

    - If they say nothing, 60 : 20 : 20.
    - If they say which are test, val is a fifth of the rest, at most 1,000; if they say which are val, test likewise.
    - If they have no labels, all are val: there is nothing to learn from or to score.

    A given test set stays unchanged, including duplicate texts, so that results are comparable with published ones.
    Elsewhere, equal texts (apart from case and white space) are kept once, and those with conflicting labels are
    dropped. Texts of test are removed from train and val, and texts of val from train. Pinned samples without a split
    go to test if test is drawn, because there prompts must keep them right.

    If labels are not classes (`by_label` False), or all classes are too rare, samples are drawn regardless of their
    labels. A class with too few samples for all drawn splits stays in train (`rare_note` says so).
    """
    if all(sample.label is None for sample, _ in placed):
        if separate_test:
            raise DataError(f"{source}: has no labels, so leave the test file out, or add a label column")
        return Splits((), tuple(sample for sample, _ in placed), ())
    marked = _as_marked(source, placed, separate_test)
    if by_label:
        _check_classes(source, marked)
    val = _without_duplicates(marked.val, but=marked.test)
    train = _without_duplicates(marked.train, but=(*marked.val, *marked.test))
    n_splits = 1 + (not val) + (not marked.test)
    if len(train) < n_splits:
        n_lost = len(marked.train) - len(train)
        fault = f"{source}: {n_splits} splits need a different sample each; it has {len(train)}"
        if not n_lost:
            raise DataError(f"{fault}: add some")
        fault += f", since {n_lost:,} of {len(marked.train):,} texts "
        if _contradict(marked.train):
            fault += "stand more than once, some with different labels: name more columns, which tell them apart"
            raise DataError(f"{fault} (--input, or fields of the prompt)")
        raise DataError(f"{fault}are copies of others, or stand in val or test too: add other texts")
    marked = Splits(train, val, marked.test)
    drawn = _drawn(source, marked, seed, n_splits, by_label=by_label)
    if marked.test:
        return drawn
    return _pinned_in_test(drawn, {sample.id for sample, split in placed if split is None})


def _pinned_in_test(splits: Splits, movable: Set[str]) -> Splits:
    """Move pinned samples to test, except the last sample of a class in train."""
    train, val, test = (list(split) for split in splits)
    left = class_sizes(splits.train)
    for split in (train, val):
        for sample in [sample for sample in split if sample.pinned and sample.id in movable]:
            if split is train and left[str(sample.label)] == 1:
                continue
            left[str(sample.label)] -= split is train
            split.remove(sample)
            test.append(sample)
    return Splits(tuple(train), tuple(val), tuple(test))


def pinned_note(splits: Splits) -> str:
    """Say how many pinned samples are not in test, the only split that the gate checks; empty if all are."""
    n_elsewhere = sum(sample.pinned for sample in (*splits.train, *splits.val))
    if not n_elsewhere or not splits.test:
        return ""
    which = "1 pinned sample is" if n_elsewhere == 1 else f"{n_elsewhere:,} pinned samples are"
    return f"{which} in train or val: psopt check looks at them, and the gate of a run at those in test alone"


def draws_test(placed: Sequence[Placed], separate_test: Sequence[Placed] = ()) -> bool:
    """Whether test is drawn at random: the data mark none, and have labels."""
    marks_test = bool(separate_test) or any(split == "test" for _, split in placed)
    return not marks_test and any(sample.label is not None for sample, _ in placed)


def _as_marked(source: str, placed: Sequence[Placed], separate_test: Sequence[Placed]) -> Splits:
    """Put each sample where the data say; samples without a split go to train."""
    marked: dict[str, list[Sample]] = {"train": [], "val": [], "test": []}
    for sample, split in placed:
        marked[split or "train"].append(sample)
    if not marked["train"]:
        raise DataError(f"{source}: the split column marks no sample as train; mark some, or leave the column out")
    if separate_test and marked["test"]:
        raise DataError(f"{source}: marks test samples (split column) beside a test file; use one or the other")
    if separate_test:  # ids of two files may be equal
        marked["test"] = [replace(sample, id=f"test-{sample.id}") for sample, _ in separate_test]
    return Splits(tuple(marked["train"]), tuple(marked["val"]), tuple(marked["test"]))


def _check_classes(source: str, marked: Splits) -> None:
    labels = {sample.label for sample in marked.train}
    if len(labels) < 2:
        raise DataError(f"{source}: all samples to learn from have the label {labels.pop()!r}; two or more are needed")
    for name in ("val", "test"):
        for sample in getattr(marked, name):
            if sample.label not in labels:
                fault = f"{name} sample {sample.id!r} has label {sample.label!r}, which no train sample has"
                raise DataError(f"{source}: {fault}; add some to train, or remove it from {name}")


def _drawn(source: str, marked: Splits, seed: int, n_splits: int, *, by_label: bool) -> Splits:
    """Draw the splits that are still empty, from classes with enough samples for each; the others stay in train."""
    if not by_label:
        return _draw(marked, seed, by_label=False)
    sizes = class_sizes(marked.train)
    for label in sorted(class_sizes((*marked.val, *marked.test))):
        if not sizes[label]:
            why = "0 are left in train, whose texts stand in val or test too, or have several labels"
            raise DataError(f"{source}: class {label!r} has too few samples to split: {why}; add some, or remove it")
    if min(sizes.values(), default=0) >= n_splits:
        return _draw(marked, seed, by_label=True)
    if hint := words_hint(sizes):
        fix = "name a column of classes with --label-column, or say what they are, such as --answers number or text"
        raise DataError(f"{source}: {hint}; {fix}")
    common = tuple(sample for sample in marked.train if sizes[str(sample.label)] >= n_splits)
    if not common:
        return _draw(marked, seed, by_label=False)
    drawn = _draw(marked._replace(train=common), seed, by_label=True)
    taken = {sample.id for sample in common} - {sample.id for sample in drawn.train}
    return drawn._replace(train=tuple(sample for sample in marked.train if sample.id not in taken))


def rare_note(splits: Splits) -> str:
    """Say which classes are too rare to be in val and test, and where they are missing; otherwise nothing."""
    in_train, in_val, in_test = map(class_sizes, splits)
    if not in_val and not in_test:
        return ""
    by_missing: dict[str, list[str]] = defaultdict(list)
    for label, size in sorted(in_train.items()):
        missing = " and ".join(name for name, there in (("val", in_val), ("test", in_test)) if label not in there)
        if missing and size < len(splits):
            by_missing[missing].append(f"{label!r} ({size})")
    told = [f"no score on {missing} is of {shortened_list(rare, _MOST_NAMED)}" for missing, rare in by_missing.items()]
    return f"classes with too few samples to split stay in train: {'; '.join(told)}" if told else ""


def _draw(marked: Splits, seed: int, *, by_label: bool) -> Splits:
    train, val, test = marked
    if not test:
        train, test = part_off(train, 0.2, seed=seed, stream=1, by_label=by_label)
    if not val:
        share = min(0.2, MOST_VAL / len(train)) if marked.test else 0.25  # without test, a fifth of all
        train, val = part_off(train, share, seed=seed, stream=2, by_label=by_label)
    return Splits(train, val, test)


def _without_duplicates(samples: Sequence[Sample], *, but: Sequence[Sample]) -> tuple[Sample, ...]:
    """Keep the first of equal texts, or a pinned one; drop those that have different labels, and those in `but`.

    A text with two labels has no right answer, so none of its samples can teach or choose anything.
    """
    labels: dict[str, set[str | None]] = defaultdict(set)
    for sample in samples:
        labels[normalised(sample.text)].add(sample.label)
    others = {normalised(sample.text) for sample in but}
    kept: dict[str, Sample] = {}
    for sample in samples:
        text = normalised(sample.text)
        if text in others or len(labels[text]) > 1:
            continue
        if text not in kept or (sample.pinned and not kept[text].pinned):
            kept[text] = sample
    return tuple(kept.values())


def _contradict(samples: Iterable[Sample]) -> bool:
    """Whether a text has several labels."""
    labelled = {(normalised(sample.text), sample.label) for sample in samples}
    return len(labelled) > len({text for text, _ in labelled})


def normalised(text: str) -> str:
    """The form in which duplicates are compared: Unicode's compatibility form, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
