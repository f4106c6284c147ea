"""Labels of a task: what is allowed, what order they have, and what suspicious ones look like."""

from __future__ import annotations

import difflib
import itertools
import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, nearest
from psopt.tasks._cells import is_empty
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from psopt.tasks._row import Sample

_SEPARATORS = (";", "|", ",")
_FEWEST_ON_A_SCALE = 3  # two numbers, such as 0 and 1, are often names
# Chosen by judgement: most classes occur more than twice, so a column of mostly rare values holds answers.
_RARE = 2
_SHARE_OF_RARE = 0.5
_FEWEST_DIFFERENT = 10
# By judgement too: short labels such as A1 and A2 are two names, and a frequent label is no slip of the pen.
_SHORTEST_MISSPELT = 4
_TIMES_AS_FREQUENT = 10
_MOST_MISSPELT = 5  # in one line
_MOST_COMPARED = 300  # labels, each of which may be compared with all: so it takes less than a second
_NA = "N/A"  # `psopt.evaluation.NA`: what psopt calls an answer that names no class
_PARTING = re.compile(r"(?<!\d)[\s_\-\u2010-\u2015.'\u2019]+|[\s_\-\u2010-\u2015.'\u2019]+(?!\d)")


def check_classes(
    where: str, labels: Sequence[str], definitions: Iterable[str], subclasses: Mapping[str, object]
) -> None:
    """Check the labels, and that definitions and subclasses are for labels; `where` begins the messages."""
    if len(labels) < 2:
        only = f"only {labels[0]!r}" if labels else "none"
        raise DataError(f"{where}: a classification needs at least two labels, and this has {only}")
    for label, n in Counter(labels).items():
        if is_empty(label):
            raise DataError(f"{where}: a label is empty; give it a name")
        if len(label.splitlines()) > 1:
            raise DataError(f"{where}: label {label!r} holds a line break; write it on one line")
        if any(sign != "\t" and unicodedata.category(sign) == "Cc" for sign in label):
            raise DataError(f"{where}: label {label!r} holds a control character, which terminals follow; remove it")
        if label == _NA:
            fix = "rename it, such as to 'none'"
            raise DataError(f"{where}: label {label!r} is what psopt calls an answer that names no label; {fix}")
        if n > 1:
            raise DataError(f"{where}: label {label!r} stands twice; remove one")
    check_among(where, definitions, labels, role="definitions: label")
    check_among(where, subclasses, labels, role="subclasses: label")


def check_among(
    where: str, names: Iterable[Any], labels: Sequence[str], *, role: str = "label", fault: str = "none of the labels"
) -> None:
    """Raise DataError if a name is none of the labels; messages call it by its role, and name the fault."""
    allowed = set(labels)
    for name in names:
        if name not in allowed:
            hint = nearest(str(name), labels) or f": {', '.join(labels)}"
            raise DataError(f"{where}: {role} {name!r} is {fault}{hint}")


def check_positions(where: str, labels: Sequence[str], positions: Sequence[float]) -> None:
    """Raise DataError unless ordered labels have one position each, in rising order."""
    if not positions:
        return
    are_rising = all(low < high for low, high in itertools.pairwise(positions))
    if len(positions) != len(labels) or not are_rising:
        raise DataError(f"{where}: ordered labels need a position each, rising: {list(positions)} for {list(labels)}")


def check_samples(where: str, samples: Sequence[Sample], classes: Sequence[str]) -> None:
    """Raise DataError if two samples have the same id or, where there are classes, a label is none of them."""
    allowed = {None, *classes}
    ids = set()
    for sample in samples:
        if classes and sample.label not in allowed:
            check_among(f"{where}, sample {sample.id}", [sample.label], classes)
        if sample.id in ids:
            raise DataError(f"{where}: id {sample.id!r} stands twice; ids must differ, from split to split too")
        ids.add(sample.id)


def in_order(where: str, labels: Sequence[str], order: Sequence[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the labels from the least to the most, and their places on the scale; raises DataError if it is not clear.

    Labels that are numbers need no order: their values are their places. For others, places are the ranks in the order,
    which may contain labels that the data don't.

    >>> in_order("reviews.csv", ["1", "10", "2"], [])
    (('1', '2', '10'), (1.0, 2.0, 10.0))
    >>> in_order("tickets.csv", ["high", "low"], ["low", "medium", "high"])
    (('low', 'medium', 'high'), (0.0, 1.0, 2.0))
    """
    if order:
        check_among(where, labels, order, fault="not in the order of labels")
        if len(set(order)) < len(order):
            raise DataError(f"{where}: the order of labels names one twice: {', '.join(order)}")
        return tuple(order), tuple(map(float, range(len(order))))
    places: dict[str, float] = {}
    for label in labels:
        value = number_of(label)
        if value is None:
            raise DataError(f"{where}: label {label!r} is no number, so say the order: --order low,medium,high")
        places[label] = value
    if len(set(places.values())) < len(places):
        raise DataError(f"{where}: two labels are the same number; write it one way: {', '.join(labels)}")
    ordered = sorted(places, key=lambda label: places[label])
    return tuple(ordered), tuple(places[label] for label in ordered)


def number_of(label: str) -> float | None:
    """Return the finite number that a label is; None if it is none."""
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def scale_hint(labels: Sequence[str]) -> str:
    """Say that labels look ordered if all are numbers; otherwise return an empty text."""
    if len(labels) < _FEWEST_ON_A_SCALE or any(number_of(label) is None for label in labels):
        return ""
    return "the labels are numbers: if near ones are nearly right, say so with --answers ordinal"


def several_hint(labels: Sequence[str]) -> str:
    """Say that labels look like several in one if their parts occur in other labels; otherwise return an empty text."""
    for separator in _SEPARATORS:
        parts = {label: set(map(str.strip, label.split(separator))) for label in labels}
        n_labels = Counter(itertools.chain.from_iterable(parts.values()))
        for label, own in parts.items():
            if len(own) > 1 and all(n_labels[part] > 1 for part in own):
                return f"label {label!r} looks like several in one: if it is, say --answers 'labels:{separator}'"
    return ""


def typo_hint(sizes: Mapping[str, int]) -> str:
    """Say which rare labels are one edit away from a frequent one, by how often each occurs; otherwise nothing.

    Labels that differ only in case, white space or signs between words are named however frequent they are.

    >>> typo_hint({"technical": 120, "tecnical": 1, "billing": 80})
    "label 'tecnical' (1) looks like 'technical' (120)"
    >>> typo_hint({"level 1": 120, "level 2": 1, "technical": 90, "clinical": 80})
    ''
    """
    by_frequency = sorted(sizes, key=lambda label: (-sizes[label], label))
    of_form: dict[str, str] = {}
    pairs = []
    for label in by_frequency:
        alike = of_form.setdefault(_bare(label), label)
        if alike == label and len(sizes) <= _MOST_COMPARED:
            frequent = (rival for rival in by_frequency if sizes[rival] >= _TIMES_AS_FREQUENT * sizes[label])
            alike = next((rival for rival in frequent if _is_one_edit(label, rival)), label)
        if alike != label:
            pairs.append(f"{label!r} ({sizes[label]:,}) looks like {alike!r} ({sizes[alike]:,})")
    return f"label {shortened_list(pairs, _MOST_MISSPELT)}" if pairs else ""


def _bare(label: str) -> str:
    """A label without case, white space and the signs that separate words; signs between digits stay."""
    folded = label.casefold()
    return _PARTING.sub("", folded) if any(map(str.isalpha, label)) else "".join(folded.split())


def _is_one_edit(label: str, rival: str) -> bool:
    """Tell whether one character is added, missing, changed or swapped with its neighbour; digits are never a slip."""
    spelling, right = ("".join(name.casefold().split()) for name in (label, rival))
    if abs(len(spelling) - len(right)) > 1 or re.sub(r"\D", "", spelling) != re.sub(r"\D", "", right):
        return False
    alike = difflib.SequenceMatcher(None, spelling, right, autojunk=False).ratio()
    return min(len(spelling), len(right)) >= _SHORTEST_MISSPELT and alike >= 1 - 1 / max(len(spelling), len(right))


def are_mostly_rare(sizes: Collection[int]) -> bool:
    """Tell, from how often each value occurs, whether more than half occur once or twice: those are not classes.

    >>> are_mostly_rare([1, 1, 2, 9]), are_mostly_rare([1, 7, 9])
    (True, False)
    """
    n_rare = sum(size <= _RARE for size in sizes)
    return n_rare > _SHARE_OF_RARE * len(sizes)


def words_hint(sizes: Mapping[str, int]) -> str:
    """Say that a column holds answers rather than classes if most values occur once or twice; otherwise nothing."""
    if len(sizes) < _FEWEST_DIFFERENT or not are_mostly_rare(sizes.values()):
        return ""
    return f"its {len(sizes):,} labels are mostly met once or twice"
