"""A run's candidates and trials as rows, for DataFrames and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import optuna

if TYPE_CHECKING:
    from collections.abc import Collection

    from optuna.trial import FrozenTrial
    from psopt.evaluation import Scores
    from psopt.search import Candidate

_MEASURES = ("f1", "macro_f1", "sensitivity", "consistency", "na_rate")
_SPLITS = ("val", "test")
_WITH_BOUNDS = [f"{measure}{ending}" for measure in _MEASURES for ending in ("", "_low", "_high")]
CANDIDATE_COLUMNS = (
    "id",
    "role",
    "trial",
    "n_edits",
    "edits",
    "tokens",
    *(f"{split}_{measure}" for split in _SPLITS for measure in _WITH_BOUNDS),
)
TRIAL_COLUMNS = (
    "trial",
    "state",
    "id",
    "f1",
    "sensitivity",
    "consistency",
    "na_rate",
    "feasible",
    "on_front",
    "n_edits",
    "edits",
    "raced",
    "note",
    "calls",
    "tokens",
    "cost_usd",
    "seconds",
    "started",
)
# What a trial says of itself where its prompt was not evaluated, or not in whole, or is odd.
_NOTES = ("dropped", "failed", "infeasible", "constant")


def candidate_row(candidate: Candidate, role: str) -> dict[str, Any]:
    """One prompt: what it adds, how long it is, and its scores on val and test with their intervals."""
    of_splits = {"val": candidate.val, "test": candidate.test}
    scores = {f"{split}_{name}": value for split, of in of_splits.items() for name, value in _scores(of).items()}
    return {
        "id": candidate.id,
        "role": role,
        "trial": candidate.trial,
        "n_edits": len(candidate.edits),
        "edits": [str(edit) for edit in candidate.edits],
        "tokens": candidate.length["tokens"],
        **scores,
    }


def trial_row(trial: FrozenTrial, metric_names: Collection[str], front: Collection[str]) -> dict[str, Any]:
    """One trial: its values on val, or what its race has estimated, and what it took."""
    attributes = trial.user_attrs
    edits = attributes.get("edits")
    is_whole = trial.state == optuna.trial.TrialState.COMPLETE
    return {
        **{name: attributes.get(name) for name in ("na_rate", "raced", "calls", "tokens", "cost_usd", "seconds")},
        **(dict(zip(metric_names, trial.values, strict=True)) if trial.values else {}),
        "trial": trial.number,
        "state": trial.state.name.lower(),
        "id": attributes.get("prompt_id"),
        "feasible": "infeasible" not in attributes if is_whole and "raced" not in attributes else None,
        "on_front": attributes.get("prompt_id") in front and is_whole,
        "n_edits": None if edits is None else len(edits),
        "edits": edits,
        "note": next((attributes[name] for name in _NOTES if name in attributes), None),
        "started": trial.datetime_start,
    }


def _scores(scores: Scores | None) -> dict[str, float | None]:
    """The measures and their intervals; nothing where they were not measured."""
    if scores is None:
        return {}
    values: dict[str, float | None] = {}
    for measure in _MEASURES:
        low, high = scores.ci.get(measure, (None, None))
        values |= {measure: getattr(scores, measure), f"{measure}_low": low, f"{measure}_high": high}
    return values
