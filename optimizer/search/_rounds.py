"""When rounds begin, what each is about to diagnose and propose, and which candidates are obvious then."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import diagnose_predictions, without_suspects
from psopt.evaluation import pooled
from psopt.rephrasings import is_english
from psopt.search._sources import Choice, obvious
from psopt.search.racing._race import Rung, Schedule
from psopt.search_spaces import allowed_edits, first_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Evaluator, Predictions
    from psopt.search._problem import SearchProblem
    from psopt.search._state import SearchState
    from psopt.search.distributed._coordinator import Coordinator
    from psopt.search_spaces import Edit, Prompt


class RoundsOfEdits:
    """Begins a round when one is due, unless another worker is doing so, and returns its obvious candidates."""

    def __init__(self, diagnoses: TrainDiagnoses, coordinator: Coordinator) -> None:
        self._diagnoses = diagnoses
        self._coordinator = coordinator

    def next(self, state: SearchState, *, is_early: bool = False) -> list[Choice]:
        """Begin the rounds up to the next trial's, if it `is_early` one more; none before the first candidates."""
        history = state.history
        choices: list[Choice] = []
        if not history.candidates or (not history.rounds and history.has_queued):
            return choices
        options, begun = state.problem.options, len(history.rounds)
        due = begun
        if not is_early:  # the trials after the first are divided evenly among the rounds
            due = max(begun - 1, (state.n_done - 1) * options.rounds // max(1, options.trials - 1))
        due = min(options.rounds - 1, due)
        while len(history.rounds) <= due:
            with self._coordinator.proposing(len(history.rounds)) as may_propose:
                if not may_propose:
                    return choices
                history.refresh_pool()  # others may have been faster
                if len(history.rounds) <= due:
                    choices += self._begin(state)
        return choices

    def _begin(self, state: SearchState) -> list[Choice]:
        """Diagnose the best prompt so far on train, add edits for it to the pool; return the obvious candidates."""
        problem, history = state.problem, state.history
        number = len(history.rounds) + 1
        incumbent = state.best
        problem.observer.phase(f"round {number}: diagnosing {incumbent.id} on train")
        if number == 1 and problem.proposer is None and not is_english(incumbent.prompt.description):
            problem.observer.phase(
                "notes by rule are in English; --proposer MODEL writes them in the prompt's language"
            )
        new = _new_edits(problem, incumbent.prompt, history.pool, self._diagnoses)
        history.add_edits(new, self._coordinator.worker)
        problem.observer.phase(f"round {number}: searching {len(history.pool)} edits")
        return [Choice.like(incumbent, edits, problem) for edits in obvious(state, new, is_first=number == 1)]


def _new_edits(problem: SearchProblem, prompt: Prompt, pool: Sequence[Edit], diagnoses: TrainDiagnoses) -> list[Edit]:
    """Return the edits that a round adds to the pool, largest expected gain first."""
    restriction = problem.options.parts
    # Nothing should be learnt from a sample whose label may be wrong.
    on_train = without_suspects(diagnoses.predictions(prompt), labelled=problem.task.train)
    diagnosis = diagnose_predictions(on_train, labelled=problem.task.train).of_views(restriction.views)
    proposed = _propose(problem, prompt, on_train, diagnosis, pool)
    if restriction.without:
        names = {name for edit in proposed for name in (edit.id, edit.parameter_name)}
        left_out = ", ".join(name for name in restriction.without if name in names)
        if left_out or not pool:
            problem.observer.phase(f"--without leaves out {left_out or 'none of the first edits'}")
    proposed = allowed_edits(proposed, restriction)
    left_out_ids = {edit.id for edit in pool}
    if problem.no_verbatim is not None:
        objections = problem.no_verbatim.refused(proposed)
        left_out_ids |= set(objections)
        if problem.proposer is not None:
            problem.proposer.refuse({edit: objections[edit.id] for edit in proposed if edit.id in objections})
    return first_parameters([edit for edit in proposed if edit.id not in left_out_ids], problem.options.most_edits)


def _propose(
    problem: SearchProblem, prompt: Prompt, on_train: Predictions, diagnosis: Diagnosis, pool: Sequence[Edit]
) -> list[Edit]:
    """Propose edits by rule, and by a language model where there is one."""
    task, checks = problem.task, problem.checks
    by_rule = problem.propose(task, prompt, on_train, diagnosis, pool, checks, problem.reads_order)
    if problem.proposer is None or problem.proposer.unfit:
        return by_rule
    problem.observer.phase(f"{problem.proposer.writer.name} drafts edits")
    by_model = problem.proposer.propose(
        task, prompt, on_train, diagnosis, [*pool, *by_rule], checks, problem.observer.answers
    )
    if problem.proposer.unfit:
        problem.observer.phase(f"{problem.proposer.unfit}: edits are made by rule; --proposer takes another model")
    elif not is_english(prompt.description):  # the writer's notes are in the prompt's language
        by_rule = [edit for edit in by_rule if edit.kind != "note"]
    return sorted([*by_rule, *by_model], key=lambda edit: (-edit.gain, edit.id))


DIAGNOSED_WORDINGS = 2  # it takes two to see whether a sample is unstable


class TrainDiagnoses:
    """Asks prompts about train, as much as a diagnosis needs: if it `is_partial`, each sample under two wordings."""

    def __init__(self, evaluator: Evaluator, seed: int, *, is_partial: bool) -> None:
        self.is_partial = is_partial
        self._evaluator = evaluator
        self._seed = seed

    def predictions(self, prompt: Prompt) -> Predictions:
        """Return what a prompt's diagnosis is based on, pooled over several models; nothing is asked twice."""
        if not self.is_partial:
            return pooled(self._evaluator.predictions(prompt, "train"))
        self._evaluator.answers(prompt, "train", self.cells)
        return self._evaluator.predictions_so_far(prompt, "train")

    @cached_property
    def cells(self) -> NDArray[np.bool_]:
        """The cells that partial diagnoses ask about, (N, Q): every wording equally often, within each class too."""
        samples = self._evaluator.samples["train"]
        n_wordings = len(self._evaluator.rephrasings.on("train")[0])
        _, classes = np.unique([str(sample.label) for sample in samples], return_inverse=True)
        return Schedule(classes, n_wordings, self._seed).cells(Rung(len(samples), DIAGNOSED_WORDINGS))
