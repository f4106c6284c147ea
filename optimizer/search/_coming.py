"""The candidates that will be evaluated next: those that wait in the study, and more that the sampler is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import optuna
from optuna.trial import TrialState
from psopt.search_spaces import apply_edits, parameter_names, parameters_of, suggest_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.search._fitting import Fitting
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit, Prompt

_FIXED = "fixed_params"  # where Optuna keeps what `enqueue_trial` was given
_TRIES = 5  # draws for each candidate that the sampler is asked for: many that are known mean that few are left


class ComingCandidate(NamedTuple):
    """A prompt that will be evaluated, and what it adds to the seed prompt."""

    prompt: Prompt
    edits: tuple[Edit, ...]

    @property
    def id(self) -> str:
        """The prompt's id."""
        return self.prompt.id


class ComingCandidates:
    """Looks ahead in a study that no other worker writes to.

    What waits there with parameters left open gets them now, from the sampler, and what the sampler is asked for ahead
    waits there too: so that whoever evaluates candidates one after the other meets these very ones.

    Parameters
    ----------
    study : StoredStudy
    problem : SearchProblem
    fitting : Fitting
        Says what is tried in place of what is too large.
    """

    def __init__(self, study: StoredStudy, problem: SearchProblem, fitting: Fitting) -> None:
        self._study = study
        self._problem = problem
        self._fitting = fitting

    def waiting(self, pool: Sequence[Edit]) -> list[ComingCandidate]:
        """Return the candidates that wait in the study, in their order."""
        copied = self._copy()
        candidates = []
        for trial in self._study.trials_in(TrialState.WAITING):
            fixed = trial.system_attrs.get(_FIXED, {})
            copied.enqueue_trial(fixed)
            candidate, params = self._fitted(copied.ask(), pool)
            candidates.append(candidate)
            if params != fixed:
                self._study.set_hidden_trial_attr(trial.number, _FIXED, {**fixed, **params})
        return candidates

    def ask_ahead(self, pool: Sequence[Edit], known: Iterable[str], n: int) -> list[ComingCandidate]:
        """Ask the sampler for so many new candidates, fewer where it finds none, and let them wait in the study.

        Parameters
        ----------
        pool : sequence of Edit
        known : iterable of str
            Ids of the prompts that are not new.
        n : int
        """
        copied = self._copy()
        seen = set(known)
        candidates: list[ComingCandidate] = []
        for _ in range(_TRIES * n):
            candidate, params = self._fitted(copied.ask(), pool)
            if candidate.id not in seen:
                self._study.enqueue_trial(params)
                candidates.append(candidate)
                seen.add(candidate.id)
            if len(candidates) == n:
                break
        return candidates

    def _copy(self) -> optuna.Study:
        """A study in memory with the same past and the same sampler: asking it leaves no trial behind."""
        copied = optuna.create_study(sampler=self._study.sampler, directions=self._study.directions)
        copied.add_trials(self._study.trials_in(TrialState.COMPLETE))
        return copied

    def _fitted(self, trial: optuna.Trial, pool: Sequence[Edit]) -> tuple[ComingCandidate, dict[str, Any]]:
        """The candidate that is tried for a draw, and its parameters."""
        edits, order = suggest_edits(trial, pool, self._problem.orders)
        prompt = apply_edits(self._problem.baseline_prompt, edits, order)
        fitting = self._fitting.in_place_of(prompt, edits)
        if fitting is None:
            return ComingCandidate(prompt, edits), trial.params
        params = parameters_of(parameter_names(fitting), pool, self._problem.order_parameter(fitting, order))
        return ComingCandidate(apply_edits(self._problem.baseline_prompt, fitting, order), fitting), params
