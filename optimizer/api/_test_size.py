"""How many samples the final test takes: more than planned if it may need them, and the limits pay for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.api._setup import test_samples
from psopt.proposals import PLANTED_TEXTS
from psopt.runs.planning import samples_needed
from psopt.search import Reserve
from psopt.search.gating import gate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Evaluator
    from psopt.runs import RunRecorder
    from psopt.search import Candidate, Search

# Chosen: as if half of the difference on val, which has chosen the nominee, were luck. Half as large a difference takes
# four times as many samples.
_CAUTION = 4
_PLANTED = 2 * 2 * PLANTED_TEXTS  # answers for each note of a prompt: both prompts, with its phrase and without


def widen_test(
    recorder: RunRecorder, search: Search, nominated: Sequence[Candidate], to_score: Sequence[Candidate]
) -> None:
    """Let the test take as many samples as the limits pay for, unless the planned ones show half of val's difference.

    `to_score` holds all candidates that are to be scored on test, the original prompt first. This is decided before
    test is asked about anything, so the gate's level holds.
    """
    settings, evaluator = recorder.settings, search.problem.evaluator
    plan = recorder.plan or recorder.before.get("plan") or {}
    n_planned = len(evaluator.samples["test"])
    most = plan.get("most_test", 0)
    asks_more = settings.leave_one_out or settings.heldout_from or settings.probe or settings.program
    has_verdict = bool(recorder.before.get("recommended", {}).get("tests"))
    reserve = Reserve(evaluator)
    if n_planned >= most or asks_more or has_verdict or settings.gate != "sure" or not reserve.is_needed:
        return
    if not nominated or _planned_is_enough(evaluator, to_score[0], nominated, settings.gate_margin):
        return
    prompts = {candidate.id: candidate.prompt for candidate in to_score}
    n_notes = max(sum(edit.kind == "note" for edit in candidate.edits) for candidate in nominated)
    n_besides = len(evaluator.samples["train"]) * len(evaluator.rephrasings.search) + _PLANTED * n_notes
    n_samples = min(most, n_planned + reserve.further_test_samples([*prompts.values()], n_besides))
    if n_samples == n_planned:
        return
    recorder.settings = replace(settings, test_samples=n_samples)
    evaluator.test_on(test_samples(search.problem.task, recorder.settings))
    search.problem.observer.phase(
        f"the final test takes {n_samples} samples: {n_planned} may be too few, and the limit pays for more"
    )


def _planned_is_enough(
    evaluator: Evaluator, baseline: Candidate, nominated: Sequence[Candidate], margin: float
) -> bool:
    """Whether a nominee would pass with the planned number of samples if it were half as much better as on val."""
    answers = {candidate.id: evaluator.predictions(candidate.prompt, "val") for candidate in nominated}
    original = evaluator.predictions(baseline.prompt, "val")
    verdict = gate(original, answers, margin=margin)
    for test, candidate in zip(verdict.tests, nominated, strict=True):
        at_least = replace(test, level=verdict.alpha / len(nominated))
        needed = samples_needed(original, answers[candidate.id], at_least, margin)
        if needed is not None and _CAUTION * needed <= len(evaluator.samples["test"]):
            return True
    return False
