"""The end of a run: the front is scored on test, the gate decides, and everything is written down."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.api._drawing import draw_run
from psopt.api._other_wordings import under_other_wordings
from psopt.api._probes import on_probes
from psopt.errors import BudgetReachedError
from psopt.models import calibrates, capabilities_of
from psopt.proposals import planted_texts
from psopt.rephrasings import RephrasingSet
from psopt.report import write_report
from psopt.runs import NOTHING_COMPARED, CallPrice, Recommendation, Run, n_looks, samples_needed
from psopt.search import (
    MeasuredGain,
    gate,
    knee,
    leave_one_out,
    nominees,
    score_on_test,
    scoring_order,
    tokens_around,
    untested,
)
from psopt.search_spaces import CALIBRATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.evaluation import Evaluator
    from psopt.proposals import Planted
    from psopt.runs import RunRecorder
    from psopt.search import Candidate, Search, Verdict
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


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
    scored, unpaid = score_on_test(search, list(dict.fromkeys([*order, *alone])))
    unpaid = [candidate for candidate in unpaid if candidate in order]  # what calibration does alone is no must
    scored = {name: _ready_for_use(candidate, search) for name, candidate in scored.items()}
    start = scored[search.state.baseline.id]
    front = tuple(scored.get(candidate.id, candidate) for candidate in on_val)
    shortest = scored.get(shortest.id, shortest)
    recommendation = _recommend(
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
        contributions = _contributions(chosen, baseline, search, most)
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


def _contributions(chosen: Candidate, baseline: Prompt, search: Search, most: int) -> dict[str, Any]:
    """Build contributions.json: what edits add, as far as that is asked for and the budget goes."""
    if most and chosen.edits:
        search.problem.observer.phase(f"leaving edits out of {chosen.id}")
    try:
        left_out = leave_one_out(
            chosen, baseline, search.problem.evaluator, search.candidates, search.state.pool, most=most
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


def planted_flips(evaluator: Evaluator, task: Task, original: Prompt, chosen: Candidate) -> dict[str, Any] | None:
    """Measure it under the description as it is, and say it as run.json's `planted`; None without phrases to plant.

    A flip is a text of another class that is answered with the note's label once the phrase is there, and not before.

    Raises BudgetReachedError if a limit does not pay for it.
    """
    notes = [edit for edit in chosen.edits if edit.kind == "note"]
    planted = [] if task.spec.is_open else planted_texts(notes, task)
    if not planted:
        return None
    description = evaluator.rephrasings.original
    of_parts = evaluator.rephrasings.n_parts
    alone = RephrasingSet(description, (description,), (), evaluator.rephrasings.source, n_parts=of_parts)
    samples = tuple({sample.id: sample for pair in planted for sample in (pair.plain, pair.planted)}.values())
    asking = evaluator.on_other(rephrasings=alone, samples={"train": samples})
    return {
        "n_texts": len(planted),
        "n_notes": len({pair.planted.id.partition("+")[2] for pair in planted}),
        "id": chosen.id,
        "original": _flipped(asking, original, planted),
        "recommended": _flipped(asking, chosen.prompt, planted),
    }


def _flipped(asking: Evaluator, prompt: Prompt, planted: Sequence[Planted]) -> float:
    """The share of texts that a phrase flips."""
    answered = asking.predictions(prompt, "train")
    answer_of = {sample.id: int(row[0]) for sample, row in zip(answered.samples, answered.array, strict=True)}
    flips = [
        answer_of[pair.planted.id] == prompt.labels.index(pair.label) != answer_of[pair.plain.id] for pair in planted
    ]
    return float(np.mean(flips))


def _recommend(
    recorder: RunRecorder,
    evaluator: Evaluator,
    baseline: Candidate,
    nominated: Sequence[Candidate],
    *,
    has_compared: bool = True,
) -> Recommendation:
    """Put the nominees that are scored on test through the gate; all that it looks at is at hand.

    `has_compared` tells whether any prompt beside the baseline was scored on all of val.
    """
    settings = recorder.settings
    tested = {candidate.id: candidate for candidate in nominated if candidate.test is not None}
    if nominated and not tested:
        why = "the limit did not pay for a test of what was found"
        verdict = untested(settings.gate, settings.gate_margin, why)
    elif not has_compared:
        verdict = untested(settings.gate, settings.gate_margin, NOTHING_COMPARED)
    else:
        n_val = len(evaluator.samples["val"])
        verdict = gate(
            evaluator.predictions(baseline.prompt, "test"),
            {name: evaluator.predictions(candidate.prompt, "test") for name, candidate in tested.items()},
            mode=settings.gate,
            margin=settings.gate_margin,
            pinned=_pinned_in_test(evaluator.samples["test"], settings.pinned),
            on_val={
                name: MeasuredGain.between(baseline.val, candidate.val, n_val) for name, candidate in tested.items()
            },
        )
    prompt = tested[verdict.id] if verdict.id else baseline
    needed = _samples_needed(evaluator, baseline, tested.values(), verdict) if verdict.verdict == "keep" else None
    around = tokens_around(evaluator)
    calls = [CallPrice.of(candidate.prompt, settings.model, around) for candidate in (baseline, prompt)]
    return Recommendation(prompt, verdict, needed, n_looks(recorder.before, verdict), *calls)


def _pinned_in_test(samples: Iterable[Sample], pinned: Iterable[str]) -> set[str]:
    """The ids of the samples that must stay right: those that are named, and those that the data pin."""
    return {*pinned, *(sample.id for sample in samples if sample.pinned)}


def _samples_needed(
    evaluator: Evaluator, baseline: Candidate, tested: Iterable[Candidate], verdict: Verdict
) -> int | None:
    """What it would take to be sure of the first nominee, where the gate was to be."""
    if verdict.mode != "sure" or not verdict.tests:
        return None
    first = next(iter(tested))
    before, after = (evaluator.predictions(candidate.prompt, "test") for candidate in (baseline, first))
    return samples_needed(before, after, verdict.tests[0], verdict.margin)
