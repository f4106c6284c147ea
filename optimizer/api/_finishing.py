"""The end of a run: the front is scored on test, the gate decides, and everything is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.api._beside import measured_beside
from psopt.errors import BudgetReachedError
from psopt.evaluation import risk_coverage, steadiness, vote_is_right
from psopt.models import calibrates, capabilities_of
from psopt.report import run_figure, write_report
from psopt.runs import NOTHING_COMPARED, CallPrice, Found, Recommendation, Run, n_looks, nearest_to_pass, scores_of
from psopt.runs.planning import samples_needed
from psopt.search import knee, leave_one_out, nominees, score_on_test, scoring_order, tokens_around
from psopt.search.gating import MeasuredGain, gate, untested
from psopt.search_spaces import CALIBRATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Evaluator, Split
    from psopt.runs import RunRecorder
    from psopt.search import Candidate, Search
    from psopt.search.gating import Verdict
    from psopt.tasks import Sample


_LEFT_OUT = 8  # edits whose contribution is measured if a further evaluation costs next to nothing


def finish(
    recorder: RunRecorder,
    search: Search,
    stopped: BudgetReachedError | None,
    probes: tuple[Sample, ...],
) -> tuple[Run, str]:
    """Score the front on test, let the gate decide, measure what edits add, record it; also say if a limit was met."""
    settings, state, evaluator = recorder.settings, search.state, search.problem.evaluator
    search.problem.observer.phase("scoring the front on test, under held-out rephrasings")
    on_val, shortest, nominated = state.front, state.shortest, nominees(state)
    gated = [state.baseline, *nominated]
    scored, unpaid = _scored(search, gated)
    start = scored[state.baseline.id]
    tested = [scored[candidate.id] for candidate in nominated if candidate.id in scored]
    has_compared = len(search.history.evaluated) > 1
    recommendation = _recommend(recorder, start, tested, nominated, has_compared=has_compared)
    best = next((of for of in (recommendation.prompt, *tested) if of.id != start.id), None)
    best = best or scored.get(knee(on_val, start).id)
    if best is None:
        raise stopped or BudgetReachedError("the limit does not pay the knee's test")
    # What the user asked for in addition to the verdict comes before the rest of the front.
    beside = measured_beside(search, settings, start, best, probes)
    order = scoring_order(state.baseline, on_val, shortest, nominated)
    if settings.program and settings.limited_by == "effort":  # this few calls are only for the gate's candidates
        order = gated
    alone = [candidate for candidate in search.candidates if candidate.edits == (CALIBRATE,)]
    more, unpaid_more = _scored(search, [of for of in dict.fromkeys([*order, *alone]) if of not in gated])
    scored |= more
    unpaid += [candidate for candidate in unpaid_more if candidate in order]  # calibration alone is optional
    front = tuple(scored.get(candidate.id, candidate) for candidate in on_val)
    shortest = scored.get(shortest.id, shortest)
    if alone:
        beside["calibration"] = {"id": alone[0].id, **scores_of(scored.get(alone[0].id, alone[0]))}
    if evaluator.answer_type.is_plain and evaluator.rephrasings.search[1:]:
        beside["kept_if_steady"] = {"id": best.id, **_kept_if_steady(evaluator, best)}
    most = _most_left_out(recorder) if settings.leave_one_out or not stopped else 0  # if asked for, it has a reserve
    contributions = recorder.earlier_contributions(best, most) or _contributions(best, search, most)
    reason = "budget" if stopped or unpaid else search.finish_reason
    findings = Found(start, front, shortest, recommendation, search.race_counts, search.diagnoses.sizes, beside)
    recorder.save(findings, reason)
    recorder.save_prompts(start, front, [shortest, *tested], best, search.diagnoses)
    recorder.save_for_report(search, contributions)
    recorder.save_proposals(search)
    recorder.save(findings, reason)  # again, with the calls that the report took
    write_report(recorder.directory)
    run = Run(recorder.directory.path, start, front, shortest, search.study, reason, recommendation, run_figure)
    return run, _limit_met(stopped, unpaid) if stopped or unpaid else ""


def _scored(search: Search, order: Sequence[Candidate]) -> tuple[dict[str, Candidate], list[Candidate]]:
    """The candidates that the budget pays for, scored on test and ready for use, by their ids; and the others."""
    scored, unpaid = score_on_test(search, order)
    return {name: _ready_for_use(candidate, search) for name, candidate in scored.items()}, unpaid


def _ready_for_use(candidate: Candidate, search: Search) -> Candidate:
    """A candidate whose prompt includes its label prior, if it is calibrated."""
    prompt = candidate.prompt
    models = [each.model for each in search.problem.evaluator.each]
    measured = [model.measured(prompt).calibration for model in models if calibrates(model)]
    priors = [calibration for calibration in measured if calibration is not None]
    if not priors:
        return candidate
    return replace(candidate, prompt=replace(prompt, calibration=replace(priors[0], also=tuple(priors[1:]))))


def _kept_if_steady(evaluator: Evaluator, candidate: Candidate) -> dict[str, Any]:
    """How right the kept answers are if the less steady ones are left to a person, on val and test."""
    splits: tuple[Split, ...] = ("val", "test")
    grids = {split: evaluator.predictions(candidate.prompt, split) for split in splits}
    return {
        split: [
            {"share": point.share, "f1": point.f1, "least_f1": point.least_f1}
            for point in risk_coverage(steadiness(answered), vote_is_right(answered))
        ]
        for split, answered in grids.items()
    }


def _most_left_out(recorder: RunRecorder) -> int:
    most = recorder.settings.leave_one_out
    if most is not None:
        return most
    is_free = all(capabilities_of(each.model).is_free for each in recorder.evaluator.each)
    return _LEFT_OUT if is_free else 0


def _contributions(candidate: Candidate, search: Search, most: int) -> dict[str, Any]:
    """Build contributions.json: what edits add, as far as that is asked for and the budget allows."""
    if most and candidate.edits:
        search.problem.observer.phase(f"leaving edits out of {candidate.id}")
    try:
        problem = search.problem
        left_out = leave_one_out(
            candidate, problem.baseline_prompt, problem.evaluator, search.candidates, search.state.pool, most=most
        )
    except BudgetReachedError:  # what matters is done
        search.problem.observer.phase("the limit is reached: what edits contribute is not measured")
        left_out = []
        most = 0
    contributions = [contribution.to_dict() for contribution in left_out]
    return {"schema_version": 1, "prompt": candidate.id, "most": most, "left_out": contributions}


def _limit_met(stopped: BudgetReachedError | None, unpaid: Sequence[Candidate]) -> str:
    """Describe how a run that met a limit has ended."""
    if not unpaid:
        return f"{stopped}; the front that was found is scored on test"
    names = ", ".join(candidate.id for candidate in unpaid)
    why = stopped or "the limit is reached"
    return f"{why}; the front that was found is scored on test but for {len(unpaid)} that could not be paid ({names})"


def _recommend(
    recorder: RunRecorder,
    baseline: Candidate,
    tested: Sequence[Candidate],
    nominated: Sequence[Candidate],
    *,
    has_compared: bool,
) -> Recommendation:
    """Put the nominees that are scored on test through the gate; it needs no further answers.

    `has_compared` says whether any prompt besides the baseline was scored on val, completely or in part.
    """
    settings, evaluator = recorder.settings, recorder.evaluator
    if nominated and not tested:
        why = "the limit did not pay for a test of what was found"
        verdict = untested(settings.gate, settings.gate_margin, why)
    elif not has_compared:
        verdict = untested(settings.gate, settings.gate_margin, NOTHING_COMPARED)
    else:
        n_val = len(evaluator.samples["val"])
        verdict = gate(
            evaluator.predictions(baseline.prompt, "test"),
            {of.id: evaluator.predictions(of.prompt, "test") for of in tested},
            mode=settings.gate,
            margin=settings.gate_margin,
            pinned={*settings.pinned, *(sample.id for sample in evaluator.samples["test"] if sample.pinned)},
            on_val={of.id: MeasuredGain.between(baseline.val, of.val, n_val) for of in tested},
        )
    prompt = next((of for of in tested if of.id == verdict.id), baseline)
    needed = _samples_needed(evaluator, baseline, tested, verdict) if verdict.verdict == "keep" else None
    around = tokens_around(evaluator)
    calls = [CallPrice.of(candidate.prompt, settings.model, around) for candidate in (baseline, prompt)]
    return Recommendation(prompt, verdict, needed, n_looks(recorder.before, verdict), *calls)


def _samples_needed(
    evaluator: Evaluator, baseline: Candidate, tested: Sequence[Candidate], verdict: Verdict
) -> int | None:
    """How many test samples it would take to pass the nominee that is closest to passing, if the gate is ``sure``."""
    if verdict.mode != "sure" or not verdict.tests:
        return None
    nearest = nearest_to_pass([test.to_dict() for test in verdict.tests])["id"]
    test = next(test for test in verdict.tests if test.id == nearest)
    nominee = next(candidate for candidate in tested if candidate.id == nearest)
    before, after = (evaluator.predictions(candidate.prompt, "test") for candidate in (baseline, nominee))
    if not test.of_models:
        return samples_needed(before, after, test, verdict.margin)
    needed = [
        samples_needed(ours, theirs, replace(test.of_models[ours.model], level=test.level), verdict.margin)
        for ours, theirs in zip(before.each, after.each, strict=True)
    ]
    return None if None in needed else max(n for n in needed if n is not None)
