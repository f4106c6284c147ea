"""Fields that stand within the instructions: no rephrasing may lose one, or bring another in."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.rephrasings._set import shortened

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.rephrasings._set import RephrasingSet

_FIELD = re.compile(r"\{\{\s*[\w.-]+\s*\}\}|\{\s*[\w.-]+\s*\}")


def fields_in(text: str) -> list[str]:
    """What reads as a field in a text, as it is spelled.

    >>> fields_in('Sort {body} by {{ team }}: {"a": 1}')
    ['{body}', '{{ team }}']
    """
    return _FIELD.findall(text)


def check_fields(rephrasings: RephrasingSet, path: Path) -> None:
    """Refuse a file of rephrasings in which a field of the original is lost or another has come in.

    Raises
    ------
    InputError
        If there is one, naming the field.
    """
    expected = Counter(map(_name, fields_in(rephrasings.original)))
    for text in (*rephrasings.search, *rephrasings.heldout):
        present = Counter(map(_name, fields_in(text)))
        for fields, fault in ((expected - present, "lost"), (present - expected, "added")):
            if fields:
                field = next(iter(fields))
                raise InputError(f"{path}: the rephrasing {shortened(text)} has {fault} the field {{{field}}}")


def _name(field: str) -> str:
    return field.strip("{} ")
