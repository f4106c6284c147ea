"""Several tests at one level: Holm's step-down procedure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float], alpha: float) -> list[tuple[bool, float]]:
    """Say of each of m tests whether it passes, and at which level it was judged.

    The least p-value is held against alpha / m, the next against alpha / (m - 1), and so on; after the first that does
    not pass none does. The chance that any passes whose null hypothesis is true is at most alpha, whatever the order of
    the tests, their number and how they hang together; one test has all of alpha.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.

    Examples
    --------
    >>> holm([0.04, 0.02], 0.05)
    [(True, 0.05), (True, 0.025)]
    >>> holm([0.04, 0.03], 0.05)
    [(False, 0.025), (False, 0.025)]
    """
    judged: dict[int, tuple[bool, float]] = {}
    all_passed = True
    level = alpha / max(1, len(p_values))
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if all_passed:
            level = alpha / (len(p_values) - rank)
            all_passed = p_values[index] <= level
        judged[index] = (all_passed, level)
    return [judged[index] for index in range(len(p_values))]
