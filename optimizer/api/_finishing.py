"""The end of a run: the front is scored on test, the gate decides, and what was asked for besides is measured."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.trial import TrialState
from psopt.api._test_size import widen_test
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import Evaluator, Predictions, Split, compare_paired, risk_coverage, score, vote_is_right, votes
from psopt.models import calibrates, capabilities_of
from psopt.proposals import Planted, planted_texts
from psopt.rephrasings import RephrasingSet, check_labels_given, n_parts_of, of_another_source
from psopt.report import run_figure, write_report
from psopt.runs import (
    NOTHING_COMPARED,
    CallPrice,
    Found,
    Recommendation,
    Run,
    RunRecorder,
    RunSettings,
    best_found,
    n_looks,
    nearest_to_pass,
    scores_of,
)
from psopt.runs.planning import samples_needed
from psopt.search import Candidate, Search, knee, leave_one_out, nominees, score_on_test, scoring_order, tokens_around
from psopt.search.distributed import CLAIMED, OF_RUN
from psopt.search.gating import MeasuredGain, Verdict, gate, untested
from psopt.search_spaces import CALIBRATE, Prompt
from psopt.tasks import Sample, Task, read_samples
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_LEFT_OUT = 8  # edits whose contribution is measured if a further evaluation costs next to nothing


def finish(
    recorder: RunRecorder, search: Search, stopped: BudgetReachedError | None, probes: tuple[Sample, ...]
) -> tuple[Run, str]:
    """Score the front on test, let the gate decide, measure what edits add, record it; also say if a limit was met."""
    state, evaluator = search.state, search.problem.evaluator
    if not stopped and search.finish_reason == "exhausted":
        made = f"{state.n_done} of {counted(search.problem.options.trials, 'trial')}"
        search.problem.observer.phase(
            f"all prompts that the edits allow are tried ({made}): more train samples give more"
        )
    search.problem.observer.phase("scoring the front on test, under held-out rephrasings")
    on_val, shortest, nominated = state.front, state.shortest, nominees(state)
    gated = [state.baseline, *nominated]
    order = scoring_order(state.baseline, on_val, shortest, nominated)
    alone = [candidate for candidate in search.candidates if candidate.edits == (CALIBRATE,)]
    widen_test(recorder, search, nominated, [*order, *alone])
    scored, unpaid = _scored(search, gated)
    start = scored[state.baseline.id]
    tested = [scored[candidate.id] for candidate in nominated if candidate.id in scored]
    recommendation = _recommend(recorder, search, stopped, start, tested, nominated)
    best: Candidate | None = recommendation.prompt
    if recommendation.prompt.id == start.id:
        best = scored.get(best_found(recommendation.to_dict()["tests"], knee(on_val, start).id))
    if best is None:
        raise stopped or BudgetReachedError("the limit does not pay the knee's test")
    # What the user asked for in addition to the verdict comes before the rest of the front.
    beside = measured_beside(search, recorder.settings, start, best, probes)
    if recorder.settings.program and recorder.settings.limited_by == "effort":
        order = gated  # this few calls are only for the gate's candidates
    more, further_unpaid = _scored(search, [of for of in dict.fromkeys([*order, *alone]) if of not in gated])
    scored |= more
    unpaid += [candidate for candidate in further_unpaid if candidate in order]  # calibration alone is optional
    if alone:
        beside["calibration"] = {"id": alone[0].id, **scores_of(scored.get(alone[0].id, alone[0]))}
    beside |= _kept_if_steady(evaluator, best)
    beside |= _of_workers(search)
    front, shortest = tuple(scored.get(of.id, of) for of in on_val), scored.get(shortest.id, shortest)
    contributions = _contributions(recorder, search, best, stopped)
    reason = "budget" if stopped or unpaid else search.finish_reason
    findings = Found(start, front, shortest, recommendation, search.race_counts, beside)
    recorder.save(findings, reason)
    recorder.save_prompts(start, front, [shortest, *tested], best, search.diagnoses)
    recorder.save_for_report(search, contributions)
    recorder.save_proposals(search)
    recorder.save(findings, reason)  # again, with the calls that the report took
    write_report(recorder.directory)
    run = Run(recorder.directory.path, start, front, shortest, search.study, reason, recommendation, run_figure)
    return run, _limit_met(stopped, unpaid)


def _of_workers(search: Search) -> dict[str, Any]:
    """What the trials of workers took. What they asked to diagnose and to propose nobody has counted."""
    done = search.study.trials_in(TrialState.COMPLETE)
    trials = [trial for trial in done if not str(trial.user_attrs.get(CLAIMED, OF_RUN)).startswith(OF_RUN)]
    spent = {name: sum(trial.user_attrs.get(name, 0) for trial in trials) for name in ("calls", "tokens", "cost_usd")}
    return {"workers": {"trials": len(trials), **spent}} if trials else {}


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
    if not evaluator.answer_type.is_plain or not evaluator.rephrasings.search[1:]:
        return {}
    splits: tuple[Split, ...] = ("val", "test")
    shares: dict[str, Any] = {"id": candidate.id}
    for split in splits:
        answered = evaluator.predictions(candidate.prompt, split)
        points = risk_coverage(votes(answered).steadiness, vote_is_right(answered))
        shares[split] = [{"share": point.share, "f1": point.f1, "least_f1": point.least_f1} for point in points]
    return {"kept_if_steady": shares}


def _contributions(
    recorder: RunRecorder, search: Search, candidate: Candidate, stopped: BudgetReachedError | None
) -> dict[str, Any]:
    """Build contributions.json: what edits add, as far as that is asked for and the budget allows."""
    problem, most = search.problem, recorder.settings.leave_one_out
    if most is None:  # nobody asked for it, so nothing is held back for it
        is_free = not stopped and all(capabilities_of(each.model).is_free for each in problem.evaluator.each)
        most = _LEFT_OUT if is_free else 0
    if earlier := recorder.earlier_contributions(candidate, most):
        return earlier
    if most and candidate.edits:
        problem.observer.phase(f"leaving edits out of {candidate.id}")
    try:
        left_out = leave_one_out(
            candidate, problem.baseline_prompt, problem.evaluator, search.candidates, search.state.pool, most=most
        )
    except BudgetReachedError:  # what matters is done
        problem.observer.phase("the limit is reached: what edits contribute is not measured")
        left_out = []
    return {"schema_version": 1, "prompt": candidate.id, "most": most, "left_out": list(map(asdict, left_out))}


def _limit_met(stopped: BudgetReachedError | None, unpaid: Sequence[Candidate]) -> str:
    """Describe how a run that met a limit has ended; empty if it met none."""
    if not stopped and not unpaid:
        return ""
    reached = f"when the search stopped: {stopped}" if stopped else "the limit is reached"
    ending = f"{reached}; the front that was found is scored on test"
    if unpaid:
        names = ", ".join(candidate.id for candidate in unpaid)
        ending += f" but for {len(unpaid)} that could not be paid ({names})"
    return ending


def _recommend(
    recorder: RunRecorder,
    search: Search,
    stopped: BudgetReachedError | None,
    start: Candidate,
    tested: Sequence[Candidate],
    nominated: Sequence[Candidate],
) -> Recommendation:
    """Put the nominees that are scored on test through the gate; it needs no further answers."""
    settings, evaluator = recorder.settings, recorder.evaluator
    why = ""
    if nominated and not tested:
        why = "the limit did not pay for a test of what was found"
    elif len(search.history.evaluated) <= 1:  # nothing besides the baseline was scored on val, not even in part
        why = NOTHING_COMPARED if stopped else "no other prompt was scored on val"
    elif stopped and not nominated and search.state.waiting():
        why = "the limit did not pay for asking all of val about what may be better"
    if why:
        verdict = untested(settings.gate, settings.gate_margin, why)
    else:
        n_val = len(evaluator.samples["val"])
        verdict = gate(
            evaluator.predictions(start.prompt, "test"),
            {of.id: evaluator.predictions(of.prompt, "test") for of in tested},
            mode=settings.gate,
            margin=settings.gate_margin,
            pinned={*settings.pinned, *(sample.id for sample in evaluator.samples["test"] if sample.pinned)},
            on_val={of.id: MeasuredGain.of_each(start.val, of.val, n_val) for of in tested},
        )
    prompt = next((of for of in tested if of.id == verdict.id), start)
    needed = _samples_needed(evaluator, start, tested, verdict)
    around = tokens_around(evaluator)
    calls = [CallPrice.of(candidate.prompt, settings.model, around) for candidate in (start, prompt)]
    return Recommendation(prompt, verdict, needed, n_looks(recorder.before, verdict), *calls)


def _samples_needed(
    evaluator: Evaluator, baseline: Candidate, tested: Sequence[Candidate], verdict: Verdict
) -> int | None:
    """How many test samples it would take to pass the nominee that is closest to passing, if the gate is ``sure``."""
    if verdict.verdict != "keep" or verdict.mode != "sure" or not verdict.tests:
        return None
    nearest = nearest_to_pass(verdict.to_dict()["tests"])["id"]
    test = next(test for test in verdict.tests if test.id == nearest)
    nominee = next(candidate for candidate in tested if candidate.id == nearest)
    before, after = (evaluator.predictions(candidate.prompt, "test") for candidate in (baseline, nominee))
    needed = samples_needed(before, after, test, verdict.margin)
    return None if needed is None or needed <= len(before.samples) else needed  # so many did not show it


def check_other_wordings(baseline: Prompt, settings: RunSettings) -> None:
    """Refuse wordings of another source that don't fit the prompt, before anything is asked; raises InputError."""
    if settings.heldout_from:
        others = of_another_source(baseline.description, settings.heldout_from, n_parts_of(baseline))
        if settings.rephrasing.keep_labels:
            check_labels_given(Path("--heldout-from"), others, baseline.labels)


def probes_of(settings: RunSettings, task: Task) -> tuple[Sample, ...]:
    """The samples of the file that the settings name, if any; raises InputError or DataError if it can't be used."""
    if settings.probe is None:
        return ()
    data = settings.data
    places = [Path(settings.probe), Path(data.folder) / settings.probe]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(f"--probe {settings.probe}: there is no such file")
    return read_samples(path, task, inputs=data.inputs, text_column=data.text_column, label_column=data.label_column)


def measured_beside(
    search: Search, settings: RunSettings, baseline: Candidate, chosen: Candidate, probes: Sequence[Sample]
) -> dict[str, Any]:
    """Measure this for the baseline and the chosen prompt, as run.json has it; skip what a limit does not pay for."""
    evaluator, task = search.problem.evaluator, search.problem.task
    phase = search.problem.observer.phase
    measurements: dict[str, Any] = {}

    def measure(key: str, of: str, do: Callable[..., dict[str, Any] | None], *arguments: Any) -> None:
        try:
            if measured := do(evaluator, *arguments):
                measurements[key] = measured
        except BudgetReachedError:
            phase(f"the limit is reached: nothing is said of {of}")

    if settings.heldout_from:
        phase(f"scoring {chosen.id} under the wordings of {settings.heldout_from_name}")
        measure("other_wordings", "wordings of another source", _under_other_wordings, baseline, chosen, settings)
    if probes:
        file = str(settings.probe)
        phase(f"answering the {len(probes)} texts of {file}")
        measure("probe", f"the texts of {file}", _on_probes, baseline.prompt, chosen, tuple(probes), file)
    if not (settings.program or evaluator.others):  # a program is only asked about its own examples
        try:
            measure("planted", "planted phrases", planted_flips, task, baseline.prompt, chosen)
        except Exception as error:  # noqa: BLE001 the caller's own model may refuse texts that are not in the data
            phase(f"planted phrases are not measured: {type(error).__name__}: {error}")
    return measurements


def _under_other_wordings(
    evaluator: Evaluator, baseline: Candidate, candidate: Candidate, settings: RunSettings
) -> dict[str, Any]:
    original, n_parts = evaluator.rephrasings.original, n_parts_of(baseline.prompt)
    elsewhere = evaluator.on_other(rephrasings=of_another_source(original, settings.heldout_from, n_parts))
    before = elsewhere.predictions(baseline.prompt, "test")
    own = {"before": baseline.test and baseline.test.sensitivity}
    measured: dict[str, Any] = {
        "source": settings.heldout_from_name,
        "wordings": list(elsewhere.rephrasings.heldout),
        "n_wordings": len(elsewhere.rephrasings.heldout),
        "id": candidate.id,
        "baseline": score(before, intervals=True).to_dict(),
        "own_sensitivity": own,
        "differences": {},
    }
    if candidate.id == baseline.id or candidate.test is None:
        return measured
    after = elsewhere.predictions(candidate.prompt, "test")
    scores = {"before": score(before), "after": score(after, intervals=True)}
    own["after"] = candidate.test.sensitivity
    measured["chosen"] = scores["after"].to_dict()
    for measure, difference in compare_paired(before, after).items():
        values = {when: getattr(of, measure) for when, of in scores.items()}
        interval = {"low": difference.low, "high": difference.high}
        measured["differences"][measure] = {**values, **interval, "p_value": difference.p_value}
    return measured


def _on_probes(
    evaluator: Evaluator, original: Prompt, candidate: Candidate, samples: tuple[Sample, ...], file: str
) -> dict[str, Any]:
    """Ask both prompts about the samples, under the held-out rephrasings."""
    asking = evaluator.on_other(samples={"test": samples})
    before = asking.predictions(original, "test")
    measured = {"file": file, "n_texts": len(samples), "n_wordings": before.array.shape[1], "original": _scores(before)}
    if candidate.prompt.id == original.id:
        return measured
    after = asking.predictions(candidate.prompt, "test")
    n_changed = int(np.any(before.array != after.array, axis=1).sum())
    return {**measured, "id": candidate.id, "recommended": _scores(after), "n_changed": n_changed}


def _scores(predictions: Predictions) -> dict[str, float]:
    """S, and F1 where there are labels."""
    sensitivity = {"sensitivity": float(np.mean(predictions.sensitivities))}
    if not predictions.is_labelled:
        return sensitivity
    return {"f1": score(predictions).f1, **sensitivity}


def planted_flips(evaluator: Evaluator, task: Task, original: Prompt, chosen: Candidate) -> dict[str, Any] | None:
    """Plant phrases of the chosen prompt's notes in texts of other classes; None without phrases to plant.

    This is measured under the original description alone. A flip is a text of another class that gets the note's label
    with the phrase, but not without it.
    """
    notes = [edit for edit in chosen.edits if edit.kind == "note"]
    planted = planted_texts(notes, task)
    if not planted:
        return None
    description = evaluator.rephrasings.original
    of_parts = evaluator.rephrasings.n_parts
    alone = RephrasingSet(description, (description,), (), evaluator.rephrasings.source, n_parts=of_parts)
    both = chain.from_iterable((pair.plain, pair.planted) for pair in planted)
    samples = tuple({sample.id: sample for sample in both}.values())
    asking = evaluator.on_other(rephrasings=alone, samples={"train": samples})
    return {
        "n_texts": len(planted),
        "n_notes": len({pair.planted.id.partition("+")[2] for pair in planted}),
        "id": chosen.id,
        "original": _flipped(asking, original, planted),
        "recommended": _flipped(asking, chosen.prompt, planted),
    }


def _flipped(asking: Evaluator, prompt: Prompt, planted: Sequence[Planted]) -> float:
    answered = asking.predictions(prompt, "train")
    answer_of = {sample.id: int(row[0]) for sample, row in zip(answered.samples, answered.array, strict=True)}
    flips = [
        answer_of[pair.planted.id] == prompt.labels.index(pair.label) != answer_of[pair.plain.id] for pair in planted
    ]
    return float(np.mean(flips))
