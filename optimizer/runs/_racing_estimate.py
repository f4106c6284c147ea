"""What racing is expected to save."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RacingEstimate:
    """What racing is expected to save of the answers on val."""

    calls_without: int  # what candidates would be asked if none raced
    calls: tuple[int, int, int]  # what they will be asked: the least, about, the most

    @classmethod
    def of(cls, grid_calls: int, n_candidates: int, times: tuple[float, float, float]) -> RacingEstimate:
        """Of so many candidates, whose grids come to so many whole ones."""
        least, middle, most = (round(grid_calls * n) for n in times)
        return cls(grid_calls * n_candidates, (least, middle, most))

    @property
    def saved(self) -> tuple[float, float, float]:
        """The share of the calls that is saved: the least, about, the most."""
        few, about, many = self.calls
        total = max(1, self.calls_without)
        return 1 - many / total, 1 - about / total, 1 - few / total

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)
