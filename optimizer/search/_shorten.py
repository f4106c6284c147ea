"""Shorter prompts that are no worse: edits that do no good are dropped, within one standard error of the knee.

A search for three objectives has no reason to leave an edit out that does neither good nor harm, so its prompts grow.
The last trials therefore go backwards from the knee. What an edit is worth is estimated from the trials so far by ridge
regression, so that it costs no calls; the least worthy are dropped together, half of them first, fewer where that
loses.
The one-standard-error rule is that of Breiman et al. (1984), here on paired differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import compare_paired, objective_gains, objective_values
from psopt.search._edit_worths import held_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Predictions
    from psopt.search._front import Candidate, Ranked
    from psopt.search_spaces import Edit

# Of the edits that are dropped together: half first, fewer where that loses. Chosen, not measured: each costs a trial,
# and only a fifth of them is there for shortening.
SHARES = (1 / 2, 1 / 3, 1 / 4, 1 / 8)
_RIDGE = 1.0  # keeps the system solvable with more edits than candidates; chosen, not measured, and it only ranks edits
_HOPELESS = 0.1  # spares reading answers for a loss well above one standard error of some hundred samples; not measured


def shortest(candidates: Sequence[Candidate], knee: Candidate, on_val: Callable[[Candidate], Predictions]) -> Candidate:
    """Return the candidate with fewest edits that is not worse than the knee by more than one standard error.

    Parameters
    ----------
    candidates : sequence of Candidate
    knee : Candidate
        Stands for itself where no shorter one does.
    on_val : callable
        Gives a candidate's predictions on val.
    """
    shorter = [candidate for candidate in candidates if len(candidate.edits) < len(knee.edits)]
    shorter.sort(key=lambda candidate: len(candidate.edits))
    return next((candidate for candidate in shorter if is_as_good(candidate, knee, on_val)), knee)


def next_shorter(short: Ranked, candidates: Sequence[Ranked], pool: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """Subsets of a candidate's edits to try next, the shortest first; bundles stay whole."""
    worth = edit_worths(candidates, pool)
    parameters = {edit.parameter_name for edit in short.edits}
    ranked = sorted(parameters, key=lambda parameter: (-worth[parameter], parameter))
    subsets = []
    for share in SHARES:
        kept = set(ranked[: len(ranked) - math.ceil(share * len(ranked))])
        subsets.append(tuple(edit for edit in short.edits if edit.parameter_name in kept))
    return subsets


def edit_worths(candidates: Sequence[Ranked], pool: Sequence[Edit]) -> dict[str, float]:
    """Estimate what each parameter adds to F1 - S + C on val, from all candidates: ridge regression on what they hold.

    What merges others counts as these.
    """
    parameters, x = held_in([candidate.edits for candidate in candidates], pool)
    x -= x.mean(axis=0)
    y = np.array([candidate.val.gains.sum() for candidate in candidates])
    y -= y.mean()
    solved = np.linalg.solve(x.T @ x + _RIDGE * np.eye(len(parameters)), x.T @ y)
    worth = dict(zip(parameters, solved.tolist(), strict=True))
    return {edit.parameter_name: sum(worth[part] for part in edit.stands_for) for edit in pool}


def is_as_good(candidate: Candidate, knee: Candidate, on_val: Callable[[Candidate], Predictions]) -> bool:
    """Return whether a candidate loses no more than one standard error against the knee, in any objective."""
    lost = objective_gains(knee.val) - objective_gains(candidate.val)
    losses = dict(zip(objective_values(knee.val), lost.tolist(), strict=True))
    if max(losses.values()) <= 0:
        return True
    if max(losses.values()) > _HOPELESS:
        return False
    differences = compare_paired(on_val(knee), on_val(candidate))
    # no standard error is known from one sample: then any loss counts
    return all(loss <= (differences[name].standard_error or 0.0) for name, loss in losses.items())
