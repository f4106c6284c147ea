"""The loop: rounds of diagnose, propose, search."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import optuna
from psopt.diagnosis import diagnose_predictions
from psopt.errors import AnswersMissingError
from psopt.evaluation import score
from psopt.models import capabilities_of
from psopt.proposals import merged_notes, propose_edits, replace_merged
from psopt.search import _study
from psopt.search._front import Candidate, knee, pareto_front
from psopt.search._observer import Observer
from psopt.search._shorten import next_shorter, shortest
from psopt.search._trial_record import Effort, record_trial
from psopt.search.distributed._finished import over_by_others
from psopt.search.distributed._retry import ERRORS, RetryPolicy
from psopt.search.distributed._shared_coordinator import FULL, LocalCoordinator, SharedCoordinator
from psopt.search_spaces import ORDERS, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Evaluator, Predictions
    from psopt.proposals.llm import LLMProposer
    from psopt.search._options import SearchOptions
    from psopt.search_spaces import Edit, Prompt
    from psopt.tasks import Task

Propose = Callable[["Task", "Prompt", "Predictions", "Diagnosis", "Sequence[Edit]"], "list[Edit]"]
"""From a task, a prompt, its predictions on train, their diagnosis and the pool to edits, most to gain first."""

_TRIES_FOR_A_NEW_CANDIDATE = 50
_MOST_FAILURES = 3  # in a row; then it is not chance, and the search stops


class Search:
    """A search in an Optuna study. Everything it knows can be read back from the study, so that it can be gone on with.

    Attributes
    ----------
    candidates : list of Candidate
        Every distinct prompt evaluated so far, the seed prompt first.
    pool : list of Edit
        Every edit proposed so far.
    n_own : int
        How many of the candidates this process evaluated.
    first_diagnosis : Diagnosis or None
        What was wrong with the seed prompt, on train.
    """

    def __init__(
        self,
        task: Task,
        seed_prompt: Prompt,
        evaluator: Evaluator,
        study: optuna.Study,
        options: SearchOptions,
        observer: Observer | None = None,
        proposer: LLMProposer | None = None,
        artifacts: Path | None = None,
        propose: Propose = propose_edits,
        worker: str = "",
        most_own: int | None = None,
    ) -> None:
        self.task, self.seed_prompt, self.evaluator, self.study = task, seed_prompt, evaluator, study
        self.options, self.observer = options, observer or Observer()
        self.proposer, self.artifacts, self._propose_by_rule = proposer, artifacts, propose
        self.candidates: list[Candidate] = []
        self.pool: list[Edit] = []
        self.first_diagnosis: Diagnosis | None = None
        self._failed_in_a_row = 0
        self._orders = ORDERS if capabilities_of(evaluator.model).reads_order else ORDERS[:1]
        self._rng = np.random.default_rng([options.seed, *worker.encode()] if worker else options.seed)
        self._worker, self._patience = worker, RetryPolicy(self.observer.phase)
        partners = SharedCoordinator if worker else LocalCoordinator
        self._partners = partners(study, worker, options.trials, self.observer.phase)
        self._known_trials: set[int] = set()
        self._most_own, self.n_own = most_own, 0
        self._patience.call(self._partners.revive if not worker else lambda: None)
        self._patience.call(self._load)

    @property
    def baseline(self) -> Candidate:
        """The seed prompt, as evaluated."""
        return next(one for one in self.candidates if one.id == self.seed_prompt.id)

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self.baseline.val.f1 - self.options.parts.margin

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front so far, on val."""
        return pareto_front(self.candidates, self.least_f1) if self.candidates else ()

    def run(self) -> None:
        """Run until the total of trials is reached or nothing new can be tried; other workers' trials count."""
        while self._go_on():
            pass
        while (
            self._most_own is None
            and self._patience.call(lambda: self._worker and self._partners.busy)
            and not self._is_complete()
        ):
            self._patience.call(self._partners.wait)
            self._patience.call(self._load)

    def _is_complete(self) -> bool:
        return len(self.candidates) >= self.options.trials or self.n_own == self._most_own

    def _go_on(self) -> bool:
        """Take one step; False when there is nothing left to do."""
        self._patience.call(self._load)
        if self._is_complete():
            return False
        if not self.candidates:
            return self._evaluate_seed_prompt()
        due = self._round_due()
        if len(self._rounds) <= due and not self._begin_round(due) and not self.pool:
            self._patience.call(self._partners.wait)
            return True
        if len(self.candidates) >= self.options.trials - self.options.shortening:
            self._patience.call(self._queue_shorter)
        return self._try_one()

    def _evaluate_seed_prompt(self) -> bool:
        """Evaluate the seed prompt, or wait for the worker that does."""
        partners = self._partners
        if self._worker and self._patience.call(lambda: partners.busy and not partners.queued):
            self._patience.call(partners.wait)
            return True
        if not self._patience.call(lambda: partners.queued):
            self._patience.call(lambda: self.study.enqueue_trial({}))
        self.observer.phase("evaluating the seed prompt")
        return self._try_one()

    def _round_due(self) -> int:
        """The round that the next trial belongs to: the trials after the first are shared out evenly."""
        done, total = len(self.candidates) - 1, max(1, self.options.trials - 1)
        return min(self.options.rounds - 1, done * self.options.rounds // total)

    def _begin_round(self, number: int) -> bool:
        """Diagnose the best prompt so far on train, add what it needs to the pool, and queue the obvious candidates.

        False where another worker does that.
        """
        while len(self._rounds) <= number:
            with self._partners.proposing(len(self._rounds)) as may_propose:
                if not may_propose:
                    return False
                self._load_pool()
                if len(self._rounds) > number:
                    return True
                self._propose_round()
        return True

    def _propose_round(self) -> None:
        incumbent = knee(self.front, self.baseline)
        self.observer.phase(f"round {len(self._rounds) + 1}: diagnosing {incumbent.id} on train")
        on_train = self.evaluator.predictions(incumbent.prompt, "train")
        diagnosis = diagnose_predictions(on_train, labelled=self.task.train)
        self.first_diagnosis = self.first_diagnosis or diagnosis
        known = {edit.id for edit in self.pool}
        parts = self.options.parts
        proposed = parts.allowed(self._propose(incumbent.prompt, on_train, diagnosis.of_views(parts.views)))
        new = first_parameters([edit for edit in proposed if edit.id not in known], self.options.most_edits)
        self._patience.call(lambda: self._add(new))
        self._patience.call(lambda: self._queue(incumbent, new))
        self.observer.phase(f"round {len(self._rounds)}: searching {len(self.pool)} edits")

    def _propose(self, prompt: Prompt, on_train: Predictions, diagnosis: Diagnosis) -> list[Edit]:
        """Propose edits by rule, and by a language model where there is one."""
        proposed = self._propose_by_rule(self.task, prompt, on_train, diagnosis, self.pool)
        if self.proposer is None:
            return proposed
        self.observer.phase(f"{self.proposer.writer.name} drafts edits")
        wordings = self.evaluator.rephrasings.search
        written = self.proposer.propose(self.task, prompt, on_train, diagnosis, wordings, [*self.pool, *proposed])
        return sorted([*proposed, *written], key=lambda edit: (-edit.gain, edit.id))

    def _queue(self, incumbent: Candidate, new: list[Edit]) -> None:
        """Queue the obvious: the incumbent with all new edits, with plain families of them, and with the best few."""
        notes = [edit for edit in new if edit.kind == "note"]
        definitions = [edit for edit in new if edit.kind == "definition"]
        whole_labels = [edit for edit in definitions if edit.provenance.topic in self.task.labels]
        best = [edit for edit in new if edit.gain > 0]
        for chosen in (new, notes + definitions, notes + whole_labels, notes, best[: (len(best) + 1) // 2]):
            _study.enqueue(self.study, _switches((*incumbent.edits, *chosen)), self.pool, self._order_of(incumbent))

    def _try_one(self) -> bool:
        """Evaluate one candidate that was not evaluated before; False when none can be found."""
        for _ in range(_TRIES_FOR_A_NEW_CANDIDATE):
            trial = self._patience.call(self.study.ask)
            if not self._patience.call(lambda trial=trial: self._partners.has(trial)):  # type: ignore[misc]
                continue
            with over_by_others(trial):  # they took this worker for dead while the storage was away
                if self._try(trial):
                    return True
        return False

    def _try(self, trial: optuna.Trial) -> bool:
        """Evaluate a trial's candidate, or drop it; True when that was a step."""
        with self._partners.heartbeat(trial):
            edits, order = self._patience.call(lambda: self._suggested(trial))
            prompt = apply_edits(self.seed_prompt, edits, order)
            twin = next((one for one in self.candidates if one.id == prompt.id), None)
            reason = f"duplicate of trial {twin.trial}" if twin else self._claim(trial, prompt)
            if reason is None:
                self._evaluate(trial, prompt, edits, order)
                return True
        self._patience.call(lambda: self._drop(trial, reason))
        if self._worker:
            self._patience.call(self._load)
            if self._is_complete() or reason == FULL:
                self._patience.call(self._partners.wait)
                return True
        self._patience.call(lambda: self._queue_neighbour(edits))
        return False

    def _suggested(self, trial: optuna.Trial) -> tuple[tuple[Edit, ...], str]:
        if self._worker:
            self._load_pool()  # what waits may hold edits that have come since
        return _study.suggest(trial, self.pool, self._orders)

    def _claim(self, trial: optuna.Trial, prompt: Prompt) -> str | None:
        return self._patience.call(lambda: self._partners.claim(trial, prompt.id))

    def _drop(self, trial: optuna.Trial, reason: str) -> None:
        with over_by_others(trial):
            trial.set_user_attr("dropped", reason)
            self.study.tell(trial, state=optuna.trial.TrialState.PRUNED, skip_if_finished=True)

    def _evaluate(self, trial: optuna.Trial, prompt: Prompt, edits: tuple[Edit, ...], order: str) -> None:
        """Score a trial's candidate and record it; whatever fails on the way fails the trial."""
        before, started = replace(self.evaluator.budget.usage), time.monotonic()
        try:
            predictions = self.evaluator.predictions(prompt, "val")
            candidate = Candidate(trial.number, prompt, edits, score(predictions), order=order)
            effort = Effort.between(before, self.evaluator.budget.usage, time.monotonic() - started)
            is_recorded = self._patience.call(lambda: self._record(trial, candidate, predictions, effort))
        except BaseException as error:
            with contextlib.suppress(*ERRORS):  # where the storage is away too, whoever resumes the search fails it
                self._fail(trial, error)
            self._failed_in_a_row += 1
            if isinstance(error, AnswersMissingError) and self.candidates and self._failed_in_a_row < _MOST_FAILURES:
                self.observer.phase(f"trial {trial.number} failed: {error}")
                return
            if trial.params:  # it is not the candidate's fault: whoever resumes the search tries it again
                with contextlib.suppress(*ERRORS):
                    self.study.enqueue_trial(trial.params)
            raise
        self._failed_in_a_row = 0
        if is_recorded:
            self.n_own += 1
            self._take(candidate)

    def _fail(self, trial: optuna.Trial, error: BaseException) -> None:
        with over_by_others(trial):
            trial.set_user_attr("failed", f"{type(error).__name__}: {error}"[:500])
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL, skip_if_finished=True)

    def _record(self, trial: optuna.Trial, candidate: Candidate, predictions: Predictions, effort: Effort) -> bool:
        """Write a candidate to its trial and finish it; False if others took this worker for dead and failed it."""
        baseline = self.baseline if self.candidates else candidate
        with over_by_others(trial) as finished:
            record_trial(trial, candidate, baseline, predictions, effort, self.artifacts)
            if predictions.metric_scores is None:
                _study.keep_answers(trial, predictions)
            _study.tell(self.study, trial, candidate.val, baseline.val.f1 - self.options.parts.margin)
        return finished.state == optuna.trial.TrialState.COMPLETE

    def _take(self, candidate: Candidate) -> None:
        """Take a candidate into account."""
        self._known_trials.add(candidate.trial)
        self.candidates.append(candidate)
        self.candidates.sort(key=lambda one: one.trial)
        self.observer.trial(candidate, len(self.candidates), self.options.trials)

    @property
    def shortest(self) -> Candidate:
        """The candidate with fewest edits that is no worse than the knee by more than one standard error."""
        chosen = knee(self.front, self.baseline)
        feasible = [one for one in self.candidates if one.val.f1 >= self.least_f1]
        return shortest(feasible, chosen, self._on_val, self.options.seed)

    def _on_val(self, candidate: Candidate) -> Predictions:
        return self.evaluator.predictions(candidate.prompt, "val")

    def _queue_shorter(self) -> None:
        """Put a shorter version of the best prompt in front of what is queued."""
        known = {one.id for one in self.candidates}
        base = self.shortest
        for edits in (self._merged(base), *next_shorter(base, self.candidates, self.pool)):
            if apply_edits(self.seed_prompt, edits, base.order).id not in known:
                if new := [edit for edit in edits if edit not in self.pool]:
                    self._add(new)
                _study.drop_queued(self.study)
                _study.enqueue(self.study, _switches(edits), self.pool, self._order_of(base))
                return

    def _merged(self, candidate: Candidate) -> tuple[Edit, ...]:
        """A candidate's edits with the notes of each label in one: those of rules by rule, others by their author."""
        if len(self._rounds) < self.options.rounds:  # its edits count as a round of their own, after all others
            return candidate.edits
        merged = merged_notes(candidate.edits, self.task.labels, self.task.noun)
        if self.proposer is not None:
            merged += self.proposer.merge(self.task, replace_merged(candidate.edits, merged))
        return replace_merged(candidate.edits, merged)

    def _add(self, edits: list[Edit]) -> None:
        """Add a round's edits to the pool."""
        _study.keep_pool(self.study, len(self._rounds), edits, self._worker)
        self._load_pool()

    def _queue_neighbour(self, edits: tuple[Edit, ...]) -> None:
        """In place of a candidate that is known already, queue one that differs from it by one or two edits."""
        if not self.pool:
            return
        on, switches = _switches(edits), list(dict.fromkeys(edit.parameter_name for edit in self.pool))
        n_flips = int(self._rng.integers(1, 1 + min(2, len(switches))))
        for index in self._rng.choice(len(switches), size=n_flips, replace=False):
            on ^= {switches[int(index)]}
        _study.enqueue(self.study, on, self.pool)

    def _order_of(self, candidate: Candidate) -> str | None:
        """The order of a candidate's examples, where it holds any and the order is searched."""
        return candidate.order if len(self._orders) > 1 and candidate.prompt.examples else None

    def _load(self) -> None:
        """Read what is new in the study: what an earlier, interrupted search left, and what other workers did."""
        finished = self.study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
        new = [trial for trial in finished if trial.number not in self._known_trials]
        if new or self._worker or not self.pool:
            self._load_pool()  # after the trials, so that no trial has an edit that is not known
        first = not self._known_trials
        for trial in new:
            edits, order = _study.chosen_edits(trial.params, self.pool)
            prompt = apply_edits(self.seed_prompt, edits, order)
            answers = _study.kept_answers(trial)
            if answers is not None:
                self.evaluator.remember(prompt, "val", *answers)
            scores = score(self.evaluator.predictions(prompt, "val"))
            self._known_trials.add(trial.number)
            self.candidates.append(Candidate(trial.number, prompt, edits, scores, order=order))
            if not first:
                self.observer.trial(self.candidates[-1], len(self.candidates), self.options.trials)
        self.candidates.sort(key=lambda one: one.trial)

    def _load_pool(self) -> None:
        self._rounds = _study.kept_pools(self.study)
        self.pool = [edit for new in self._rounds for edit in new]


def _switches(edits: Iterable[Edit]) -> set[str]:
    return {edit.parameter_name for edit in edits}


def first_parameters(edits: Sequence[Edit], most: int) -> list[Edit]:
    """The edits of the first `most` switches."""
    first = list(dict.fromkeys(edit.parameter_name for edit in edits))[:most]
    return [edit for edit in edits if edit.parameter_name in first]
