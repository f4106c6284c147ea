"""What labels look like that are more than names: numbers on a scale, several in one, answers in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from psopt.tasks._ordered import number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_SEPARATORS = (";", "|", ",")
_FEWEST_ON_A_SCALE = 3  # two numbers, such as 0 and 1, are often names
# Chosen by judgement, both.
_RARE = 2
_SHARE_OF_RARE = 0.5
_FEWEST_DIFFERENT = 10


def scale_hint(labels: Sequence[str]) -> str:
    """Say that labels look ordered, where all are numbers; else nothing.

    >>> scale_hint(["1", "2", "3"])
    'the labels are numbers: if near ones are nearly right, say so with --answers ordinal'
    """
    if len(labels) < _FEWEST_ON_A_SCALE or any(number_of(label) is None for label in labels):
        return ""
    return "the labels are numbers: if near ones are nearly right, say so with --answers ordinal"


def several_hint(labels: Sequence[str]) -> str:
    """Say that labels look like several in one, where their parts are met in others too; else nothing.

    >>> several_hint(["billing", "billing, sales", "sales"])
    "label 'billing, sales' looks like several in one: if it is, say --answers 'labels:,'"
    >>> several_hint(["Paris, France", "Rome, Italy"])
    ''
    """
    for separator in _SEPARATORS:
        parts = {label: {part.strip() for part in label.split(separator)} for label in labels}
        n_labels = Counter(part for own in parts.values() for part in own)
        for label, own in parts.items():
            if len(own) > 1 and all(n_labels[part] > 1 for part in own):
                return f"label {label!r} looks like several in one: if it is, say --answers 'labels:{separator}'"
    return ""


def are_mostly_rare(sizes: Collection[int]) -> bool:
    """Tell from how often each value is met whether more than half are met once or twice: such are no classes.

    >>> are_mostly_rare([1, 1, 2, 9]), are_mostly_rare([1, 7, 9])
    (True, False)
    """
    n_rare = sum(size <= _RARE for size in sizes)
    return n_rare > _SHARE_OF_RARE * len(sizes)


def words_hint(sizes: Mapping[str, int]) -> str:
    """Say that a column holds answers rather than classes, where most values stand in one or two rows; else nothing.

    >>> words_hint({f"{number} EUR": 1 for number in range(40)})
    'its 40 labels are mostly met once or twice'
    """
    if len(sizes) < _FEWEST_DIFFERENT or not are_mostly_rare(sizes.values()):
        return ""
    return f"its {len(sizes):,} labels are mostly met once or twice"
