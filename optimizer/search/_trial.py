"""One trial, from its prompt to its end: complete with scores, stopped with estimates, dropped, or failed."""

from __future__ import annotations

import contextlib
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from optuna.trial import TrialState
from psopt.errors import AnswersMissingError
from psopt.evaluation import objective_values, score, shares_line
from psopt.search._front import Candidate, pareto_front
from psopt.search.distributed._storage import OUTAGES
from psopt.search.distributed._stored_study import AUDIT, DROPPED, FAILED, INFEASIBLE, PROMPT_ID, RACED
from psopt.search.racing._candidate_races import HELD, RIGHT, WRONG, StoppedCandidate
from psopt.search_spaces import render_instructions, render_shown
from psopt.text import escaped_markdown, fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import optuna
    from psopt.evaluation import PartialAnswers, Predictions, Scores
    from psopt.models.chat import Budget
    from psopt.search._front import Tried
    from psopt.search._state import SearchState
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit, Prompt

    Effort = Callable[[], dict[str, float]]

_LONGEST_REASON = 500  # characters of an error that a trial keeps


def drop_trial(study: StoredStudy, trial: optuna.Trial, reason: str) -> None:
    """Finish a trial whose prompt will not be evaluated."""
    _finish(study, trial, TrialState.PRUNED, DROPPED, reason)


def _finish(study: StoredStudy, trial: optuna.Trial, state: TrialState, attribute: str, reason: str) -> None:
    with study.finished_by_others(trial.number):
        trial.set_user_attr(attribute, reason)
        study.tell(trial, state=state, skip_if_finished=True)


# The constraint of a stopped candidate is at least this, even if it loses next to nothing: 0 or less is feasible.
_LEAST_VIOLATION = 1e-6
_MOST_FAILURES = 3  # in a row; that is hardly chance, and the search stops


@dataclass(frozen=True, slots=True)
class Draw:
    """What a trial tries: the original prompt with edits, and the order of its examples."""

    trial: optuna.Trial
    prompt: Prompt
    edits: tuple[Edit, ...]
    order: str


class CandidateTrials:
    """Evaluates the candidates of trials, and finishes the trials."""

    def __init__(self, study: StoredStudy, state: SearchState) -> None:
        self._study = study
        self._state = state
        self._problem = state.problem
        self._races = state.races
        self._failed_in_a_row = 0

    def evaluate(self, draw: Draw) -> Tried | None:
        """Evaluate a trial's candidate; None if the trial fails for refused answers, or others have finished it."""
        try:
            candidate = self._outcome(draw)
        except BaseException as error:
            self._failed_in_a_row += 1
            # it may be the candidate's fault: examples of its own that a server refuses, for instance
            may_be_its_own = isinstance(error, AnswersMissingError) and bool(self._state.history.candidates)
            may_go_on = may_be_its_own and self._failed_in_a_row < _MOST_FAILURES
            self._give_up(draw.trial, error, try_again=not may_go_on)
            if not may_go_on:
                raise
            self._problem.observer.phase(f"trial {draw.trial.number} failed: {error}")
            return None
        self._failed_in_a_row = 0
        return candidate

    def _outcome(self, draw: Draw) -> Tried | None:
        effort = effort_meter(self._problem.evaluator.budget)
        if not self._state.history.candidates:
            return self._complete(draw, effort)
        rivals = self._state.rivals(draw.prompt, draw.edits)
        result = self._races.run(draw.prompt, rivals, is_shortening=self._state.is_shortening)
        if result.rung is None or self._races.is_whole(result.rung):
            return self._complete(draw, effort, is_audited=result.is_audited)
        scores = self._races.estimates(draw.prompt, result.rung)
        stopped = StoppedCandidate(
            draw.trial.number, draw.prompt, draw.edits, scores, result.rung, HELD, order=draw.order
        )
        if result.is_audited:
            stopped = replace(stopped, audit=self._audit(stopped, rivals))
        if result.reason and stopped.audit != WRONG:
            stopped = replace(stopped, reason=result.reason)
        # how far it is from being worth its whole grid: 0 or less is feasible, which held ones may be
        violation = self._state.least_f1 - stopped.val.f1
        if not stopped.is_held:
            violation = max(violation, result.shortfall, _LEAST_VIOLATION)
        answers = self._problem.evaluator.partial_answers(stopped.prompt, "val")
        return self._completed(draw.trial, stopped, {RACED: stopped.raced, **effort()}, violation, answers)

    def _complete(self, draw: Draw, effort: Effort, *, is_audited: bool = False) -> Tried | None:
        """Score a trial's prompt and record it."""
        predictions = self._problem.evaluator.predictions(draw.prompt, "val")
        candidate = Candidate(draw.trial.number, draw.prompt, draw.edits, score(predictions), order=draw.order)
        attributes = {**attributes_of(candidate.val), **effort()}
        others = self._state.history.candidates
        if is_audited:
            candidate = replace(candidate, audit=self._audit(candidate, others))
        baseline = self._state.baseline if others else candidate
        least_f1 = baseline.val.f1 - self._problem.options.parts.margin
        if candidate.val.f1 < least_f1:
            attributes[INFEASIBLE] = (
                f"F1 {candidate.val.f1:.4f} is below {least_f1:.4f}, the original prompt's less a margin"
            )
        is_judged = predictions.metric_scores is not None or predictions.same is not None  # it would be asked again
        answers = None if is_judged else predictions
        return self._completed(draw.trial, candidate, attributes, least_f1 - candidate.val.f1, answers)

    def _completed(
        self,
        trial: optuna.Trial,
        candidate: Tried,
        attributes: dict[str, Any],
        violation: float,
        answers: Predictions | PartialAnswers | None,
    ) -> Tried | None:
        """Finish a trial with what is known; None if others took this worker for dead and failed the trial."""
        values = list(objective_values(candidate.val).values())
        with self._study.finished_by_others(trial.number):
            record(trial, candidate, attributes)
            if answers is not None:
                self._study.write_answers(trial.number, answers)
            trial.set_constraint("f1", violation)
            # With an explicit state, a value that is not a number is an error; without it, Optuna just fails the trial.
            self._study.tell(trial, values, state=TrialState.COMPLETE, skip_if_finished=True)
        return candidate if self._study.read_trial(trial.number).state == TrialState.COMPLETE else None

    def _audit(self, candidate: Tried, others: Sequence[Tried]) -> str:
        """Whether stopping a candidate would have been right: it would not if it belongs on the front of others."""
        front = pareto_front([*others, candidate], self._state.least_f1)
        return WRONG if any(member is candidate for member in front) else RIGHT

    def _give_up(self, trial: optuna.Trial, error: BaseException, *, try_again: bool) -> None:
        """Fail a trial and, unless that is the candidate's fault, queue it for a resumed search, if possible."""
        reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        with self._study.retry_policy.suspended():
            with contextlib.suppress(*OUTAGES):
                _finish(self._study, trial, TrialState.FAIL, FAILED, reason)
            with contextlib.suppress(*OUTAGES):
                if try_again and trial.params:
                    self._study.enqueue_trial(trial.params)


def effort_meter(budget: Budget) -> Effort:
    """Return what measures what a trial takes from now on: requests, tokens, US dollars and seconds."""
    before, started = replace(budget.usage), time.monotonic()

    def read() -> dict[str, float]:
        after = budget.usage
        return {
            "calls": after.made - before.made,
            "tokens": after.tokens - before.tokens,
            "cost_usd": after.cost - before.cost,
            "seconds": round(time.monotonic() - started, 3),
        }

    return read


def attributes_of(scores: Scores) -> dict[str, Any]:
    """Return what a trial keeps of its scores beside its values."""
    attributes: dict[str, Any] = {
        "per_class": {label: asdict(of_class) for label, of_class in scores.per_class.items()},
        "na_rate": scores.na_rate,
    }
    if scores.constant is not None:
        attributes["constant"] = f"always answers {scores.constant}"
    if scores.shares is not None and scores.shares.is_hollow:
        attributes["shares"] = asdict(scores.shares)
    return attributes


def record(trial: optuna.Trial, candidate: Tried, attributes: dict[str, Any]) -> None:
    """Write a candidate's attributes to its trial and, if all its answers are known, its note in Markdown."""
    from optuna_dashboard import save_note

    attributes = {PROMPT_ID: candidate.id, "edits": [str(edit) for edit in candidate.edits], **attributes}
    if candidate.audit:
        attributes[AUDIT] = candidate.audit
    for name, value in attributes.items():
        trial.set_user_attr(name, value)
    if isinstance(candidate, Candidate):
        save_note(trial, note(candidate))


def note(candidate: Candidate) -> str:
    """Describe a prompt and what it adds in Markdown; all text from data is escaped or fenced."""
    parts = [f"# Prompt {candidate.id}"]
    if candidate.val.constant is not None:
        parts.append(
            f"**It always answers {escaped_markdown(candidate.val.constant)}**: S = 0 and C = 1 are worth nothing."
        )
    elif lopsided := shares_line(candidate.val.to_dict(), "It"):
        parts.append(escaped_markdown(lopsided))
    added = [f"- {edit.kind}: {escaped_markdown(str(edit))}" for edit in candidate.edits]
    parts += ["## Added to the original prompt", "\n".join(added) or "Nothing: this is the original prompt."]
    shown = fenced(render_instructions(candidate.prompt))
    if candidate.prompt.template is not None:  # as a diff, so that additions stand out
        shown = fenced(render_shown(candidate.prompt, marked=True), "diff")
    parts += ["## The prompt", shown]
    return "\n\n".join(parts) + "\n"
