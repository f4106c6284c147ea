"""How a run's prompts were chosen, as run.json keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation import OBJECTIVES, compare_paired
from psopt.search import PromptLimits, knee

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Evaluator, Predictions, Split
    from psopt.metrics import PairedDifference
    from psopt.search import Candidate
    from psopt.search_spaces import SearchRestriction

CHOICE = ("prompt_limits", "short_against_knee")
"""The keys of run.json that say how the prompts were chosen."""


def choice_record(
    evaluator: Evaluator,
    parts: SearchRestriction,
    baseline: Candidate,
    front: Sequence[Candidate],
    shortest: Candidate,
    seed: int,
) -> dict[str, Any]:
    """Build what run.json says of the choice: the size limit, and what short costs.

    Everything is known already: no model is asked.
    """

    def on(candidate: Candidate, split: Split) -> Predictions:
        return evaluator.predictions(candidate.prompt, split)

    limits = PromptLimits.in_search(baseline.prompt, evaluator, parts)
    chosen = knee(front, baseline)
    record: dict[str, Any] = {"prompt_limits": {"edits": limits.most_edits, "tokens": limits.most_tokens}}
    if chosen.test and shortest.test and shortest.id != chosen.id and len(evaluator.texts("test")) > 1:
        differences = compare_paired(on(chosen, "test"), on(shortest, "test"), seed)
        record["short_against_knee"] = {name: _to_dict(differences[name]) for name in OBJECTIVES if name in differences}
    return record


def limits_line(limits: Mapping[str, Any]) -> str:
    """Say which of run.json's `prompt_limits` hold for what is handed back.

    >>> limits_line({"edits": 25, "tokens": None}), limits_line({"edits": None, "tokens": 1500})
    ('25 edits', '1,500 tokens per call')
    """
    units = {"edits": "edits", "tokens": "tokens per call"}
    return " and ".join(f"{limits[name]:,} {unit}" for name, unit in units.items() if limits[name] is not None)


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
