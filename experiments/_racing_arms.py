"""The searches that are compared: plain, racing, racing with growing diagnoses, and as planned for an effort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.settings import Effort, RaceMode

PLAIN = "plain"


@dataclass(frozen=True)
class Arm:
    """A way to search.

    Attributes
    ----------
    race : str
    has_whole_diagnoses : bool
        Whether diagnoses ask about all of train; otherwise they grow where candidates race.
    anew : bool
        Whether the search has another seed than the others.
    effort : str or None
        An effort whose sizes are planned; None searches at full size.
    """

    race: RaceMode
    has_whole_diagnoses: bool = False
    anew: bool = False
    effort: Effort | None = None


ARMS = {
    PLAIN: Arm("off"),
    "plain, drawn anew": Arm("off", anew=True),
    "racing": Arm("on", has_whole_diagnoses=True),
    "everything": Arm("on"),
    "--effort light": Arm("on", effort="light"),
}
