"""What racing has saved, and how many of its stops were wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.search._front import Candidate
    from psopt.search.racing._stopped_candidate import StoppedCandidate

RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class RaceCounts:
    """The races of a search, as run.json says it."""

    candidates: int  # how many were evaluated, in whole or in part
    # Answers on val that candidates were put to, and those that they were spared
    calls: int
    saved: int
    stopped: int  # candidates that were evaluated in part
    rungs: dict[str, int]  # how many of them stopped where
    audited: int  # candidates that stopped and were asked about more, to see whether that was right
    wrong: int  # how many of those would stand on the front by all that was asked of them

    @classmethod
    def of(cls, whole: Sequence[Candidate], stopped: Sequence[StoppedCandidate], n_cells: int) -> RaceCounts:
        """Count them; `n_cells` is the size of a whole grid."""
        audits = Counter(candidate.audit for candidate in whole) + Counter(candidate.audit for candidate in stopped)
        in_part = sum(candidate.rung.samples * candidate.rung.wordings for candidate in stopped)
        rungs = Counter(candidate.rung for candidate in stopped)
        return cls(
            candidates=len(whole) + len(stopped),
            calls=len(whole) * n_cells + in_part,
            saved=len(stopped) * n_cells - in_part,
            stopped=len(stopped),
            rungs={str(rung): rungs[rung] for rung in sorted(rungs)},
            audited=audits[RIGHT] + audits[WRONG],
            wrong=audits[WRONG],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def racing_line(race: Mapping[str, Any]) -> str:
    """Say what racing did, of a run's `race`.

    >>> of_six = {"candidates": 6, "calls": 300, "saved": 300, "stopped": 4, "audited": 1, "wrong": 0}
    >>> racing_line(of_six)
    'racing: 4 of 6 candidates stopped, 75 % of their answers saved; of 1 audited stop 0 were wrong'
    """
    stopped = f"racing: {race['stopped']} of {race['candidates']} candidates stopped"
    if race["stopped"]:
        n_cells = (race["calls"] + race["saved"]) / race["candidates"]
        stopped += f", {100 * race['saved'] / (race['stopped'] * n_cells):.0f} % of their answers saved"
    stops = "stop" if race["audited"] == 1 else "stops"
    were = "was" if race["wrong"] == 1 else "were"
    audits = f"of {race['audited']} audited {stops} {race['wrong']} {were} wrong" if race["audited"] else ""
    return "; ".join(part for part in (stopped, audits) if part)
