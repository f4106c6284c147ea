"""Candidates that are tried before the sampler's draws: where they come from, whether they fit, and where they wait.

A search may try prompts above the size limit: what helps in a large prompt shows which edits a small one needs. The
first round also tries a prompt within the limit, so that even small searches have one to recommend. If the user has
limited the tokens per call, nothing above that is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from optuna.trial import TrialState
from psopt.proposals import merged_notes, replace_merged, with_support
from psopt.search._shorten import edit_worths, next_shorter, shortest
from psopt.search._trial import drop_trial
from psopt.search.racing import StoppedCandidate
from psopt.search_spaces import CALIBRATE, apply_edits, parameter_names, parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.search._front import Tried
    from psopt.search._problem import SearchProblem
    from psopt.search._state import SearchState
    from psopt.search.distributed._coordinator import Coordinator
    from psopt.search.distributed._stored_study import StoredStudy
    from psopt.search_spaces import Edit


class Choice(NamedTuple):
    """A candidate to be tried: its edits, which may be new, and the order of its examples, unless that is drawn."""

    edits: tuple[Edit, ...]
    order: str | None = None

    @classmethod
    def like(cls, candidate: Tried, edits: tuple[Edit, ...], problem: SearchProblem) -> Choice:
        """A choice of these edits, with its examples in the order of another candidate's."""
        if problem.reads_order and candidate.prompt.examples:
            return cls(edits, candidate.order)
        return cls(edits)


def first_candidates(coordinator: Coordinator, state: SearchState) -> list[Choice]:
    """Return the baseline, and each of the edits that a search begins with, unless a worker has already begun."""
    if state.history.candidates or state.history.has_queued or coordinator.is_busy():
        return []
    return [Choice(()), *(Choice((edit,)) for edit in state.problem.first_edits)]


def shorter_versions(state: SearchState) -> list[Choice]:
    """In the last trials, return the best prompt's edits merged by label, then shorter versions of it, one by one."""
    if not state.history.candidates or not state.is_shortening:
        return []
    base = _base(state)
    choices = [_merged(state, base), *next_shorter(base, state.history.evaluated, state.pool)]
    evaluated_ids = {candidate.id for candidate in state.history.evaluated}
    untried = (edits for edits in choices if state.history.prompt_of(edits, base.order).id not in evaluated_ids)
    return [Choice.like(base, edits, state.problem) for edits in untried][:1]


def _base(state: SearchState) -> Tried:
    """The prompt to shorten: the shortest that is as good as the best, once both were asked about all samples."""
    while True:
        best = state.best
        pair = (best, shortest(state.standing, best, state.is_as_good))
        narrow = next((prompt for prompt in pair if state.races.is_narrow(prompt)), None)
        if not isinstance(narrow, StoppedCandidate):
            return pair[1]
        state.history.ask_further(narrow)


def _merged(state: SearchState, candidate: Tried) -> tuple[Edit, ...]:
    """A candidate's edits, after all rounds with each label's notes by rule merged into one."""
    problem, task = state.problem, state.problem.task
    if len(state.history.rounds) < problem.options.rounds:
        return candidate.edits
    merged = merged_notes(candidate.edits, task.labels, task.noun)
    if problem.no_verbatim is not None:
        merged = problem.no_verbatim.allowed(merged)
    return replace_merged(candidate.edits, with_support(merged, task))


TOO_LARGE = "larger than --max-prompt-tokens allows: the best of its edits are tried in its place"
TOO_LONG = "longer than the model reads: the best of its edits are tried in its place"
UNCALIBRATED = "the original prompt is nearly constant or a guess, and so it stays without calibration: tried with it"
"""Why a trial was dropped."""


def obvious(state: SearchState, new: Sequence[Edit], *, is_first: bool) -> list[tuple[Edit, ...]]:
    """Return which of a round's edits are tried first, with the best prompt's; in round 1 also the best that fit."""
    problem = state.problem
    reads_examples = problem.reads_order or problem.options.parts.examples_allowed > 0
    families = _families(new, problem.task.labels, with_examples_alone=is_first and reads_examples)
    choices = [(*state.best.edits, *family) for family in families]
    if is_first and problem.limits.most_tokens is None:  # early, so that small searches have one too
        everything = (*state.best.edits, *new)
        choices.insert(choices.index(everything) + 1, best_within(state, everything))
    return list(dict.fromkeys(in_place_of(state, edits) for edits in choices))


def objection(state: SearchState, edits: Sequence[Edit]) -> str:
    """Return why other edits are tried in place of a draw; empty for a draw that may be tried."""
    if not state.history.candidates:
        return ""
    return UNCALIBRATED if _needs_calibration(state, edits) else _excess(state, edits)


def in_place_of(state: SearchState, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits to try for a draw: the draw's own, with calibration if that is needed, as far as they fit."""
    if objection(state, edits) == UNCALIBRATED:
        edits = (CALIBRATE, *edits)
    if not objection(state, edits):
        return edits
    return best_within(state, edits, lambda state, edits: not _excess(state, edits))


def _allows(state: SearchState, edits: Sequence[Edit]) -> bool:
    return state.problem.limits.allow(apply_edits(state.problem.baseline_prompt, edits), edits)


def _excess(state: SearchState, edits: Sequence[Edit]) -> str:
    """The user's token limit, and what models can read, bound what is tried; 25 edits bound recommendations alone."""
    if state.problem.limits.most_tokens is not None and not _allows(state, edits):
        return TOO_LARGE
    return "" if state.problem.can_read(apply_edits(state.problem.baseline_prompt, edits)) else TOO_LONG


def best_within(
    state: SearchState, edits: tuple[Edit, ...], allows: Callable[[SearchState, Sequence[Edit]], bool] = _allows
) -> tuple[Edit, ...]:
    """Choose the most useful edits, as far as the limits allow; all of them if they fit.

    Their use is estimated from the trials so far or, before these show anything, from what proposers expect. Bundles
    stay together, and the edits keep their order.
    """
    if allows(state, edits):
        return edits
    worths = edit_worths(state.history.evaluated, state.pool)
    ranked = sorted(edits, key=lambda edit: (-worths.get(edit.parameter_name, 0.0), -edit.gain))
    selection = {edit for edit in edits if edit.kind == "calibration"}  # does not count as an edit
    for name in dict.fromkeys(edit.parameter_name for edit in ranked):
        larger = selection | {edit for edit in edits if edit.parameter_name == name}
        if allows(state, [edit for edit in edits if edit in larger]):
            selection = larger
    return tuple(edit for edit in edits if edit in selection)


def _needs_calibration(state: SearchState, edits: Sequence[Edit]) -> bool:
    """Whether trying these edits without calibration would waste a trial.

    If a model answers the original prompt nearly always in the same way, or guesses, only calibration changes that:
    SmolLM2 on TREC has F1 .02 to .03 under definitions, notes and examples without it, .40 to .56 with it.
    """
    if CALIBRATE in edits or not edits or CALIBRATE not in state.pool:
        return False
    return CALIBRATE in state.best.edits and state.baseline.val.is_hollow


def _families(new: Sequence[Edit], labels: Sequence[str], *, with_examples_alone: bool) -> list[Sequence[Edit]]:
    """Return all of a round's edits, plain families of them, and the better half.

    Examples alone (the first of each label, then all) are for models that read them as turns of a conversation: there
    they make answers more stable than any text does (`experiments/example_turns.py`).
    """
    notes = [edit for edit in new if edit.kind == "note"]
    definitions = [edit for edit in new if edit.kind == "definition"]
    of_whole_labels = [edit for edit in definitions if edit.provenance.topic in labels]
    gaining = [edit for edit in new if edit.gain > 0]
    better_half = gaining[: (len(gaining) + 1) // 2]
    examples = [edit for edit in new if edit.kind == "example"]
    families = [new, notes + definitions, notes + of_whole_labels, notes, better_half]
    if with_examples_alone and examples:
        first_of_each_label = [edit for edit in examples if edit.bundle == examples[0].bundle]
        families = [first_of_each_label, examples, *families]
    return families


_TRIES_FOR_A_NEIGHBOUR = 30  # to find one that is not known yet: they cost no answers, and nothing is stored
_MOST_FLIPS = 2  # edits by which a neighbour differs from a known candidate


class CandidateQueue:
    """Queues candidates ahead of the sampler's draws; each of several workers draws neighbours of its own."""

    def __init__(self, study: StoredStudy, state: SearchState, worker: str) -> None:
        self._study = study
        self._state = state
        self._history = state.history
        self._worker = worker
        self._rng = np.random.default_rng([state.problem.options.seed, *worker.encode()])

    def put(self, choices: Sequence[Choice]) -> None:
        """Queue candidates; edits that the pool lacks are written to the study first, as one more round."""
        pool_ids = {edit.id for edit in self._history.pool}
        new = {edit.id: edit for choice in choices for edit in choice.edits if edit.id not in pool_ids}
        if new:
            self._history.add_edits(new.values(), self._worker)
        for choice in choices:
            self._enqueue(choice.edits, choice.order)

    def put_untried(self, edits: tuple[Edit, ...], order: str) -> None:
        """Queue edits, or similar ones if these are known already, so that no trial is spent on known ones."""
        n_subsets = 2 ** len({edit.parameter_name for edit in self._history.pool})
        for _ in range(min(_TRIES_FOR_A_NEIGHBOUR, n_subsets)):
            if self._history.find(self._history.prompt_of(edits, order).id) is None:
                break
            edits = self.neighbour(edits)
        is_searched = self._state.problem.reads_order and any(edit.kind == "example" for edit in edits)
        self._enqueue(edits, order if is_searched else None)

    def _enqueue(self, edits: tuple[Edit, ...], order: str | None) -> None:
        self._study.enqueue_trial(parameters_of(parameter_names(edits), self._history.pool, order))

    def neighbour(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return edits that differ from these by one or two, as far as they fit."""
        names = list(dict.fromkeys(edit.parameter_name for edit in self._history.pool))
        if not names:
            return edits
        active_names = parameter_names(edits)
        n_flips = int(self._rng.integers(1, 1 + min(_MOST_FLIPS, len(names))))
        for index in self._rng.choice(len(names), size=n_flips, replace=False):
            active_names ^= {names[int(index)]}
        near = tuple(edit for edit in self._history.pool if edit.parameter_name in active_names)
        return in_place_of(self._state, near)

    def drop_all(self) -> None:
        """Drop all queued trials; one that another worker takes at the same time stays with that worker."""
        for _ in self._study.trials_in(TrialState.WAITING):
            drop_trial(self._study, self._study.ask(), "a shorter prompt is tried in its place")
