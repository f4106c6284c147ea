"""The exceptions psopt raises on purpose.

::

    PsoptError               everything below; the command line prints it as one line and exits with `exit_code`
    ├── InputError           what the user gave can't be used: a file, a column, an option         exit 2
    │   ├── DataError        … a data file or a task                                               exit 2
    │   └── UnknownNameError … a name that is not known, with the nearest known one                exit 2
    ├── MissingExtraError    a feature needs an optional dependency                                exit 2
    ├── ModelError           a model could not be loaded or could not answer                       exit 2
    │   ├── NoLabelsError        no answer of a model names a label: nothing can be measured      exit 2
    │   └── AnswersMissingError  some calls failed again and again: the trial fails, not the run   exit 2
    │       └── UnansweredError  … since the server will never answer too many of the texts        exit 2
    └── BudgetReachedError   a limit that the user set is reached; what was found is saved         exit 3
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class PsoptError(Exception):
    """Base of every error psopt raises on purpose; its text says what, where and how to mend it."""

    exit_code = 2


class InputError(PsoptError, ValueError):
    """What the user gave can't be used."""


class DataError(InputError):
    """A data file, a task file or a task can't be used."""


def say_how_to_go_on(error: BaseException, how: str) -> None:
    """Let an error that ends a run say how to go on: in its text, or, if it is none of ours, in a note."""
    if isinstance(error, PsoptError):
        error.args = (f"{error}; {how}",)
    else:
        error.add_note(how)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the name nearest to this one, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)  # difflib's default
    return f"; did you mean {near[0]!r}?" if near else ""


class UnknownNameError(InputError):
    """A name is not known; the message suggests the nearest one."""

    def __init__(self, kind: str, name: str, allowed: Iterable[str], hint: str = "") -> None:
        names = sorted(allowed)
        # More generous than difflib's default: these lists are short, and one of their names is meant.
        near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
        suggestion = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {suggestion}{f' ({hint})' if hint else ''}")


class MissingExtraError(PsoptError):
    """An optional dependency is not installed."""


class ModelError(PsoptError):
    """A model could not be loaded or could not answer."""


class AnswersMissingError(ModelError):
    """Some of a prompt's answers are missing after all retries, so that it can't be scored."""


class UnansweredError(AnswersMissingError):
    """A server refuses more texts for good than the user allows."""


class NoLabelsError(ModelError):
    """None of a model's answers names a label, so that nothing can be measured with it."""


class BudgetReachedError(PsoptError):
    """A limit on calls, tokens or cost is reached.

    Attributes
    ----------
    run : psopt.Run or None
        What was found, where that was still scored on test.
    """

    exit_code = 3

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


def import_extra(module: str, feature: str, extra: str) -> Any:
    """Import an optional dependency, or say which feature needs it and how to install it.

    Raises
    ------
    MissingExtraError
        If the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # The module is there, but needs another one that is not: installing our extra would not help.
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{feature} needs {module}, which is not installed: pip install 'psopt[{extra}]'"
        ) from error
