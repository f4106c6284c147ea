"""A run that is resumed keeps its sizes, and what is left of its effort's calls."""

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

    from psopt.models.chat import LMConfig
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
    if before.limited_by == "user" or Limits.of_user(settings.lm) != Limits():
        return settings
    return replace(settings, limited_by="effort", lm=rest_of_effort(manifest, settings.lm))


def rest_of_effort(manifest: Mapping[str, Any], lm: LMConfig) -> LMConfig:
    """Return how models are asked by a run whose effort's calls are partly used: for no more than the rest."""
    limit = manifest["plan"]["limits"]["calls"]
    used = manifest.get("calls") or {}
    return replace(lm, max_calls=max(0, limit - used.get("made", 0) - used.get("failed", 0)))


def with_changed_limits(manifest: Mapping[str, Any], settings: RunSettings, changes: Mapping[str, Any]) -> RunSettings:
    """Return the settings of a run's own run.json with other limits, where there are any among the changes.

    They take the place of the effort's; else that counts all calls since the run was begun.
    """
    if settings.limited_by == "user":
        return settings
    if any(changes.get(name) is not None for name in ("max_calls", "max_tokens_total", "max_cost")):
        return replace(settings, limited_by="user", lm=replace(settings.lm, max_calls=None))
    return replace(settings, lm=rest_of_effort(manifest, settings.lm))
