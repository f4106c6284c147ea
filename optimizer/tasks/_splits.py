"""Splits: stratified, seeded, disjoint, and without a text that occurs in two of them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from psopt.errors import DataError
from psopt.tasks._labels import words_hint
from psopt.tasks._strata import class_sizes, part_off

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from psopt.tasks._data import Sample
    from psopt.tasks._samples import Placed


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
        return [sample.label for split in self for sample in split if sample.label is not None]

    def relabelled(self, new: Callable[[str], str]) -> Splits:
        """The same samples with new labels; those without a label stay unchanged."""

        def of(sample: Sample) -> Sample:
            return sample if sample.label is None else replace(sample, label=new(sample.label))

        return Splits(*(tuple(map(of, split)) for split in self))


def make_splits(
    source: str,
    placed: Sequence[Placed],
    separate_test: Sequence[Placed] | None,
    *,
    seed: int,
    by_label: bool = True,
) -> Splits:
    """Split samples as the data say, and at random where they don't.

    ================================  =========================================================
    the data say                      then
    ================================  =========================================================
    nothing                           60 : 20 : 20
    which are test                    val is a fifth of the rest, at most 1,000
    which are val                     test is a fifth of the rest
    all three                         nothing is drawn
    no labels                         all are val: there is nothing to learn from or to score
    ================================  =========================================================

    A given test set stays unchanged, including duplicate texts, so that results are comparable with published
    ones. Elsewhere, equal texts (apart from case and white space) are kept once, and those with conflicting
    labels are dropped. Texts of test are removed from train and val, and texts of val from train.

    Pinned samples without a split go to test if test is drawn, because there prompts must keep them right.

    If labels are not classes (`by_label` False), samples are drawn regardless of their labels. A class with too few
    samples for all drawn splits stays in train (`rare_note` says so). If all classes are so rare, samples are also
    drawn regardless of their labels.

    Raises DataError if there is only one class, a class of val or test is missing from train, labels are answers rather
    than classes, or there are fewer samples than splits.
    """
    if all(sample.label is None for sample, _ in placed):
        if separate_test:
            raise DataError(
                f"{source}: has no labels, so a test file is of no use; leave it out, or add a label column"
            )
        return Splits((), tuple(sample for sample, _ in placed), ())
    marked = _as_marked(source, placed, separate_test)
    if by_label:
        _check_classes(source, marked)
    val = _without_duplicates(marked.val, but=marked.test)
    train = _without_duplicates(marked.train, but=(*marked.val, *marked.test))
    n_splits = 1 + (not val) + (not marked.test)
    if len(train) < n_splits:
        raise DataError(
            f"{source}: has {len(train)} different samples, where {n_splits} splits need one each; add some"
        )
    marked = Splits(train, val, marked.test)
    drawn = _drawn_by_label(source, marked, seed, n_splits) if by_label else _draw(marked, seed, by_label=False)
    return drawn if marked.test else _pinned_in_test(drawn, {sample.id for sample, split in placed if split is None})


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


def draws_test(placed: Sequence[Placed], separate_test: Sequence[Placed] | None) -> bool:
    """Whether test is drawn at random: the data mark none, and have labels."""
    marks_test = bool(separate_test) or any(split == "test" for _, split in placed)
    return not marks_test and any(sample.label is not None for sample, _ in placed)


def _as_marked(source: str, placed: Sequence[Placed], separate_test: Sequence[Placed] | None) -> Splits:
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
        where = "train samples" if marked.val or marked.test else "samples"
        raise DataError(f"{source}: all {where} have the label {min(labels, key=str)!r}; at least two are needed")
    for name in ("val", "test"):
        for sample in getattr(marked, name):
            if sample.label not in labels:
                raise DataError(
                    f"{source}: {name} sample {sample.id!r} has label {sample.label!r}, which no train "
                    f"sample has; add some to train, or remove it from {name}"
                )


def _drawn_by_label(source: str, marked: Splits, seed: int, n_splits: int) -> Splits:
    """Draw the splits that are still empty from classes with enough samples for each; the others stay in train."""
    sizes = class_sizes(marked.train)
    for label in sorted(class_sizes((*marked.val, *marked.test))):
        if not sizes[label]:
            raise DataError(
                f"{source}: class {label!r} has too few samples to split: 0 are left in train, whose texts stand "
                "in val or test too, or have several labels; add some, or remove the class"
            )
    if min(sizes.values(), default=0) >= n_splits:
        return _draw(marked, seed, by_label=True)
    if hint := words_hint(sizes):
        raise DataError(
            f"{source}: {hint}; name a column of classes with --label-column, or say what they are, such as "
            "--answers number or --answers text"
        )
    common = tuple(sample for sample in marked.train if sizes[str(sample.label)] >= n_splits)
    if not common:
        return _draw(marked, seed, by_label=False)
    drawn = _draw(marked._replace(train=common), seed, by_label=True)
    taken = {sample.id for sample in common} - {sample.id for sample in drawn.train}
    return drawn._replace(train=tuple(sample for sample in marked.train if sample.id not in taken))


def rare_note(splits: Splits) -> str:
    """Say which classes are too rare to be in val and test, and where they are missing; otherwise nothing.

    >>> from psopt.tasks import Sample
    >>> one, other = Sample("1", "a", "press"), Sample("2", "b", "sales")
    >>> rare_note(Splits((one,), (other,), (other,)))
    "too few samples to split: class 'press' (1) stays in train, and no score on val and test is of it"
    """
    in_train, in_val, in_test = map(class_sizes, splits)
    if not in_val and not in_test:
        return ""
    by_missing: dict[str, list[str]] = {}
    for label, size in sorted(in_train.items()):
        missing = " and ".join(name for name, there in (("val", in_val), ("test", in_test)) if label not in there)
        if missing and size < len(splits):
            by_missing.setdefault(missing, []).append(f"{label!r} ({size})")
    told = [_stay(classes, missing) for missing, classes in by_missing.items()]
    return f"too few samples to split: {'; '.join(told)}" if told else ""


def _stay(classes: Sequence[str], missing: str) -> str:
    named = ", ".join(classes[:_MOST_NAMED])
    others = f" and {len(classes) - _MOST_NAMED:,} more" if len(classes) > _MOST_NAMED else ""
    words = ("class", "stays", "it") if len(classes) == 1 else ("classes", "stay", "them")
    return f"{words[0]} {named}{others} {words[1]} in train, and no score on {missing} is of {words[2]}"


def _draw(marked: Splits, seed: int, *, by_label: bool) -> Splits:
    """Draw the splits that are still empty from train."""
    train, val, test = marked
    if not (val or test):
        train, test = part_off(train, 0.2, seed=seed, stream=1, by_label=by_label)
        train, val = part_off(train, 0.25, seed=seed, stream=2, by_label=by_label)  # a fifth of all
    elif not test:
        train, test = part_off(train, 0.2, seed=seed, stream=1, by_label=by_label)
    elif not val:
        train, val = part_off(train, min(0.2, MOST_VAL / len(train)), seed=seed, stream=2, by_label=by_label)
    return Splits(train, val, test)


def _without_duplicates(samples: Sequence[Sample], *, but: Sequence[Sample]) -> tuple[Sample, ...]:
    """Keep the first of equal texts; drop texts that have different labels, and those that are in `but`.

    A text with two labels has no right answer, so none of its samples can teach or choose anything.
    """
    labels: dict[str, set[str | None]] = defaultdict(set)
    for sample in samples:
        labels[normalised(sample.text)].add(sample.label)
    seen = {normalised(sample.text) for sample in but}
    unique_samples = []
    for sample in samples:
        text = normalised(sample.text)
        if text not in seen and len(labels[text]) == 1:
            seen.add(text)
            unique_samples.append(sample)
    return tuple(unique_samples)


def normalised(text: str) -> str:
    """The form in which duplicates are compared: Unicode's compatibility form, case folded, white space collapsed.

    >>> normalised("Ｗho   won ? ")
    'who won ?'
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
