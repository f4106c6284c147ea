"""Several races at once: what all of them ask for next is asked for in one request."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from psopt.search.racing._race import Ask

    Answers = NDArray[np.int64]
    Cells = NDArray[np.bool_]


class Runner(Protocol):
    """A race that can be run again and again: it asks for the same as long as it is answered the same."""

    def __call__(self, ask: Ask, siblings: Mapping[str, Answers]) -> None:
        """Ask about ever more cells, until it is over; `siblings` are the answers of the races before it."""
        ...


class _CellsMissing(Exception):  # noqa: N818  # no error: a race that waits
    def __init__(self, cells: Cells) -> None:
        super().__init__()
        self.cells = cells


def run_in_lockstep(
    runners: Mapping[str, Runner],
    shape: tuple[int, int],
    ask_all: Callable[[Mapping[str, Cells]], Mapping[str, Answers]],
) -> int:
    """Run races side by side, and ask in one request for what each of them has to know next.

    A race is run from its beginning whenever more is known, until it asks for what is not: so it need not know that it
    is not alone. Its decisions cost microseconds, a request by batches up to a day.

    Parameters
    ----------
    runners : dict of id to callable
        In the order in which they would be run one after the other.
    shape : (N, Q)
        Of the grid.
    ask_all : callable
        From the cells that are to be known, by the ids of the races that wait, to all the answers that they have.

    Returns
    -------
    n_requests : int
    """
    answers: dict[str, Answers] = {name: np.full(shape, -1, dtype=np.int64) for name in runners}
    waiting = [*runners]
    n_requests = 0
    while waiting:
        next_cells = {name: _next_cells(name, runners[name], answers) for name in waiting}
        missing = {name: cells for name, cells in next_cells.items() if cells is not None}
        if missing:
            answers |= ask_all(missing)
            n_requests += 1
        waiting = [*missing]
    return n_requests


def _next_cells(name: str, run: Runner, answers: Mapping[str, Answers]) -> Cells | None:
    """The cells that a race waits for; None if it is over."""

    def ask(cells: Cells) -> Answers:
        if (answers[name][cells] < 0).any():
            raise _CellsMissing(cells)
        return answers[name]

    before = dict(itertools.takewhile(lambda item: item[0] != name, answers.items()))
    try:
        run(ask, before)
    except _CellsMissing as missing:
        return missing.cells
    return None
