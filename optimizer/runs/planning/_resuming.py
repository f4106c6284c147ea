"""A run that is resumed keeps its sizes and its limits, which count what its earlier parts have spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.runs._settings import RunSettings
from psopt.runs.planning._effort import Limits
from psopt.runs.planning._plan import sized
from psopt.runs.planning._sizes import Sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.runs.planning._effort import PlanOptions


def resumed_from(manifest: Mapping[str, Any], settings: RunSettings, options: PlanOptions) -> RunSettings:
    """Return the settings with which a run is resumed: what was not asked for anew is as its run.json says.

    Raises InputError if another effort is asked for.

    Parameters
    ----------
    manifest : mapping
        The content of run.json.
    settings : RunSettings
        As they are asked for now.
    """
    before = RunSettings.from_dict(manifest["settings"])
    if options.effort is not None and options.effort != before.effort:
        raise InputError(
            f"the run was begun with effort {before.effort}, and keeps it: leave --effort {options.effort} out"
        )
    if before.effort == "full":
        return settings
    sizes = Sizes(
        train=before.samples if before.train_samples is None else before.train_samples,
        val=before.samples,
        test=before.test_samples or 0,
        rephrasings=before.rephrasings,
        heldout=before.heldout,
        trials=before.search.trials,
        rounds=before.search.rounds,
    )
    settings = replace(sized(settings, options.sizes.set_in(sizes)), effort=before.effort)
    if options.sizes.trials is None:
        settings = replace(settings, search=replace(settings.search, most_trials=before.search.most_trials))
    limits = Limits.of_user(settings.lm)
    if before.limited_by == "plan" and limits == Limits.of_user(before.lm):
        return replace(settings, limited_by="plan")
    if before.limited_by != "effort" or limits != Limits():
        return settings
    return replace(settings, limited_by="effort", lm=replace(settings.lm, max_calls=before.lm.max_calls))


def with_changed_limits(settings: RunSettings, changes: Mapping[str, Any]) -> RunSettings:
    """Return the settings of a run's own run.json with other limits, where there are any among the changes.

    They take the place of the effort's, and are the user's: a run that reaches them has not ended as planned.
    """
    if any(changes.get(name) is not None for name in ("max_calls", "max_tokens_total", "max_cost")):
        lm = settings.lm if settings.limited_by != "effort" else replace(settings.lm, max_calls=None)
        return replace(settings, limited_by="user", lm=lm)
    return settings
