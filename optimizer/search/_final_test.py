"""The end of a search: which candidates the gate tests, which are scored on test, and in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import BudgetReachedError
from psopt.evaluation import intervals_note, score
from psopt.search._front import R, knee
from psopt.settings import GATE_MARGIN
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Scores
    from psopt.search._front import Candidate
    from psopt.search._search import Search
    from psopt.search._state import SearchState


def scoring_order(
    baseline: Candidate, front: Sequence[R], shortest: R | None = None, nominated: Sequence[R] = ()
) -> list[R | Candidate]:
    """Return which candidates are scored on test, the most important first.

    First come the original prompt and the nominees, without which the gate cannot decide. Then the knee, the best in
    each defined objective, the shortest prompt, and the rest of the front by descending F1.
    """
    first = sorted(front, key=lambda candidate: candidate.trial)
    best = [max(first, key=lambda candidate: candidate.val.gains[place]) for place in range(len(baseline.val.gains))]
    order: list[R | Candidate | None] = [baseline, *nominated, knee(front, baseline), *best, shortest, *front]
    return list({candidate.id: candidate for candidate in order if candidate}.values())


def score_on_test(search: Search, order: Sequence[Candidate]) -> tuple[dict[str, Candidate], list[Candidate]]:
    """Score candidates on val and test with intervals, in this order, as far as the budget allows.

    Returns those that were scored, by id, and those whose test the budget no longer covered; a shorter one later in the
    order may still have been scored. Raises BudgetReachedError if the budget does not cover the original prompt.
    """
    scored: dict[str, Candidate] = {}
    unpaid: list[Candidate] = []
    for candidate in order:
        try:
            test = search.problem.evaluator.predictions(candidate.prompt, "test")
        except BudgetReachedError:
            if candidate.id == search.state.baseline.id:
                raise
            unpaid.append(candidate)
            continue
        val = search.problem.evaluator.predictions(candidate.prompt, "val")
        scored[candidate.id] = replace(candidate, val=score(val, intervals=True), test=score(test, intervals=True))
    return scored, unpaid


def nominees(state: SearchState) -> tuple[Candidate, ...]:
    """Return the candidates that the gate tests, in its order of preference: the shortest, and the knee.

    With a small val, one standard error is wide, so the knee comes first if it is better by more than a point in F1 or
    S. Val alone decides, because the gate's error rate holds only if test had no part in the choice. The baseline is
    never among them: it is kept if none passes.
    """
    if not state.front:
        return ()
    best, shortest = knee(state.front, state.baseline), state.shortest
    order = [shortest, best]
    if (best.val.gains[:2] - shortest.val.gains[:2] > GATE_MARGIN).any():
        order.reverse()
    return tuple({candidate.id: candidate for candidate in order if candidate.id != state.baseline.id}.values())


def size_line(candidate: Candidate) -> str:
    """Give N and Q of val and test, and say what the intervals cover."""
    sizes = f"val {_size(candidate.val)}"
    if candidate.test:
        sizes += f", test {_size(candidate.test)}"
    measured = "S is" if candidate.val.consistency is None else "S and C are"
    return f"{measured} of {sizes}. {intervals_note(candidate.test or candidate.val)}."


def _size(scores: Scores) -> str:
    return f"{counted(scores.n_samples or 0, 'sample')} x {counted(scores.n_rephrasings or 0, 'wording')}"
