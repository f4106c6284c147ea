"""Fields that stand within the instructions: no rephrasing may lose one, or bring another in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.rephrasings._set import shortened
from psopt.templates import template_marks

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.rephrasings._set import RephrasingSet


def check_fields(rephrasings: RephrasingSet, path: Path) -> None:
    """Refuse a file of rephrasings in which a field of the original is lost or another has come in.

    Raises InputError if there is one, naming the field.
    """
    expected = Counter(template_marks(rephrasings.original))
    for text in (*rephrasings.search, *rephrasings.heldout):
        present = Counter(template_marks(text))
        for fields, fault in ((expected - present, "lost"), (present - expected, "added")):
            if fields:
                field = next(iter(fields))
                raise InputError(f"{path}: the rephrasing {shortened(text)} has {fault} the field {field}")
