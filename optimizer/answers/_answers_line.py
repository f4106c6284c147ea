"""One line on what was answered, wherever the answers to a sample are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.answers._no_label import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


def answers_line(answers: Mapping[str, int]) -> str:
    """Say how often what was answered, the same answers together.

    >>> answers_line({"12": 7, "N/A": 2})
    '12 (7), N/A (2)'
    """
    return ", ".join(f"{shown(answer)} ({n})" for answer, n in answers.items())
