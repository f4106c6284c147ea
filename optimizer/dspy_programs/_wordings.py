"""The instructions of a program said otherwise: every step's, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.rephrasings import Checks, rephrasings_for, write_rephrasings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.models.chat import Writer
    from psopt.rephrasings import Closeness, Judge, RephrasingSet
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class Checking:
    """How rephrasings that a language model writes are checked.

    Attributes
    ----------
    keep_labels : bool
        Whether they must name the labels that the original enumerates.
    judge : callable or None
        Says whether two texts ask for the same.
    closeness : callable or None
        How near two texts are in meaning.
    """

    keep_labels: bool = True
    judge: Judge | None = None
    closeness: Closeness | None = None


@dataclass(frozen=True)
class Wordings:
    """One wording is one rephrasing of the instructions of every step.

    Attributes
    ----------
    rephrasings : RephrasingSet
        Of the step that gives the outcome; its texts name the wordings.
    instructions : mapping of text to mapping of step to str
        What each wording makes of each step's instructions.
    """

    rephrasings: RephrasingSet
    instructions: Mapping[str, Mapping[str, str]]

    @property
    def original(self) -> Mapping[str, str]:
        """The instructions as the program has them."""
        return self.instructions[self.rephrasings.search[0]]


def freeze_wordings(
    program: Any,
    step: str,
    task: Task,
    n_search: int,
    n_heldout: int,
    seed: int,
    writer: Writer | None,
    checking: Checking | None = None,
) -> Wordings:
    """Rephrase the instructions of each step, by rule or by a language model.

    Parameters
    ----------
    step : str
        The step that gives the outcome.
    checking : Checking, optional
        How what a language model has written is checked.

    Raises
    ------
    InputError
        If there are not enough rephrasings.
    """
    given = {name: predictor.signature.instructions for name, predictor in program.named_predictors()}
    sets = {
        name: _rephrase(text, task, n_search, n_heldout, seed, writer, checking or Checking())
        for name, text in given.items()
    }
    wordings: dict[str, Mapping[str, str]] = {}
    for number, text in enumerate(sets[step].search):
        wordings[text] = given if number == 0 else {name: one.search[number] for name, one in sets.items()}
    for number, text in enumerate(sets[step].heldout):
        wordings[text] = {name: one.heldout[number] for name, one in sets.items()}
    return Wordings(sets[step], wordings)


def _rephrase(
    instructions: str,
    task: Task,
    n_search: int,
    n_heldout: int,
    seed: int,
    writer: Writer | None,
    checking: Checking,
) -> RephrasingSet:
    if writer is None:
        return rephrasings_for(task, n_search, n_heldout, description=instructions, seed=seed)
    original = " ".join(instructions.split())
    checks = Checks(original, task.labels, checking.keep_labels, checking.closeness, judge=checking.judge)
    return write_rephrasings(writer, checks, n_search, n_heldout)
