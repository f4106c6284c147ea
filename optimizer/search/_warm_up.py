"""Where answers come in batches: the coming candidates are asked about together, before each has its turn.

One candidate's rungs are batches of some eighty lines, one after the other, of which each may take a day. So the next
candidates race side by side first, and the batch of a rung holds what all that are left ask for. That fills the answer
cache and decides nothing: then each has its turn, as if nothing had been asked, and is answered from the cache.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from psopt.errors import AnswersMissingError, BudgetReachedError
from psopt.models.chat import asks_in_chat
from psopt.search._coming import ComingCandidate, ComingCandidates
from psopt.search.racing import run_in_lockstep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator, Split
    from psopt.search._fitting import Fitting
    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search._standings import Standings
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import Ask, CandidateRaces, StoppedCandidate
    from psopt.search_spaces import Edit, Prompt

T = TypeVar("T")

# Of candidates that the sampler is asked for before it hears of each other's scores: as many as it draws at random
# before it begins to learn (`_sampler`).
_AHEAD = 8


def asks_in_batches(evaluator: Evaluator) -> bool:
    """Whether what is asked in one request is answered much sooner than in several."""
    return asks_in_chat(evaluator.model) and evaluator.model.engine.batches is not None


class WarmUp:
    """Asks about the coming candidates of a search, where that is done in batches and no other worker takes part.

    Parameters
    ----------
    study : StoredStudy
    problem : SearchProblem
    history : History
    standings : Standings
        Whom candidates race against.
    races : CandidateRaces
    fitting : Fitting
        Says what is tried in place of what is too large.
    is_alone : bool
        Whether no other worker may take part.
    """

    def __init__(
        self,
        study: StoredStudy,
        problem: SearchProblem,
        history: History,
        standings: Standings,
        races: CandidateRaces,
        fitting: Fitting,
        *,
        is_alone: bool,
    ) -> None:
        self._problem = problem
        self._history = history
        self._standings = standings
        self._races = races
        self._is_alone = is_alone
        self._warm: set[str] = set()
        self._coming = ComingCandidates(study, problem, fitting)

    @property
    def is_due(self) -> bool:
        """Whether there may be anything to do."""
        return self._is_alone and bool(self._history.candidates) and asks_in_batches(self._problem.evaluator)

    def of_next(self, n_places: int, pool: Sequence[Edit]) -> None:
        """Ask about the next candidates, if the very next one is cold.

        Parameters
        ----------
        n_places : int
            How many candidates will be evaluated before anything else comes.
        pool : sequence of Edit
            What is searched.
        """
        if not self.is_due:
            return
        known = {candidate.id for candidate in self._history.evaluated}
        waiting = {coming.id: coming for coming in self._coming.waiting(pool) if coming.id not in known}
        if waiting.keys() and next(iter(waiting)) in self._warm:
            return
        n_ahead = max(0, min(_AHEAD, n_places - len(waiting)))
        ahead = self._coming.ask_ahead(pool, known | waiting.keys(), n_ahead)
        self.of_all([*waiting.values(), *ahead][:n_places], is_shortening=False)

    def of_further(self, held: Sequence[StoppedCandidate]) -> None:
        """Ask about the next rung of each of these that are held, in one request."""
        if not self.is_due or len(held) <= 1:
            return
        baseline = self._standings.baseline
        cells = {prompt.id: self._races.cells(self._races.after(prompt, baseline), baseline) for prompt in held}
        prompts = [candidate.prompt for candidate in held]
        _as_far_as_paid(
            prompts,
            lambda chosen: self._problem.evaluator.ask_ahead(chosen, "val", [cells[prompt.id] for prompt in chosen]),
        )

    def of_all(self, candidates: Sequence[ComingCandidate], *, is_shortening: bool) -> None:
        """Ask about those of these candidates that are cold, as far as their races against what is known now go."""
        if not self.is_due:
            return
        cold = [*{coming.id: coming for coming in candidates if coming.id not in self._warm}.values()]
        self._warm |= {coming.id for coming in cold}
        if len(cold) < (1 if is_shortening else 2):  # nothing to merge
            return
        self._problem.observer.phase(f"asking about {len(cold)} candidates together")
        _as_far_as_paid(cold, partial(self._lockstep, is_shortening=is_shortening))

    def _lockstep(self, candidates: Sequence[ComingCandidate], *, is_shortening: bool) -> None:
        baseline = self._standings.baseline
        by_id = {coming.id: coming for coming in candidates}
        evaluator = self._problem.evaluator
        shape = evaluator.partial_answers(baseline.prompt, "val").array.shape
        whole = np.ones(shape, dtype=np.bool_)

        def run(coming: ComingCandidate, ask: Ask, siblings: Mapping[str, NDArray[np.int64]]) -> None:
            prompt = coming.prompt
            rivals = self._standings.rivals(coming)
            others = {
                name: answers
                for name, answers in siblings.items()
                if not is_shortening and self._standings.is_rival(by_id[name], coming)
            }
            result = self._races.run(prompt, rivals, baseline, is_shortening=is_shortening, ask=ask, siblings=others)
            if result.rung is None:
                ask(whole)
            elif result.stop and (audited := self._races.audit_rung(prompt, result.rung, baseline)):
                ask(self._races.cells(audited, baseline))

        def ask_all(cells: Mapping[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.int64]]:
            wanted = list(cells.values())
            if is_shortening:  # few of these stop early, and they come one by one: better a batch less
                wanted = [self._races.widened(rung, baseline) for rung in wanted]
            answers = evaluator.ask_ahead([by_id[name].prompt for name in cells], "val", wanted)
            return dict(zip(cells, answers, strict=True))

        run_in_lockstep({name: partial(run, coming) for name, coming in by_id.items()}, shape, ask_all)


def ask_together(evaluator: Evaluator, prompts: Sequence[Prompt], split: Split) -> None:
    """Ask for the whole grids of several prompts in one request, where that comes in batches; nothing else changes."""
    if not asks_in_batches(evaluator):
        return

    def ask(chosen: Sequence[Prompt]) -> None:
        shape = evaluator.partial_answers(chosen[0], split).array.shape
        evaluator.ask_ahead(chosen, split, [np.ones(shape, dtype=np.bool_)] * len(chosen))

    _as_far_as_paid(prompts, ask)


def _as_far_as_paid(prompts: Sequence[T], ask: Callable[[Sequence[T]], object]) -> None:
    """Ask about as many of these, the first ones, as limits allow.

    What fails for good will fail again, for the prompt whose fault it is, when it has its turn.
    """
    n = len(prompts)
    while n:
        try:
            ask(prompts[:n])
        except BudgetReachedError:  # more than is left, or than is held back for the test
            n //= 2
        except AnswersMissingError:
            return
        else:
            return
