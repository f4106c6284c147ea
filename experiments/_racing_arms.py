"""The searches that are compared: plain, racing, with everything that asks less, and without one part of it each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
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


def _all_edits_kept(search: Search) -> None:
    search._left.is_active = False


PARTS: dict[str, Callable[[Search], None]] = {
    part: take_away
    for part, (home, take_away) in {
        "growing diagnoses": ("psopt.search.growing", _whole_diagnoses),
        "an end where it has converged": ("psopt.search._convergence", _never_converging),
        "edits that leave": ("psopt.search._left_edits", _all_edits_kept),
    }.items()
    if find_spec(home)
}
"""What asks less besides racing, and how each is taken from a search that has not begun; they come on with races."""
ARMS = {
    PLAIN: Arm("off"),
    "plain, drawn anew": Arm("off", anew=True),
    "racing": Arm("on", tuple(PARTS)),
    "racing, strict": Arm("strict", tuple(PARTS)),
    **({"everything": Arm("on")} if PARTS else {}),
    **{f"everything but {part}": Arm("on", (part,)) for part in PARTS},
    "--effort light": Arm("on", effort="light"),
}
