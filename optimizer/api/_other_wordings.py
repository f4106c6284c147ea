"""How what a run hands back fares under wordings of another source, beside its own held-out ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation import compare_paired, score
from psopt.rephrasings import n_parts_of, of_another_source

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator
    from psopt.runs import RunSettings
    from psopt.search import Candidate
    from psopt.search_spaces import Prompt


def check_other_wordings(baseline: Prompt, settings: RunSettings) -> None:
    """Refuse wordings of another source that don't fit the prompt, before anything is asked.

    Raises InputError: naming the wording.
    """
    if settings.heldout_from:
        of_another_source(baseline.description, settings.heldout_from, n_parts_of(baseline))


def under_other_wordings(
    evaluator: Evaluator, baseline: Candidate, chosen: Candidate, settings: RunSettings
) -> dict[str, Any]:
    """Measure the baseline and the chosen prompt on test, and say it as run.json's `other_wordings`.

    Raises BudgetReachedError if a limit does not pay for it.
    """
    original, n_parts = evaluator.rephrasings.original, n_parts_of(baseline.prompt)
    elsewhere = evaluator.on_other(rephrasings=of_another_source(original, settings.heldout_from, n_parts))
    before = elsewhere.predictions(baseline.prompt, "test")
    own = {"before": baseline.test.sensitivity if baseline.test else None}
    measured = {
        "source": settings.heldout_from_name,
        "wordings": list(elsewhere.rephrasings.heldout),
        "n_wordings": len(elsewhere.rephrasings.heldout),
        "id": chosen.id,
        "baseline": score(before, intervals=True).to_dict(),
        "own_sensitivity": own,
        "differences": {},
    }
    if chosen.id == baseline.id or chosen.test is None:
        return measured
    after = elsewhere.predictions(chosen.prompt, "test")
    scores = {"before": score(before), "after": score(after)}
    own["after"] = chosen.test.sensitivity
    measured["chosen"] = score(after, intervals=True).to_dict()
    measured["differences"] = {
        measure: {
            **{when: getattr(of, measure) for when, of in scores.items()},
            "low": difference.low,
            "high": difference.high,
            "p_value": difference.p_value,
        }
        for measure, difference in compare_paired(before, after).items()
    }
    return measured
