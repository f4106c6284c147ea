"""From limits to sizes: as large a run as they pay for, its end included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from psopt.runs._search_estimate import estimate_from
from psopt.runs.planning._effort import EFFORT_CALLS, Limits
from psopt.runs.planning._plan import sized
from psopt.runs.planning._sizes import FLOOR_TRIALS, full_sizes, path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psopt.runs._cost_estimate import CostEstimate
    from psopt.runs._search_basis import SearchBasis
    from psopt.runs._settings import RunSettings
    from psopt.runs.planning._sizes import AskedSizes, Sizes
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


@dataclass(frozen=True, eq=False)
class Planner:
    """Chooses sizes for a run."""

    task: Task
    # What is asked beside the sizes: who writes rephrasings and edits, what is left out at the end
    settings: RunSettings
    baseline: Prompt
    basis: SearchBasis  # what the original prompt takes; of any size
    asked: AskedSizes  # the user's, which are kept
    available: Mapping[str, int]  # the most that there are: samples of a split, wordings of a file
    limits: Limits

    def estimate(self, sizes: Sizes) -> CostEstimate:
        """Count what a run of these sizes is expected to take, with nothing in the cache."""
        settings = sized(self.settings, sizes)
        return estimate_from(self.basis.sized(sizes), self.task, settings, self.baseline)

    @cached_property
    def path(self) -> tuple[Sizes, ...]:
        """All sizes that may be chosen, the least first."""
        return path(self.asked, self.available)

    @property
    def full(self) -> Sizes:
        """The sizes where nothing is planned."""
        return full_sizes(self.asked, self.available)

    @property
    def least(self) -> Sizes:
        """The smallest that make sense, with the user's but for the trials: three candidates beside the baseline."""
        return replace(self.path[0], trials=min(FLOOR_TRIALS, self.path[0].trials))

    def choices(self) -> Iterator[Sizes]:
        """Sizes that the limits pay for, the largest first; at last the smallest, whether they do or not."""
        for sizes in dict.fromkeys(reversed(self.path)):
            if self.limits.pay(self.estimate(sizes), with_room=True):
                yield sizes
        yield self.path[0]

    def warnings(self, sizes: Sizes) -> tuple[str, ...]:
        """What is to be said of sizes that the limits don't pay for."""
        estimate = self.estimate(sizes)
        least = self.estimate(self.least)
        if not self.limits.pay(least):
            return (
                f"{self.limits} is below the floor: the original prompt, three candidates and the front on test "
                f"take about {self.limits.least_for(least)}",
            )
        if not self.limits.pay(estimate):
            return (
                f"{sizes.trials} trials of {sizes.val} x {sizes.rephrasings} would take about "
                f"{self.limits.least_for(estimate)}: {self.limits} end the search before",
            )
        return ()


def limits_of(effort: str, user: Limits) -> tuple[Limits, Limits]:
    """Return the limits to plan to, and those that the run has: the effort's calls, where the user sets none."""
    planned = user.within(effort)
    return planned, planned if user == Limits() and effort in EFFORT_CALLS else user
