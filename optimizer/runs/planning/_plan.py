"""What a run will be like: its sizes, what they are expected to take, and under which limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from psopt.runs._settings import RunSettings
from psopt.runs.planning._effort import BY_LIMITS, EFFORT_CALLS, Limits, PlanOptions
from psopt.settings import RunOptions

if TYPE_CHECKING:
    from psopt.runs._cost_estimate import CostEstimate, Phase
    from psopt.runs.planning._sizes import AskedSizes, Sizes
    from psopt.settings import SizeOptions


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will be like."""

    effort: str  # ``light``, ``medium``, ``heavy`` or ``full``; ``limits`` where only the user's limits decide
    sizes: Sizes  # samples, wordings, candidates and rounds
    limits: Limits  # what the run may take at most: the user's limits, or the effort's calls
    estimate: CostEstimate  # what it is expected to take, phase by phase
    full_calls: int = 0  # about how many calls ``full`` would ask for
    warnings: tuple[str, ...] = ()  # what is to be said of it before it starts

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What it takes, in the order in which it comes."""
        return self.estimate.phases

    @property
    def line(self) -> str:
        """What is said of it, in one line."""
        sizes = self.sizes
        effort = "as the limits allow" if self.effort == BY_LIMITS else f"effort {self.effort}"
        most = f", at most {self.limits}" if self.limits != Limits() else ""
        most = most.removesuffix(" calls")
        line = (
            f"{effort}: about {self.estimate.calls:,} calls{most}: {sizes.trials} trials on {sizes.val} x "
            f"{sizes.rephrasings}, test on {sizes.test} x {sizes.heldout}"
        )
        if self.effort == "full" or self.full_calls <= self.estimate.calls:
            return line
        return f"{line}; --effort full asks about {self.full_calls:,}"

    def applied_to(self, settings: RunSettings) -> RunSettings:
        """Return the settings of a run that follows it: nobody needs the plan to go on with them."""
        if self.effort == "full":
            return settings
        planned = replace(sized(settings, self.sizes), effort=self.effort)
        limits = Limits.of_user(settings.lm)
        if limits == Limits() and self.effort in EFFORT_CALLS:
            return replace(planned, limited_by="effort", lm=replace(settings.lm, max_calls=self.limits.calls))
        return replace(planned, limited_by="plan" if limits.pay(self.estimate) else "user")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, as run.json keeps it."""
        phases = [
            {"what": phase.what, "calls": phase.calls, "tokens": phase.tokens, "cost_usd": phase.cost}
            for phase in self.phases
        ]
        return {
            "effort": self.effort,
            "sizes": asdict(self.sizes),
            "limits": self.limits.to_dict(),
            "calls": self.estimate.calls,
            "tokens": self.estimate.tokens,
            "cost_usd": self.estimate.cost,
            "phases": phases,
            "warnings": list(self.warnings),
        }


def sized(settings: RunSettings, sizes: Sizes) -> RunSettings:
    """Return the settings with these sizes."""
    return replace(
        settings,
        samples=sizes.val,
        train_samples=sizes.train,
        test_samples=sizes.test,
        rephrasings=sizes.rephrasings,
        heldout=sizes.heldout,
        search=replace(settings.search, trials=sizes.trials, rounds=sizes.rounds),
    )


def run_settings(run: RunOptions, sizes: SizeOptions, **facts: Any) -> tuple[RunSettings, PlanOptions]:
    """The settings of a run with what is asked for, and what of it is to be planned.

    `facts` are what `RunSettings` holds that is no option: the prompt, the command line.
    """
    options = PlanOptions.of(sizes)
    given = {one.name: getattr(run, one.name) for one in fields(RunOptions)}
    return _asked_for(RunSettings(**given, **facts), options.sizes), options


def _asked_for(settings: RunSettings, asked: AskedSizes) -> RunSettings:
    """Return settings of full size with the sizes that the user has set."""
    chosen: dict[str, Any] = {
        "samples": asked.val,
        "train_samples": None if asked.train == asked.val else asked.train,
        "test_samples": asked.test,
        "rephrasings": asked.rephrasings,
        "heldout": asked.heldout,
    }
    of_search: dict[str, Any] = {"trials": asked.trials, "rounds": asked.rounds}
    return replace(
        settings,
        **{name: value for name, value in chosen.items() if value is not None},
        search=replace(settings.search, **{name: value for name, value in of_search.items() if value is not None}),
    )
