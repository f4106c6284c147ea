"""From an effort or limits to sizes, as large a run as they pay for; and what a resumed run keeps of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.runs._settings import RunSettings
from psopt.runs.planning._sizes import FLOOR_TRIALS, Sizes, asked_sizes, path
from psopt.settings import DataOptions, RunOptions, SizeOptions, all_leaves, changed_leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.models.chat import LMConfig, Need
    from psopt.runs._cost_estimate import CostEstimate
    from psopt.runs._search_estimate import SearchBasis
    from psopt.settings import Effort


# Chosen: light asks about as much as MIPROv2's light. Each further effort asks three to four times as much, so that its
# final test can show a difference that is smaller by a third.
EFFORT_CALLS: dict[str, int] = {"light": 5_000, "medium": 20_000, "heavy": 60_000}
"""The most calls of each effort."""
BY_LIMITS = "limits"
"""Takes the place of an effort if only the user's limits decide."""
# Leaves room, since a run may take more than expected; the limit itself is enforced where requests are sent.
_PLANNED_SHARE = 0.92


def effort_for(asked: Effort | None, lm: LMConfig, *, is_free: bool) -> str:
    """Return the effort of a run: one of `Effort`, or `BY_LIMITS`.

    If none is asked for, it is ``full`` if a further answer costs next to nothing, as with minilm and sim. If answers
    cost money or time, it is ``light`` unless the user has set limits.
    """
    if asked is not None:
        return asked
    if is_free:
        return "full"
    return "light" if Limits.of_user(lm) == Limits() else BY_LIMITS


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take at most; None means no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None  # US dollars

    @classmethod
    def of_user(cls, lm: LMConfig) -> Limits:
        return cls(lm.max_calls, lm.max_tokens_total, lm.max_cost)

    def within(self, effort: str) -> tuple[Limits, Limits]:
        """The limits to plan for, with no more calls than an effort's; and those that the run has."""
        calls = [most for most in (self.calls, EFFORT_CALLS.get(effort)) if most is not None]
        planned = replace(self, calls=min(calls, default=None))
        return planned, planned if self == Limits() else self

    def pay(self, need: Need, *, with_room: bool = False) -> bool:
        """Whether they allow what is expected, on request with room for more."""
        share = _PLANNED_SHARE if with_room else 1.0
        return all(getattr(need, name) <= share * limit for name, limit in asdict(self).items() if limit is not None)

    def least_for(self, need: Need) -> Limits:
        """Return what these limits would have to be to pay for what is expected, without room for more."""
        return Limits(**{name: getattr(need, name) for name, limit in asdict(self).items() if limit is not None})

    def __str__(self) -> str:
        """Return them in words: ``5,000 calls, 2 USD``."""
        amounts = ((self.calls, ",", "calls"), (self.tokens, ",", "tokens"), (self.cost, "g", "USD"))
        return ", ".join(f"{limit:{form}} {unit}" for limit, form, unit in amounts if limit is not None)


def least_calls(need: Need) -> int:
    """Return the smallest limit on calls that pays for what is expected, with room for more."""
    return round(need.calls / _PLANNED_SHARE)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run."""

    effort: str  # ``light``, ``medium``, ``heavy`` or ``full``; ``limits`` where only the user's limits decide
    sizes: Sizes  # samples, wordings, candidates and rounds
    limits: Limits  # what the run may take at most: the user's limits, or the effort's calls
    estimate: CostEstimate  # what it is expected to take, phase by phase
    full_calls: int = 0  # about how many calls ``full`` would ask for
    most_test: int = 0  # the most test samples: the user's number, or all that there are
    warnings: tuple[str, ...] = ()  # what to tell the user before it starts

    @property
    def line(self) -> str:
        sizes, calls = self.sizes, self.estimate.calls
        effort = "as the limits allow" if self.effort == BY_LIMITS else f"effort {self.effort}"
        line = f"{effort}: about {calls:,} calls"
        if self.limits != Limits():
            ends_early = self.limits.calls is not None and self.limits.calls < calls
            line += f", {'stopped at' if ends_early else 'at most'} {self.limits}".removesuffix(" calls")
        line += f": {sizes.trials} trials on {sizes.val} x {sizes.rephrasings}, test on {sizes.test} x {sizes.heldout}"
        if self.effort != "full" and self.full_calls > calls:
            line += f"; --effort full asks about {self.full_calls:,}"
        return line

    def applied_to(self, settings: RunSettings) -> RunSettings:
        """Return the settings of a run that follows it: to resume the run, they are enough without the plan."""
        if self.effort == "full":
            return settings
        planned = replace(sized(settings, asdict(self.sizes)), effort=self.effort)
        of_user = Limits.of_user(settings.lm)
        if self.limits != of_user:
            return replace(planned, limited_by="effort", lm=replace(settings.lm, max_calls=self.limits.calls))
        return replace(planned, limited_by="plan" if of_user.pay(self.estimate.expected) else "user")

    def to_dict(self) -> dict[str, Any]:
        return {
            "effort": self.effort,
            "sizes": asdict(self.sizes),
            "most_test": self.most_test,
            "limits": asdict(self.limits),
            "calls": self.estimate.calls,
            "tokens": self.estimate.tokens,
            "cost_usd": self.estimate.cost,
            "phases": [
                {"what": of.what, "calls": of.calls, "tokens": of.expected.tokens, "cost_usd": of.expected.cost}
                for of in self.estimate.phases
            ],
            "warnings": list(self.warnings),
        }


_OF_RUN = {
    "val": "samples",
    "train": "train_samples",
    "test": "test_samples",
    "rephrasings": "rephrasings",
    "heldout": "heldout",
}
"""The names of the sizes of samples and wordings in `RunSettings`."""
_OF_SEARCH = ("trials", "rounds")


def sized(settings: RunSettings, sizes: Mapping[str, int | None]) -> RunSettings:
    """Return the settings with these sizes, by their names in `Sizes`."""
    of_run: dict[str, Any] = {ours: sizes[name] for name, ours in _OF_RUN.items() if name in sizes}
    of_search: dict[str, Any] = {name: sizes[name] for name in _OF_SEARCH if name in sizes}
    return replace(settings, **of_run, search=replace(settings.search, **of_search))


def run_settings(run: RunOptions, sizes: SizeOptions, **facts: Any) -> RunSettings:
    """The settings of a run as asked for, full sizes where none is set; `facts` are the fields that are no options."""
    settings = RunSettings(**{each.name: getattr(run, each.name) for each in fields(RunOptions)}, **facts)
    user_sizes = asked_sizes(sizes)
    # S depends on the number of wordings: if only the search's is set, test has as many. A file's number is fixed.
    if "rephrasings" in user_sizes and settings.rephrasing.file is None:
        user_sizes.setdefault("heldout", user_sizes["rephrasings"])
    if user_sizes.get("train") == user_sizes.get("val"):
        user_sizes.pop("train", None)
    return sized(settings, user_sizes)


@dataclass(frozen=True, eq=False)
class Planner:
    """Chooses sizes for a run."""

    # What is asked for apart from the sizes: who writes rephrasings and edits, how many edits are left out at the end
    settings: RunSettings
    basis: SearchBasis  # what the original prompt takes, at any size
    asked: Mapping[str, int]  # the user's sizes, which are kept
    available: Mapping[str, int]  # the most available: samples of a split, wordings of a file
    limits: Limits

    def estimate(self, sizes: Sizes) -> CostEstimate:
        """Count what a run of these sizes is expected to take, with nothing in the cache."""
        return self.basis.sized(sizes).estimate(sized(self.settings, asdict(sizes)))

    @cached_property
    def path(self) -> tuple[Sizes, ...]:
        """All sizes that may be chosen, the smallest first; the last are those if nothing is planned."""
        return path(self.asked, self.available)

    @property
    def least(self) -> Sizes:
        """The smallest useful sizes, with the user's except for trials: the baseline and three candidates."""
        return replace(self.path[0], trials=min(FLOOR_TRIALS, self.path[0].trials))

    @property
    def chosen(self) -> Sizes:
        """The largest sizes that the limits pay for; the smallest if they pay for none."""
        for sizes in reversed(self.path):
            if self.limits.pay(self.estimate(sizes).expected, with_room=True):
                return sizes
        return self.path[0]

    def warnings(self, sizes: Sizes) -> tuple[str, ...]:
        """What to tell the user about sizes that the limits don't pay for."""
        expected, least = self.estimate(sizes).expected, self.estimate(self.least).expected
        if not self.limits.pay(least):
            return (
                f"{self.limits} is below the floor: the original prompt, three candidates and the front on test "
                f"take about {self.limits.least_for(least)}",
            )
        if not self.limits.pay(expected):
            return (
                f"{sizes.trials} trials of {sizes.val} x {sizes.rephrasings} would take about "
                f"{self.limits.least_for(expected)}: {self.limits} end the search before",
            )
        return ()


def resumed_from(manifest: Mapping[str, Any], settings: RunSettings, asked: SizeOptions) -> RunSettings:
    """A resumed run's settings: sizes that are not set again stay as in its run.json.

    Raises InputError for another effort, and for another value of an option that holds from a run's beginning to its
    end; what `RunRecorder.check_same` compares is left to that.
    """
    before = RunSettings.from_dict(manifest["settings"])
    if asked.effort not in {None, before.effort}:
        raise InputError(
            f"the run was begun with effort {before.effort}, and keeps it: leave --effort {asked.effort} out"
        )
    sizes = {name: getattr(before, ours) for name, ours in _OF_RUN.items()}
    sizes |= {name: getattr(before.search, name) for name in _OF_SEARCH}
    settings = replace(sized(settings, sizes | asked_sizes(asked)), effort=before.effort)
    options = {leaf.key: leaf.option for group in (RunOptions, SizeOptions) for leaf in all_leaves(group)}
    begun, asked_now = (replace(of, train_samples=of.train_samples or of.samples) for of in (before, settings))
    for leaf, was, now in changed_leaves(begun, asked_now, but=(DataOptions,)):
        option = options.get(leaf.key)
        if option and "resume" not in option.changed_by and leaf.key != "model":
            raise InputError(
                f"option {leaf.key} was {was!r:.60} when the run began, and can't become {now!r:.60}: "
                "give the same, or start a new run"
            )
    if before.effort == "full":
        return settings
    limits = Limits.of_user(settings.lm)
    if before.limited_by == "plan" and limits == Limits.of_user(before.lm):
        return replace(settings, limited_by="plan")
    if before.limited_by == "effort" and limits == Limits():
        return replace(settings, limited_by="effort", lm=replace(settings.lm, max_calls=before.lm.max_calls))
    return settings


def with_changed_limits(settings: RunSettings, changes: Mapping[str, Any]) -> RunSettings:
    """Return the settings of a run's own run.json with new limits, if any: they replace the effort's as the user's."""
    if all(changes.get(name) is None for name in ("max_calls", "max_tokens_total", "max_cost")):
        return settings
    if settings.limited_by == "effort":
        settings = replace(settings, lm=replace(settings.lm, max_calls=None))
    return replace(settings, limited_by="user")
