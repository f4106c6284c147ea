"""Labels that are equal to the eye: `1` and `1.0`, an accent written in two ways, signs that nobody sees."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._answer_spec import LABELS, ORDINAL
from psopt.tasks._references import set_written, written_set
from psopt.text import shown_signs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks._answer_spec import AnswerSpec
    from psopt.tasks._data import Sample
    from psopt.tasks._splits import Splits

_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_MOST_NAMED = 5


def merge_alike(splits: Splits, given: Sequence[str], spec: AnswerSpec) -> tuple[Splits, str]:
    """Give labels that are equal to the eye one spelling: that of the task file, else the most frequent; and say so.

    Raises
    ------
    DataError
        If two labels of the task file look the same.
    """
    sizes = Counter(
        name for split in splits for sample in split if sample.label is not None for name in _names(sample, spec)
    )
    seen = shown_signs if spec.kind == ORDINAL else _as_number  # two places on a scale that are one number are a fault
    by_form: dict[str, list[str]] = {}
    for name in sorted(sizes, key=lambda name: (name not in given, -sizes[name], name)):
        by_form.setdefault(seen(name), []).append(name)
    of_given: dict[str, str] = {}
    for name in given:
        if of_given.setdefault(seen(name), name) != name:
            raise DataError(f"labels {of_given[seen(name)]!a} and {name!a} look the same; rename one")
    spelling = {}
    for form, names in by_form.items():
        kept = of_given.get(form, names[0])
        spelling.update({name: kept for name in names if name != kept and name not in given})
    if not spelling:
        return splits, ""
    merged = type(splits)(*(tuple(_spelt(sample, spelling, spec) for sample in split) for split in splits))
    said = [f"{name!a} ({sizes[name]:,}) is taken for {kept!a}" for name, kept in spelling.items()]
    more = f", and {len(said) - _MOST_NAMED:,} more are merged" if len(said) > _MOST_NAMED else ""
    return merged, f"label {', '.join(said[:_MOST_NAMED])}, which looks the same{more}"


def _as_number(label: str) -> str:
    """What is seen of a label, a whole number as such."""
    shown = shown_signs(label)
    whole = _WHOLE.fullmatch(shown)
    return whole[1] if whole else shown


def _names(sample: Sample, spec: AnswerSpec) -> Sequence[str]:
    return tuple(set_written(str(sample.label))) if spec.kind == LABELS else (str(sample.label),)


def _spelt(sample: Sample, spelling: Mapping[str, str], spec: AnswerSpec) -> Sample:
    if sample.label is None or not any(name in spelling for name in _names(sample, spec)):
        return sample
    names = list(dict.fromkeys(spelling.get(name, name) for name in _names(sample, spec)))
    return replace(sample, label=written_set(names, names) if spec.kind == LABELS else names[0])
