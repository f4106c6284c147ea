"""How many samples the final test takes: more than planned if it may need them, and the limits pay for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.api._setup import test_samples
from psopt.proposals import PLANTED_TEXTS
from psopt.runs.planning import samples_needed
from psopt.search import ENOUGH_TESTED, Reserve
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
    """Let the test take more samples than planned, if they may be too few and the limits pay for more.

    As many as are paid for are taken, unless the planned ones show half of val's difference. Up to `ENOUGH_TESTED`, the
    original prompt and the nominees come before the rest of `to_score`, all candidates that are to be scored on test.
    This is decided before test is asked about anything, so the gate's level holds.
    """
    settings, evaluator = recorder.settings, search.problem.evaluator
    n_planned = len(evaluator.samples["test"])
    most = most_tested(recorder)
    reserve = Reserve(evaluator)
    if not nominated or n_planned >= most or not reserve.is_needed:
        return
    baseline = search.state.baseline
    n_samples = n_planned
    if not _planned_is_enough(evaluator, baseline, nominated, settings.gate_margin):
        n_notes = max(sum(edit.kind == "note" for edit in candidate.edits) for candidate in nominated)
        n_besides = len(evaluator.samples["train"]) * len(evaluator.rephrasings.search) + _PLANTED * n_notes
        n_samples += reserve.further_test_samples([of.prompt for of in dict.fromkeys(to_score)], n_besides)
    # A few questions of val can't tell a guess from a prompt that is a little better, for which S is compared, too.
    if n_samples < ENOUGH_TESTED and not baseline.val.is_one_answer:
        n_paid = n_planned + reserve.further_test_samples([of.prompt for of in (baseline, *nominated)], n_besides=0)
        n_samples = max(n_samples, min(n_paid, ENOUGH_TESTED))
    n_samples = min(most, n_samples)
    if n_samples == n_planned:
        return
    recorder.settings = replace(settings, test_samples=n_samples)
    evaluator.test_on(test_samples(search.problem.task, recorder.settings))
    search.problem.observer.phase(
        f"the final test takes {n_samples} samples: {n_planned} may be too few, and the limit pays for more"
    )


def most_tested(recorder: RunRecorder) -> int:
    """The most samples that the final test may take; 0 if it is to have as many as planned."""
    settings = recorder.settings
    asks_more = settings.leave_one_out or settings.heldout_from or settings.probe or settings.program
    has_verdict = bool(recorder.before.get("recommended", {}).get("tests"))
    if asks_more or has_verdict or settings.gate != "sure":
        return 0
    plan = recorder.plan or recorder.before.get("plan") or {}
    return int(plan.get("most_test", 0))


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
