"""The end of a run: the front is scored on test, the gate decides, and everything is written down."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from psopt.api._drawing import draw_run
from psopt.api._other_wordings import under_other_wordings
from psopt.api._planted_phrases import planted_flips
from psopt.api._probes import on_probes
from psopt.api._recommending import recommend
from psopt.errors import BudgetReachedError
from psopt.models import calibrates, capabilities_of
from psopt.report import write_report
from psopt.runs import Run
from psopt.search import knee, leave_one_out, nominees, score_on_test, scoring_order
from psopt.search_spaces import CALIBRATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import RunRecorder
    from psopt.search import Candidate, Search
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample

_LEFT_OUT = 8  # edits whose contribution is measured where a further evaluation costs next to nothing


def finish(
    recorder: RunRecorder,
    search: Search,
    baseline: Prompt,
    stopped: BudgetReachedError | None,
    probes: tuple[Sample, ...] = (),
) -> tuple[Run, str]:
    """Score the front on test, let the gate decide, measure what edits add, write it down; say if a limit was met."""
    settings = recorder.settings
    search.problem.observer.phase("scoring the front on test, under held-out rephrasings")
    on_val = search.state.front
    shortest = search.state.shortest
    nominated = nominees(search.state)
    order = scoring_order(search.state.baseline, on_val, shortest, nominated)
    if settings.program and settings.limited_by == "effort":  # so few calls are for those that the gate looks at
        order = [search.state.baseline, *nominated]
    alone = [candidate for candidate in search.candidates if candidate.edits == (CALIBRATE,)]
    scored, unpaid = score_on_test(search, list(dict.fromkeys([*order, *alone])), settings.seed)
    unpaid = [candidate for candidate in unpaid if candidate in order]  # what calibration does alone is no must
    scored = {name: _ready_for_use(candidate, search) for name, candidate in scored.items()}
    start = scored[search.state.baseline.id]
    front = tuple(scored.get(candidate.id, candidate) for candidate in on_val)
    shortest = scored.get(shortest.id, shortest)
    recommendation = recommend(
        recorder,
        search.problem.evaluator,
        start,
        [scored.get(of.id, of) for of in nominated],
        has_compared=len(search.candidates) > 1,
    )
    tested = [scored[candidate.id] for candidate in nominated if candidate.id in scored]
    chosen = next((of for of in (recommendation.prompt, *tested) if of.id != start.id), knee(front, start))
    if chosen.test is None:
        raise stopped or BudgetReachedError("the limit does not pay the knee's test")
    _measure_elsewhere(recorder, search, start, chosen)
    _measure_on_probes(recorder, search, start, chosen, probes)
    if not settings.program:  # which is asked about its examples alone
        _plant_phrases(recorder, search, start, chosen)
    recorder.calibration = next((_apart(scored.get(of.id, of)) for of in alone), None)
    most = _most_left_out(recorder) if settings.leave_one_out or not stopped else 0  # if asked for, it is held back
    contributions = recorder.earlier_contributions(chosen, most)
    if contributions is None:
        contributions = _contributions(chosen, baseline, search, most, settings.seed)
    reason = "budget" if stopped or unpaid else search.finish_reason
    counts, sizes = search.race_counts, search.diagnoses.sizes
    save = partial(recorder.save, start, front, reason, shortest, counts, sizes, recommendation)
    save()
    recorder.save_prompts(start, front, [shortest, *tested], chosen, search.diagnoses)
    recorder.save_for_report(search, contributions)
    recorder.save_proposals(search)
    save()  # again, with what the report has asked
    write_report(recorder.directory)
    run = Run(recorder.directory.path, start, front, shortest, search.study, reason, recommendation, draw_run)
    return run, _limit_met(stopped, unpaid) if stopped or unpaid else ""


def _ready_for_use(candidate: Candidate, search: Search) -> Candidate:
    """A candidate whose prompt brings its label prior, where it is calibrated."""
    model = search.problem.evaluator.model
    return replace(candidate, prompt=model.measured(candidate.prompt)) if calibrates(model) else candidate


def _apart(alone: Candidate) -> dict[str, Any]:
    """What run.json says of the original prompt with its label prior taken out, and no edit."""
    return {"id": alone.id, "val": alone.val.to_dict(), "test": alone.test.to_dict() if alone.test else None}


def _measure_elsewhere(recorder: RunRecorder, search: Search, baseline: Candidate, chosen: Candidate) -> None:
    """Put what is handed back to wordings of another source, where there are some and the budget pays for it."""
    settings = recorder.settings
    if not settings.heldout_from:
        return
    observer = search.problem.observer
    observer.phase(f"scoring {chosen.id} under the wordings of {settings.heldout_from_name}")
    try:
        recorder.other_wordings = under_other_wordings(search.problem.evaluator, baseline, chosen, settings)
    except BudgetReachedError:
        observer.phase("the limit is reached: nothing is said of wordings of another source")


def _measure_on_probes(
    recorder: RunRecorder, search: Search, baseline: Candidate, chosen: Candidate, probes: tuple[Sample, ...]
) -> None:
    """Put both prompts to the user's own texts, where there are some and the budget pays for it."""
    if not probes:
        return
    problem, name = search.problem, str(recorder.settings.probe)
    problem.observer.phase(f"answering the {len(probes)} texts of {name}")
    try:
        recorder.probe = on_probes(problem.evaluator, baseline.prompt, chosen, probes, name)
    except BudgetReachedError:
        problem.observer.phase(f"the limit is reached: nothing is said of the texts of {name}")


def _plant_phrases(recorder: RunRecorder, search: Search, baseline: Candidate, chosen: Candidate) -> None:
    """Plant phrases of the chosen prompt's notes in texts of other classes, where the budget pays for it."""
    problem = search.problem
    try:
        recorder.planted = planted_flips(problem.evaluator, problem.task, baseline.prompt, chosen)
    except BudgetReachedError:
        problem.observer.phase("the limit is reached: nothing is said of planted phrases")
    except Exception as error:  # noqa: BLE001 a model of the caller's own may take no text that is not of the data
        problem.observer.phase(f"planted phrases are not measured: {type(error).__name__}: {error}")


def _most_left_out(recorder: RunRecorder) -> int:
    asked = recorder.settings.leave_one_out
    if asked is not None:
        return asked
    return _LEFT_OUT if capabilities_of(recorder.evaluator.model).is_free else 0


def _contributions(chosen: Candidate, baseline: Prompt, search: Search, most: int, seed: int) -> dict[str, Any]:
    """Build contributions.json: what edits add, as far as that is asked for and the budget goes."""
    if most and chosen.edits:
        search.problem.observer.phase(f"leaving edits out of {chosen.id}")
    try:
        left_out = leave_one_out(
            chosen, baseline, search.problem.evaluator, search.candidates, search.state.pool, most=most, seed=seed
        )
    except BudgetReachedError:  # what matters is done
        search.problem.observer.phase("the limit is reached: what edits contribute is not measured")
        left_out = []
        most = 0
    contributions = [contribution.to_dict() for contribution in left_out]
    return {"schema_version": 1, "prompt": chosen.id, "most": most, "left_out": contributions}


def _limit_met(stopped: BudgetReachedError | None, unpaid: Sequence[Candidate]) -> str:
    """Say how a run that met a limit has ended."""
    if not unpaid:
        return f"{stopped}; the front that was found is scored on test"
    names = ", ".join(candidate.id for candidate in unpaid)
    why = stopped or "the limit is reached"
    return f"{why}; the front that was found is scored on test but for {len(unpaid)} that could not be paid ({names})"
