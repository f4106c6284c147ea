"""How sure the choice of a run's prompts is, as run.json keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation import OBJECTIVES, compare_paired
from psopt.search import PromptLimits, knee, knee_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Evaluator, Predictions, Split
    from psopt.metrics import PairedDifference
    from psopt.search import Candidate
    from psopt.search_spaces import SearchRestriction

CHOICE = ("prompt_limits", "knee_shares", "short_against_knee")
"""The keys of run.json that say how sure the choice is."""
_LIFTED_IN_TURN = ("tokens", "edits")


def choice_record(
    evaluator: Evaluator,
    parts: SearchRestriction,
    baseline: Candidate,
    front: Sequence[Candidate],
    shortest: Candidate,
    seed: int,
) -> dict[str, Any]:
    """Build what run.json says of the choice: the limits, how often each prompt is the knee, and what short costs.

    Everything is known already: no model is asked.
    """

    def on(candidate: Candidate, split: Split) -> Predictions:
        return evaluator.predictions(candidate.prompt, split)

    limits = PromptLimits.in_search(baseline.prompt, evaluator, parts)
    n_lifted = max((limits.excess(member.prompt, member.edits) - member.excess for member in front), default=0)
    chosen = knee(front, baseline)
    shares = knee_shares(front, baseline, lambda candidate: on(candidate, "val"), seed)
    record: dict[str, Any] = {
        "prompt_limits": {
            "edits": limits.most_edits,
            "tokens": limits.most_tokens,
            "lifted": list(_LIFTED_IN_TURN[:n_lifted]),
        },
        "knee_shares": {name: round(share, 3) for name, share in shares.items()},
    }
    if chosen.test and shortest.test and shortest.id != chosen.id and len(evaluator.texts("test")) > 1:
        differences = compare_paired(on(chosen, "test"), on(shortest, "test"), seed)
        record["short_against_knee"] = {name: _to_dict(differences[name]) for name in OBJECTIVES if name in differences}
    return record


def limits_line(limits: Mapping[str, Any]) -> str:
    """Say which of run.json's `prompt_limits` hold for what is handed back.

    >>> limits_line({"edits": 25, "tokens": 1060}), limits_line({"edits": None, "tokens": 500})
    ('25 edits and 1,060 tokens a call', '500 tokens a call')
    >>> limits_line({"edits": 25, "tokens": 1060, "lifted": ["tokens"]})
    '25 edits'
    """
    lifted = limits.get("lifted", ())
    parts = {"edits": f"{limits['edits']} edits", "tokens": f"{limits['tokens']:,} tokens a call"}
    return " and ".join(text for name, text in parts.items() if limits[name] is not None and name not in lifted)


def short_line(against_knee: dict[str, dict[str, float]], quality: str = "F1") -> str:
    """Say what the shortest prompt gains or loses on test against the knee, in points.

    `quality` is what stands in the place of F1 (`AnswerType.quality_name`).

    >>> loss = {"difference": -0.012, "low": -0.03, "high": 0.006, "p_value": 0.2}
    >>> short_line({"f1": loss})
    'F1 -1.2 (-3.0 to +0.6)'
    """
    names = {"f1": quality, "sensitivity": "S", "consistency": "C"}
    return ", ".join(
        f"{names[name]} {100 * test['difference']:+.1f} ({100 * test['low']:+.1f} to {100 * test['high']:+.1f})"
        for name, test in against_knee.items()
    )


def _to_dict(difference: PairedDifference) -> dict[str, float]:
    return {name: float(getattr(difference, name)) for name in ("difference", "low", "high", "p_value")}
