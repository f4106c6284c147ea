"""The topics that edits are drawn for where answers are no single labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.diagnosis import FailureSlice


def topics_of(slices: Iterable[FailureSlice]) -> list[FailureSlice]:
    """One slice of each topic, of the view that sees it most severe; the most severe first."""
    unique: dict[str, FailureSlice] = {}
    for failing in sorted(slices, key=lambda failing: -failing.severity):
        unique.setdefault(failing.topic, failing)
    return list(unique.values())
