"""How large a run is: samples, wordings, candidates, rounds; and the path along which all of them grow together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything a run takes.

    Attributes
    ----------
    train, val, test : int
        Samples: to diagnose on, to compare on, and for the final test.
    rephrasings, heldout : int
        Wordings: for train and val, and for test.
    trials : int
        Candidates in total, the seed prompt among them.
    rounds : int
        How many times to diagnose and propose.
    """

    train: int
    val: int
    test: int
    rephrasings: int
    heldout: int
    trials: int
    rounds: int


@dataclass(frozen=True, slots=True)
class AskedSizes:
    """The sizes that the user has set; None is for the planner to choose."""

    train: int | None = None
    val: int | None = None
    test: int | None = None
    rephrasings: int | None = None
    heldout: int | None = None
    trials: int | None = None
    rounds: int | None = None

    def set_in(self, sizes: Sizes) -> Sizes:
        """Return the sizes with those of the user's in their place."""
        chosen = {size.name: getattr(self, size.name) for size in fields(self)}
        return Sizes(
            **{name: getattr(sizes, name) if value is None else value for name, value in chosen.items()},
        )


FLOOR = Sizes(train=40, val=50, test=50, rephrasings=2, heldout=2, trials=4, rounds=1)
"""The least that makes sense: the baseline and three candidates, compared under two wordings, for one has no S."""
FULL = Sizes(train=500, val=500, test=10**9, rephrasings=10, heldout=10, trials=40, rounds=3)
"""What is used where nothing is planned; test is used whole."""
# Chosen: samples grow before wordings, since of as many answers two wordings of many samples have a fifth of the
# variance of all wordings of few; val before train, where a part is enough to see what shakes.
_STATIONS = (
    FLOOR,
    Sizes(train=80, val=200, test=150, rephrasings=3, heldout=3, trials=12, rounds=2),
    Sizes(train=160, val=300, test=300, rephrasings=4, heldout=4, trials=20, rounds=3),
    Sizes(train=300, val=500, test=500, rephrasings=6, heldout=6, trials=36, rounds=3),
    FULL,
)
_STEPS = 40  # between two stations; so fine that a step is about a trial
N_STEPS = _STEPS * (len(_STATIONS) - 1)
"""How many steps there are from `FLOOR` to `FULL`."""


def sizes_at(step: int, available: Mapping[str, int]) -> Sizes:
    """The sizes after so many of the `N_STEPS` steps from the floor to full size; none falls from step to step.

    Between stations each grows by a constant factor, and is rounded down.

    Parameters
    ----------
    step : int
    available : mapping of split to number of samples
        What the task has.
    """
    station, part = divmod(step, _STEPS)
    low = _STATIONS[station]
    high = _STATIONS[min(station + 1, len(_STATIONS) - 1)]
    share = part / _STEPS

    def between(name: str) -> int:
        most = available.get(name, 10**9)
        least, last = min(getattr(low, name), most), min(getattr(high, name), most)
        return int(least * (last / least) ** share + 1e-9) if least else 0

    return Sizes(**{size.name: between(size.name) for size in fields(Sizes)})
