"""What labels look like that are more than names: numbers on a scale, several in one, answers in words."""

from __future__ import annotations

import os.path
import re
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
# By judgement too: A1 and A2 are two names, and two labels that are both frequent are no slip of the pen.
_SHORTEST_MISSPELT = 4
_TIMES_AS_FREQUENT = 10
_MOST_MISSPELT = 5
_SPACE = re.compile(r"\s+")
_PARTING = re.compile(r"(?<!\d)[\s_\-\u2010-\u2015.'\u2019]+|[\s_\-\u2010-\u2015.'\u2019]+(?!\d)")


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


def typo_hint(sizes: Mapping[str, int]) -> str:
    """Say which rare labels are one edit apart from a frequent one, from how often each is met; else nothing.

    Labels that differ in case, white space or signs between words alone are named however frequent they are; those that
    differ in a digit are two names.

    >>> typo_hint({"technical": 120, "tecnical": 1, "billing": 80})
    "label 'tecnical' (1) looks like 'technical' (120)"
    >>> typo_hint({"level 1": 120, "level 2": 1, "technical": 90, "clinical": 80})
    ''
    """
    by_frequency = sorted(sizes, key=lambda label: (-sizes[label], label))
    found = []
    for number, label in enumerate(by_frequency):
        alike = next((other for other in by_frequency[:number] if _is_misspelt(label, other, sizes)), None)
        if alike is not None:
            found.append(f"{label!r} ({sizes[label]:,}) looks like {alike!r} ({sizes[alike]:,})")
    others = f", and {len(found) - _MOST_MISSPELT:,} more are alike" if len(found) > _MOST_MISSPELT else ""
    return f"label {', '.join(found[:_MOST_MISSPELT])}{others}" if found else ""


def _is_misspelt(label: str, other: str, sizes: Mapping[str, int]) -> bool:
    if _bare(label) == _bare(other):
        return True
    one, two = ("".join(name.casefold().split()) for name in (label, other))
    if min(len(one), len(two)) < _SHORTEST_MISSPELT or sizes[other] < _TIMES_AS_FREQUENT * sizes[label]:
        return False
    return _is_one_edit(one, two)


def _bare(label: str) -> str:
    """A label without case, white space and the signs that part words, which tell numbers apart alone."""
    has_letters = any(map(str.isalpha, label))
    return (_PARTING if has_letters else _SPACE).sub("", label.casefold())


def _is_one_edit(one: str, two: str) -> bool:
    """Tell whether one sign is added, left out, changed or swapped with its neighbour; digits are never a slip."""
    if abs(len(one) - len(two)) > 1:
        return False
    start = len(os.path.commonprefix([one, two]))  # noqa: RUF071  # of signs, not of folders
    end = len(os.path.commonprefix([one[start:][::-1], two[start:][::-1]]))  # noqa: RUF071
    changed, instead = one[start : len(one) - end], two[start : len(two) - end]
    if any(sign.isdigit() for sign in changed + instead):
        return False
    is_swapped = len(changed) == 2 and changed[::-1] == instead
    return is_swapped or max(len(changed), len(instead)) == 1


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
