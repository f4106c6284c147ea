"""One program of the front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._copying import copy_of

if TYPE_CHECKING:
    from psopt.evaluation import Scores
    from psopt.search_spaces import Edit


@dataclass(frozen=True, eq=False)
class ProgramCandidate:
    """A program that was evaluated.

    Attributes
    ----------
    id : str
        Of its prompt, as in the run directory.
    edits : tuple of Edit
        What it has beyond the program that was given.
    val : Scores
        On val under the search rephrasings.
    test : Scores or None
        Under held-out rephrasings, where it was scored.
    """

    id: str
    edits: tuple[Edit, ...]
    val: Scores
    test: Scores | None
    _program: Any

    @property
    def program(self) -> Any:
        """A copy of the program, ready for use."""
        program = copy_of(self._program)
        program._compiled = True  # the mark that DSPy's optimizers leave
        return program
