"""The loop: rounds of diagnose, propose, search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import optuna
from psopt.diagnosis import diagnose_predictions
from psopt.errors import AnswersMissingError
from psopt.models import reads_order
from psopt.prompts import ORDERS, apply_edits
from psopt.proposals import merged_notes, propose_edits, with_merged
from psopt.scoring import score
from psopt.search import _study
from psopt.search._front import Candidate, knee, pareto_front
from psopt.search._observer import Observer
from psopt.search._shorten import next_shorter, shortest
from psopt.search._trial_record import Effort, record_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Predictions
    from psopt.evaluator import Evaluator
    from psopt.prompts import Edit, Prompt
    from psopt.proposals.written import WrittenProposer
    from psopt.search._options import SearchOptions
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
        proposer: WrittenProposer | None = None,
        artifacts: Path | None = None,
        propose: Propose = propose_edits,
    ) -> None:
        self.task, self.seed_prompt, self.evaluator, self.study = task, seed_prompt, evaluator, study
        self.options, self.observer = options, observer or Observer()
        self.proposer, self.artifacts, self._propose_by_rule = proposer, artifacts, propose
        self.candidates: list[Candidate] = []
        self.pool: list[Edit] = []
        self.first_diagnosis: Diagnosis | None = None
        self._failed_in_a_row = 0
        self._orders = ORDERS if reads_order(evaluator.model) else ORDERS[:1]
        self._rng = np.random.default_rng(options.seed)
        self._load()

    @property
    def baseline(self) -> Candidate:
        """The seed prompt, as evaluated in trial 0."""
        return self.candidates[0]

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self.baseline.val.f1 - self.options.margin

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front so far, on val."""
        return pareto_front(self.candidates, self.least_f1) if self.candidates else ()

    def run(self) -> None:
        """Run until the total of trials is reached or nothing new can be tried."""
        if not self.candidates:
            self.observer.phase("evaluating the seed prompt")
            self.study.enqueue_trial({})
            self._try_one()
        while len(self.candidates) < self.options.trials:
            if len(self._rounds) <= self._round_due():
                self._begin_round(self._round_due())
            if len(self.candidates) >= self.options.trials - self.options.shortening:
                self._queue_shorter()
            if not self._try_one():
                break

    def _round_due(self) -> int:
        """The round that the next trial belongs to: the trials after the first are shared out evenly."""
        done, total = len(self.candidates) - 1, max(1, self.options.trials - 1)
        return min(self.options.rounds - 1, done * self.options.rounds // total)

    def _begin_round(self, number: int) -> None:
        """Diagnose the best prompt so far on train, add what it needs to the pool, and queue the obvious candidates."""
        while len(self._rounds) <= number:
            incumbent = knee(self.front, self.baseline)
            self.observer.phase(f"round {len(self._rounds) + 1}: diagnosing {incumbent.id} on train")
            on_train = self.evaluator.predictions(incumbent.prompt, "train")
            diagnosis = diagnose_predictions(on_train, known=self.task.train)
            self.first_diagnosis = self.first_diagnosis or diagnosis
            known = {edit.id for edit in self.pool}
            proposed = self._propose(incumbent.prompt, on_train, diagnosis)
            new = _first_switches([edit for edit in proposed if edit.id not in known], self.options.most_edits)
            self._add(new)
            self._queue(incumbent, new)
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
            trial = self.study.ask()
            edits, order = _study.suggest(trial, self.pool, self._orders)
            prompt = apply_edits(self.seed_prompt, edits, order)
            twin = next((one for one in self.candidates if one.id == prompt.id), None)
            if twin is None:
                self._evaluate(trial, prompt, edits, order)
                return True
            trial.set_user_attr("duplicate_of", twin.trial)
            self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            self._queue_neighbour(edits)
        return False

    def _evaluate(self, trial: optuna.Trial, prompt: Prompt, edits: tuple[Edit, ...], order: str) -> None:
        before, started = replace(self.evaluator.budget.usage), time.monotonic()
        try:
            predictions = self.evaluator.predictions(prompt, "val")
            scores = score(predictions)
        except BaseException as error:
            trial.set_user_attr("failed", f"{type(error).__name__}: {error}"[:500])
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
            self._failed_in_a_row += 1
            if isinstance(error, AnswersMissingError) and self.candidates and self._failed_in_a_row < _MOST_FAILURES:
                self.observer.phase(f"trial {trial.number} failed: {error}")
                return
            if trial.params:  # it is not the candidate's fault: whoever resumes the search tries it again
                self.study.enqueue_trial(trial.params)
            raise
        self._failed_in_a_row = 0
        candidate = Candidate(trial.number, prompt, edits, scores, order=order)
        self.candidates.append(candidate)
        effort = Effort.between(before, self.evaluator.budget.usage, time.monotonic() - started)
        record_trial(trial, candidate, self.baseline, predictions, effort, self.artifacts)
        _study.tell(self.study, trial, scores, self.least_f1)
        self.observer.trial(candidate, len(self.candidates), self.options.trials)

    @property
    def short(self) -> Candidate:
        """The candidate with fewest edits that is no worse than the knee by more than one standard error."""
        chosen = knee(self.front, self.baseline)
        feasible = [one for one in self.candidates if one.val.f1 >= self.least_f1]
        return shortest(feasible, chosen, self._on_val, self.options.seed)

    def _on_val(self, candidate: Candidate) -> Predictions:
        return self.evaluator.predictions(candidate.prompt, "val")

    def _queue_shorter(self) -> None:
        """Put a shorter version of the best prompt in front of what is queued."""
        known = {one.id for one in self.candidates}
        short = self.short
        for edits in (self._merged(short), *next_shorter(short, self.candidates, self.pool)):
            if apply_edits(self.seed_prompt, edits, short.order).id not in known:
                if new := [edit for edit in edits if edit not in self.pool]:
                    self._add(new)
                _study.drop_queued(self.study)
                _study.enqueue(self.study, _switches(edits), self.pool, self._order_of(short))
                return

    def _merged(self, candidate: Candidate) -> tuple[Edit, ...]:
        """A candidate's edits with the notes of each label in one: those of rules by rule, others by their author."""
        if len(self._rounds) < self.options.rounds:  # its edits count as a round of their own, after all others
            return candidate.edits
        merged = merged_notes(candidate.edits, self.task.labels, self.task.noun)
        if self.proposer is not None:
            merged += self.proposer.merge(self.task, with_merged(candidate.edits, merged))
        return with_merged(candidate.edits, merged)

    def _add(self, edits: list[Edit]) -> None:
        """Add a round's edits to the pool."""
        _study.keep_pool(self.study, len(self._rounds), edits)
        self._rounds.append(edits)
        self.pool += edits

    def _queue_neighbour(self, edits: tuple[Edit, ...]) -> None:
        """In place of a candidate that is known already, queue one that differs from it by one or two edits."""
        if not self.pool:
            return
        on, switches = _switches(edits), list(dict.fromkeys(edit.switch for edit in self.pool))
        n_flips = int(self._rng.integers(1, 1 + min(2, len(switches))))
        for index in self._rng.choice(len(switches), size=n_flips, replace=False):
            on ^= {switches[int(index)]}
        _study.enqueue(self.study, on, self.pool)

    def _order_of(self, candidate: Candidate) -> str | None:
        """The order of a candidate's examples, where it holds any and the order is searched."""
        return candidate.order if len(self._orders) > 1 and candidate.prompt.examples else None

    def _load(self) -> None:
        """Read back what an earlier, interrupted search left in the study."""
        self._rounds = _study.kept_pools(self.study)
        self.pool = [edit for new in self._rounds for edit in new]
        for trial in self.study.trials:
            if trial.state == optuna.trial.TrialState.RUNNING:  # left by a crash: nobody runs it any more
                self.study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
                if trial.params:
                    self.study.enqueue_trial(trial.params)
            if trial.state == optuna.trial.TrialState.COMPLETE:
                edits, order = _study.chosen_edits(trial.params, self.pool)
                prompt = apply_edits(self.seed_prompt, edits, order)
                scores = score(self.evaluator.predictions(prompt, "val"))
                self.candidates.append(Candidate(trial.number, prompt, edits, scores, order=order))


def _switches(edits: Iterable[Edit]) -> set[str]:
    return {edit.switch for edit in edits}


def _first_switches(edits: Sequence[Edit], most: int) -> list[Edit]:
    """The edits of the first `most` switches."""
    first = list(dict.fromkeys(edit.switch for edit in edits))[:most]
    return [edit for edit in edits if edit.switch in first]
