"""Who stands for the gate: the prompts that may be recommended, chosen by val alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._front import knee

if TYPE_CHECKING:
    from psopt.search._front import Candidate
    from psopt.search._search import Search


def nominees(search: Search) -> tuple[Candidate, ...]:
    """Return the candidates that the gate looks at, in the order in which it prefers them: the shortest, then the knee.

    The shortest is as good as the knee by one standard error on val, and less of it is luck. The choice is by val alone, for the gate's error holds only where test has chosen nothing. The baseline is never
    among them: it is what is kept where none passes.
    """
    if not search.front:
        return ()
    chosen = (search.shortest, knee(search.front, search.baseline))
    return tuple({candidate.id: candidate for candidate in chosen if candidate.id != search.baseline.id}.values())
