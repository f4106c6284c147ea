"""The searches that are compared: plain, racing, with everything that asks less, and without one part of it each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.runs.planning import Effort
    from psopt.search import RaceMode, Search

PLAIN = "plain"


@dataclass(frozen=True)
class Arm:
    """A way to search.

    Attributes
    ----------
    race : str
    without : tuple of str
        Parts that are taken away; see `PARTS`.
    anew : bool
        Whether the search is seeded otherwise than the others.
    effort : str or None
        An effort whose sizes are planned; None searches at full size.
    """

    race: RaceMode
    without: tuple[str, ...] = ()
    anew: bool = False
    effort: Effort | None = None


def _whole_diagnoses(search: Search) -> None:
    search.diagnoses.grows = False


def _never_converging(search: Search) -> None:
    search._convergence.is_active = False


PARTS: dict[str, Callable[[Search], None]] = {
    "growing diagnoses": _whole_diagnoses,
    "an end where it has converged": _never_converging,
}
"""What asks less besides racing, and how each is taken from a search that has not begun; they come on with races."""
ARMS = {
    PLAIN: Arm("off"),
    "plain, drawn anew": Arm("off", anew=True),
    "racing": Arm("on", tuple(PARTS)),
    "racing, strict": Arm("strict", tuple(PARTS)),
    "everything": Arm("on"),
    **{f"everything but {part}": Arm("on", (part,)) for part in PARTS},
    "--effort light": Arm("on", effort="light"),
}
