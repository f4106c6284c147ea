"""One trial, from its prompt to its end: complete with scores, dropped, or failed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.evaluation import score
from psopt.search._front import Candidate
from psopt.search._trial_record import Effort, record_trial
from psopt.search.distributed import finished_by_others, write_answers
from psopt.search.distributed._study_keys import DROPPED, FAILED, INFEASIBLE

if TYPE_CHECKING:
    import optuna
    from psopt.evaluation import Predictions, Scores
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
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
) -> Candidate | None:
    """Score a trial's prompt and write down what comes out; None if others took this worker for dead and failed it.

    `baseline` is None for the baseline itself.
    """
    before = replace(problem.evaluator.budget.usage)
    started = time.monotonic()
    predictions = problem.evaluator.predictions(prompt, "val")
    candidate = Candidate(trial.number, prompt, edits, score(predictions), order=order)
    effort = Effort.between(before, problem.evaluator.budget.usage, time.monotonic() - started)
    baseline = baseline or candidate
    with finished_by_others(study, trial.number) as finished:
        record_trial(trial, candidate, baseline, predictions, effort, problem.artifacts)
        _keep_answers(study, trial, predictions)
        complete_trial(study, trial, candidate.val, baseline.val.f1 - problem.options.parts.margin)
    return candidate if finished.state == TrialState.COMPLETE else None


def _keep_answers(study: StoredStudy, trial: optuna.Trial, predictions: Predictions) -> None:
    if predictions.metric_scores is None:  # else a judge would have to score them anew
        write_answers(study, trial.number, predictions)


def complete_trial(study: StoredStudy, trial: optuna.Trial, scores: Scores, least_f1: float) -> None:
    """Finish a trial with its scores, if nobody else has; it is feasible if its F1 reaches `least_f1`."""
    trial.set_constraint("f1", least_f1 - scores.f1)
    if scores.f1 < least_f1:
        trial.set_user_attr(INFEASIBLE, f"F1 {scores.f1:.4f} is below {least_f1:.4f}, the seed prompt's less a margin")
    values = [scores.f1, scores.sensitivity, scores.consistency]
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
