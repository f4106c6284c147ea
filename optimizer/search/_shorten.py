"""Shorter prompts that are no worse: edits that do not help are dropped, within one standard error of the knee.

A search for three objectives has no reason to drop an edit that neither helps nor harms, so its prompts grow. The last
trials therefore shorten the knee. What each edit is worth is estimated from the trials so far by ridge regression,
which costs no calls. The least valuable edits are dropped together: half of all edits first, fewer if that loses.
The one-standard-error rule is that of Breiman et al. (1984), here on paired differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import compare_paired, objective_values, sign_of
from psopt.search_spaces import apply_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Evaluator, Predictions
    from psopt.metrics import PairedDifference
    from psopt.search._front import Candidate, R, Tried
    from psopt.search_spaces import Edit, Prompt


# Shares of the edits that are dropped together: half first, fewer if that loses. Chosen, not measured: each share costs
# a trial, and only a fifth of the trials is for shortening.
SHARES = (1 / 2, 1 / 3, 1 / 4, 1 / 8)
_RIDGE = 1.0  # keeps the system solvable with more edits than candidates; chosen, not measured: it only ranks edits
_HOPELESS = 0.1  # a loss well above one standard error of a few hundred samples needs no look at answers; not measured


def shortest(candidates: Sequence[R], knee: R, is_as_good: Callable[[R, R], bool]) -> R:
    """Return the candidate with the fewest edits that is as good as the knee; the knee itself if no shorter one is."""
    shorter = [candidate for candidate in candidates if len(candidate.edits) < len(knee.edits)]
    shorter.sort(key=lambda candidate: len(candidate.edits))
    return next((candidate for candidate in shorter if is_as_good(candidate, knee)), knee)


def next_shorter(short: Tried, candidates: Sequence[Tried], pool: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """Subsets of a candidate's edits to try next, the shortest first; bundles stay together."""
    worth = edit_worths(candidates, pool)
    parameters = {edit.parameter_name for edit in short.edits}
    ranked = sorted(parameters, key=lambda parameter: (-worth[parameter], parameter))
    subsets = []
    for share in SHARES:
        parameters_left = set(ranked[: len(ranked) - math.ceil(share * len(ranked))])
        subsets.append(tuple(edit for edit in short.edits if edit.parameter_name in parameters_left))
    return subsets


def edit_worths(candidates: Sequence[Tried], pool: Sequence[Edit]) -> dict[str, float]:
    """Estimate what each parameter, or what it merges, adds to F1 - S + C on val, by ridge regression."""
    parameters = list(dict.fromkeys(name for edit in pool for name in edit.stands_for))
    held = [{name for edit in candidate.edits for name in edit.stands_for} for candidate in candidates]
    x = np.array([[parameter in names for parameter in parameters] for names in held], dtype=float)
    x -= x.mean(axis=0)
    y = np.array([candidate.val.gains.sum() for candidate in candidates])
    y -= y.mean()
    solved = np.linalg.solve(x.T @ x + _RIDGE * np.eye(len(parameters)), x.T @ y)
    worth = dict(zip(parameters, solved.tolist(), strict=True))
    return {edit.parameter_name: sum(worth[part] for part in edit.stands_for) for edit in pool}


def is_as_good(candidate: Candidate, knee: Candidate, on_val: Callable[[Candidate], Predictions]) -> bool:
    """Return whether a candidate loses no more than one standard error against the knee, in any objective."""
    losses = dict(zip(objective_values(knee.val), (knee.val.gains - candidate.val.gains).tolist(), strict=True))
    if max(losses.values()) <= 0:
        return True
    if max(losses.values()) > _HOPELESS:
        return False
    differences = compare_paired(on_val(knee), on_val(candidate))
    # a single sample gives no standard error: then any loss counts
    return all(loss <= (differences[name].standard_error or 0.0) for name, loss in losses.items())


@dataclass(frozen=True, slots=True)
class Contribution:
    """What is lost without some of a prompt's edits."""

    what: str  # the edit in words, or ``all notes`` and the like
    edits: tuple[str, ...]  # ids of the edits left out
    # Score on val without them, minus the score with them; with interval and p-value
    without: dict[str, PairedDifference]


def leave_one_out(
    candidate: Candidate,
    seed_prompt: Prompt,
    evaluator: Evaluator,
    candidates: Sequence[Candidate],
    pool: Sequence[Edit],
    *,
    most: int,
) -> list[Contribution]:
    """Leave out each kind of edit, then one by one the edits that the trials so far rate highest; evaluate on val.

    The kinds come first, then at most `most` single edits (bundles are left out together), those with the largest loss
    first; with 0, nothing is left out.
    """
    if not candidate.edits or most < 1:
        return []
    by_parameter: dict[str, list[Edit]] = {}
    by_kind: dict[str, list[Edit]] = {}
    for edit in candidate.edits:
        by_parameter.setdefault(edit.parameter_name, []).append(edit)
        by_kind.setdefault(edit.kind if edit.kind == "calibration" else f"all {edit.kind}s", []).append(edit)
    worth = edit_worths(candidates, pool)
    most_worthy = sorted(by_parameter, key=lambda parameter: (-worth[parameter], parameter))[:most]
    whole = evaluator.predictions(candidate.prompt, "val")

    def leave_out(description: str, edits: Sequence[Edit]) -> Contribution:
        edits_left = [edit for edit in candidate.edits if edit not in edits]
        part = evaluator.predictions(apply_edits(seed_prompt, edits_left, candidate.order), "val")
        return Contribution(description, tuple(edit.id for edit in edits), compare_paired(whole, part))

    of_kinds = []
    if len(by_parameter) > 1:
        of_kinds = [leave_out(all_of_kind, edits) for all_of_kind, edits in by_kind.items()]
    of_edits = [leave_out(_words(by_parameter[name]), by_parameter[name]) for name in most_worthy]
    return of_kinds + sorted(of_edits, key=_lost, reverse=True)


def _lost(contribution: Contribution) -> float:
    return -sum(sign_of(name) * paired.difference for name, paired in contribution.without.items())


def _words(edits: Sequence[Edit]) -> str:
    first = edits[0]
    return str(first) if len(edits) == 1 else f"{first.bundle or first.kind} ({len(edits)} {first.kind}s)"
