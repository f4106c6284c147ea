"""How a search went: the trials at which the best compromise so far came nearer, and what they added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import objective_gains
from psopt.search import UTOPIA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_EDITS = 6
_MOST_ROWS = 20


def history(trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each trial that came nearer to F1 = 1, S = 0 and C = 1 than all before.

    Parameters
    ----------
    trials : sequence of mapping
        As trials.json has them: the objectives on val, and the edits of each prompt; the first is the original prompt.

    Returns
    -------
    rows : list of dict
        The trial, its edits that the best before did not have (``added``: at most six of them, ``n_added``: how many),
        and how many of the best before's it left out (``n_left_out``). At most twenty: the first, and the last ones.
    """
    rows: list[dict[str, Any]] = []
    nearest = np.inf
    best: Sequence[str] = ()
    for trial in sorted((trial for trial in trials if trial["feasible"]), key=lambda trial: trial["trial"]):
        gains = objective_gains(trial)
        distance = float(np.linalg.norm(UTOPIA[: len(gains)] - gains))
        if distance >= nearest:
            continue
        added = [edit for edit in trial["edits"] if edit not in best]
        n_left_out = sum(edit not in trial["edits"] for edit in best)
        rows.append({**trial, "added": added[:_MOST_EDITS], "n_added": len(added), "n_left_out": n_left_out})
        nearest, best = distance, trial["edits"]
    return rows if len(rows) <= _MOST_ROWS else [rows[0], *rows[1 - _MOST_ROWS :]]
