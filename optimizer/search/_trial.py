"""One trial, from its prompt to its end: complete with scores, stopped with estimates, dropped, or failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.evaluation import objective_values, score
from psopt.search._front import Candidate, pareto_front
from psopt.search._trial_record import record_stopped, record_trial
from psopt.search.distributed import finished_by_others, write_answers
from psopt.search.distributed._study_keys import DROPPED, FAILED, INFEASIBLE
from psopt.search.racing import RIGHT, WRONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    import optuna
    from psopt.evaluation import PartialAnswers, Predictions, Scores
    from psopt.search._problem import SearchProblem
    from psopt.search._trial_record import EffortMeter
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Edit, Prompt

_LONGEST_REASON = 500  # characters of an error that a trial keeps


def evaluate_trial(
    study: StoredStudy,
    trial: optuna.Trial,
    prompt: Prompt,
    edits: tuple[Edit, ...],
    order: str,
    problem: SearchProblem,
    baseline: Candidate | None,
    meter: EffortMeter,
    audited_among: Sequence[Candidate] = (),
) -> Candidate | None:
    """Score a trial's prompt and write down what comes out; None if others took this worker for dead and failed it.

    `baseline` is None for the baseline itself. `audited_among` are all others, of a candidate that would have stopped:
    that was wrong if it comes to stand on their front.
    """
    predictions = problem.evaluator.predictions(prompt, "val")
    candidate = Candidate(trial.number, prompt, edits, score(predictions), order=order)
    effort = meter.read()
    baseline = baseline or candidate
    least_f1 = baseline.val.f1 - problem.options.parts.margin
    if audited_among:
        candidate = replace(candidate, audit=_audit(candidate, audited_among, least_f1))
    with finished_by_others(study, trial.number) as finished:
        record_trial(trial, candidate, baseline, predictions, effort, problem.artifacts)
        _keep_answers(study, trial, predictions)
        complete_trial(study, trial, candidate.val, least_f1)
    return candidate if finished.state == TrialState.COMPLETE else None


def _audit(candidate: Candidate, others: Sequence[Candidate], least_f1: float) -> str:
    front = pareto_front([*others, candidate], least_f1)
    return WRONG if any(member is candidate for member in front) else RIGHT


def stop_trial(
    study: StoredStudy,
    trial: optuna.Trial,
    stopped: StoppedCandidate,
    answers: PartialAnswers,
    violation: float,
    meter: EffortMeter,
) -> StoppedCandidate | None:
    """Finish a trial with estimates, and with the answers that there are; None if others finished it before.

    `violation` says how far it is from being worth its whole grid; what is held may be told as feasible.
    """
    with finished_by_others(study, trial.number) as finished:
        record_stopped(trial, stopped, meter.read())
        write_answers(study, trial.number, answers)
        trial.set_constraint("f1", violation)
        study.tell(trial, stopped.estimates.values, state=TrialState.COMPLETE, skip_if_finished=True)
    return stopped if finished.state == TrialState.COMPLETE else None


def _keep_answers(study: StoredStudy, trial: optuna.Trial, predictions: Predictions) -> None:
    if predictions.metric_scores is None and predictions.same is None:  # else a judge would have to be asked anew
        write_answers(study, trial.number, predictions)


def complete_trial(study: StoredStudy, trial: optuna.Trial, scores: Scores, least_f1: float) -> None:
    """Finish a trial with its scores, if nobody else has; it is feasible if its F1 reaches `least_f1`."""
    trial.set_constraint("f1", least_f1 - scores.f1)
    if scores.f1 < least_f1:
        trial.set_user_attr(INFEASIBLE, f"F1 {scores.f1:.4f} is below {least_f1:.4f}, the seed prompt's less a margin")
    values = list(objective_values(scores).values())
    # With the state said, a value that is no number is an error; without it, Optuna fails the trial and goes on.
    study.tell(trial, values, state=TrialState.COMPLETE, skip_if_finished=True)


def drop_trial(study: StoredStudy, trial: optuna.Trial, reason: str) -> None:
    """Finish a trial whose prompt is not to be evaluated."""
    with finished_by_others(study, trial.number):
        trial.set_user_attr(DROPPED, reason)
        study.tell(trial, state=TrialState.PRUNED, skip_if_finished=True)


def fail_trial(study: StoredStudy, trial: optuna.Trial, error: BaseException) -> None:
    """Finish a trial whose prompt could not be evaluated."""
    with finished_by_others(study, trial.number):
        trial.set_user_attr(FAILED, f"{type(error).__name__}: {error}"[:_LONGEST_REASON])
        study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)
