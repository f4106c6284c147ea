"""One candidate's evaluation: it races, and its trial ends with scores, with estimates, or as failed."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import AnswersMissingError
from psopt.search._front import pareto_front
from psopt.search._trial import evaluate_trial, fail_trial, stop_trial
from psopt.search._trial_record import EffortMeter
from psopt.search.distributed import OUTAGES
from psopt.search.racing import HELD, NOT_ESTIMATED, RIGHT, WRONG, StoppedCandidate

if TYPE_CHECKING:
    import optuna
    from psopt.search._front import Candidate
    from psopt.search._state import SearchState
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import RaceResult
    from psopt.search_spaces import Edit, Prompt

# Of the constraint of a candidate that stopped, where it loses next to nothing: feasible is what is 0 or less.
_LEAST_VIOLATION = 1e-6
_MOST_FAILURES = 3  # in a row; then it is not chance, and the search stops


class CandidateTrials:
    """Evaluates the candidates of trials, and finishes these.

    Parameters
    ----------
    study : StoredStudy
    state : SearchState
        Whom candidates race against.
    """

    def __init__(self, study: StoredStudy, state: SearchState) -> None:
        self._study = study
        self._state = state
        self._problem = state.problem
        self._races = state.races
        self._failed_in_a_row = 0

    def evaluate(
        self, trial: optuna.Trial, prompt: Prompt, edits: tuple[Edit, ...], order: str
    ) -> Candidate | StoppedCandidate | None:
        """Evaluate a trial's candidate; None if the trial fails, or others have finished it.

        Raises
        ------
        Exception
            Whatever came in between, once the trial has failed; but the first refused answers of a candidate, which may
            be its own fault, only fail its trial.
        """
        try:
            candidate = self._outcome(trial, prompt, edits, order)
        except BaseException as error:
            self._failed_in_a_row += 1
            if not self._may_go_on_after(error):
                self._give_up(trial, error, try_again=True)
                raise
            self._give_up(trial, error, try_again=False)
            self._problem.observer.phase(f"trial {trial.number} failed: {error}")
            return None
        self._failed_in_a_row = 0
        return candidate

    def _outcome(
        self, trial: optuna.Trial, prompt: Prompt, edits: tuple[Edit, ...], order: str
    ) -> Candidate | StoppedCandidate | None:
        meter = EffortMeter(self._problem.evaluator.budget)
        if not self._state.history.candidates:
            return evaluate_trial(self._study, trial, prompt, edits, order, self._problem, None, meter)
        baseline = self._state.baseline
        rivals = self._state.rivals(prompt, edits)
        result = self._races.run(prompt, rivals, is_shortening=self._state.is_shortening)
        rung = result.rung
        audited = self._races.audit_rung(prompt, rung) if rung and result.stop else None
        if audited:
            self._races.ask(prompt, audited)
        if rung is None or self._races.is_whole(audited or rung):
            others = self._state.history.candidates if audited else ()
            return evaluate_trial(self._study, trial, prompt, edits, order, self._problem, baseline, meter, others)
        reason = str(result.stop or HELD)
        asked = StoppedCandidate(trial.number, prompt, edits, audited or rung, reason, NOT_ESTIMATED, order)
        stopped = self._state.history.estimated(asked)
        if audited:
            stopped = self._judged(stopped)
        answers = self._problem.evaluator.partial_answers(prompt, "val")
        return stop_trial(self._study, trial, stopped, answers, self._violation(stopped, result), meter)

    def _judged(self, stopped: StoppedCandidate) -> StoppedCandidate:
        """An audited candidate, after more was asked: held if it would stand on the front, as if it had not stopped."""
        leaders = pareto_front([*self._state.rivals(stopped.prompt, stopped.edits), stopped], self._state.least_f1)
        if any(leader is stopped for leader in leaders):
            return replace(stopped, reason=HELD, audit=WRONG)
        return replace(stopped, audit=RIGHT)

    def _violation(self, stopped: StoppedCandidate, result: RaceResult) -> float:
        """How far a candidate is from being worth its whole grid: feasible at 0 or less, as those held may be."""
        lacking = self._state.least_f1 - stopped.val.f1
        if stopped.is_held or result.stop is None:
            return lacking
        return max(lacking, result.stop.shortfall, _LEAST_VIOLATION)

    def _may_go_on_after(self, error: BaseException) -> bool:
        """Whether an error may be the candidate's fault: its own examples, say, that a server refuses."""
        is_after_the_baseline = bool(self._state.history.candidates)
        return (
            isinstance(error, AnswersMissingError) and is_after_the_baseline and self._failed_in_a_row < _MOST_FAILURES
        )

    def _give_up(self, trial: optuna.Trial, error: BaseException, *, try_again: bool) -> None:
        """Fail a trial, and queue it for whoever resumes the search if it is not the candidate's fault.

        Where the storage is away too, that is left to the one who resumes.
        """
        with self._study.retry_policy.suspended():
            with contextlib.suppress(*OUTAGES):
                fail_trial(self._study, trial, error)
            if try_again and trial.params:
                with contextlib.suppress(*OUTAGES):
                    self._study.enqueue_trial(trial.params)
