"""What the edits of a prompt contribute: what is lost on val when one of them is left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psopt.evaluation import compare_paired
from psopt.search._shorten import edit_worths
from psopt.search_spaces import apply_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Evaluator
    from psopt.metrics import PairedDifference
    from psopt.search._front import Candidate
    from psopt.search_spaces import Edit, Prompt

_KINDS = {
    "note": "all notes",
    "definition": "all definitions",
    "example": "all examples",
    "calibration": "calibration",
}


@dataclass(frozen=True, slots=True)
class Contribution:
    """What is lost without some of a prompt's edits."""

    what: str  # the edit in words, or ``all notes`` and the like
    edits: tuple[str, ...]  # ids of the edits left out
    # Score on val without them, less the score with them; with interval and p-value
    without: dict[str, PairedDifference]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def leave_one_out(
    chosen: Candidate,
    seed_prompt: Prompt,
    evaluator: Evaluator,
    candidates: Sequence[Candidate],
    pool: Sequence[Edit],
    *,
    most: int,
) -> list[Contribution]:
    """Leave out each kind of edits, then the most worthy edits by the trials so far one by one; evaluate on val.

    The kinds come first, then single edits, those first without which most is lost.

    Parameters
    ----------
    candidates, pool
        What the worth of an edit is estimated from (see `edit_worths`), which costs no calls.
    most : int
        At most so many single edits (bundles are left out together), and none at 0, kinds neither. Each prompt costs
        val x Q answers, unless it was evaluated before.
    """
    if not chosen.edits or most < 1:
        return []
    by_parameter: dict[str, list[Edit]] = {}
    kinds: dict[str, list[Edit]] = {}
    for edit in chosen.edits:
        by_parameter.setdefault(edit.parameter_name, []).append(edit)
        kinds.setdefault(edit.kind, []).append(edit)
    worth = edit_worths(candidates, pool)
    most_worthy = sorted(by_parameter, key=lambda parameter: (-worth[parameter], parameter))[:most]
    groups = [(_KINDS[kind], edits) for kind, edits in kinds.items()] if len(by_parameter) > 1 else []
    singles = [(_words(by_parameter[parameter]), by_parameter[parameter]) for parameter in most_worthy]
    of_kinds = [_without(name, edits, chosen, seed_prompt, evaluator) for name, edits in groups]
    of_edits = [_without(name, edits, chosen, seed_prompt, evaluator) for name, edits in singles]
    return of_kinds + sorted(of_edits, key=_lost, reverse=True)


def _lost(contribution: Contribution) -> float:
    """What is lost in all objectives."""
    without = contribution.without
    of_consistency = without["consistency"].difference if "consistency" in without else 0.0
    return without["sensitivity"].difference - without["f1"].difference - of_consistency


def _words(edits: Sequence[Edit]) -> str:
    return str(edits[0]) if len(edits) == 1 else f"{edits[0].bundle or edits[0].kind} ({len(edits)} {edits[0].kind}s)"


def _without(
    name: str, left_out: Sequence[Edit], chosen: Candidate, seed_prompt: Prompt, evaluator: Evaluator
) -> Contribution:
    rest = [edit for edit in chosen.edits if edit not in left_out]
    whole = evaluator.predictions(chosen.prompt, "val")
    part = evaluator.predictions(apply_edits(seed_prompt, rest, chosen.order), "val")
    return Contribution(name, tuple(edit.id for edit in left_out), compare_paired(whole, part))
