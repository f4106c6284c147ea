"""The exceptions psopt raises on purpose.

::

    PsoptError               everything below; the command line prints it as one line and exits with `exit_code`
    ├── InputError           what the user gave can't be used: a file, a column, an option         exit 2
    │   ├── DataError        … a data file or a task                                               exit 2
    │   ├── DamagedStudyError  … a run's study is damaged, so that it can't be resumed             exit 2
    │   └── UnknownNameError … a name that is not known, with the nearest known one                exit 2
    ├── MissingExtraError    a feature needs an optional dependency                                exit 2
    ├── ModelError           a model could not be loaded or could not answer                       exit 2
    │   ├── NoLabelsError        no answer of a model names a label: nothing can be measured      exit 2
    │   └── AnswersMissingError  some calls failed again and again: the trial fails, not the run   exit 2
    │       └── UnansweredError  … since the server refuses too many of the texts for good         exit 2
    └── BudgetReachedError   a limit that the user set is reached; what was found is saved         exit 3
"""

from __future__ import annotations

import difflib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class PsoptError(Exception):
    """Base of every error psopt raises on purpose; its text says what is wrong, where, and how to fix it."""

    exit_code = 2


class InputError(PsoptError, ValueError):
    """What the user gave can't be used."""


class DataError(InputError):
    """A data file, a task file or a task can't be used."""


class DamagedStudyError(InputError):
    """The storage of a run is damaged: what it held can't be resumed."""


def say_how_to_go_on(error: BaseException, how: str) -> None:
    """Make an error that ends a run say how to continue: in its text or, if the error is not ours, in a note."""
    if isinstance(error, PsoptError):
        message = str(error)
        error.args = (f"{message} {how[0].upper()}{how[1:]}" if message.endswith("?") else f"{message}; {how}",)
    else:
        error.add_note(how)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ``; did you mean 'x'?`` for the name nearest to this one, or nothing; `cutoff` is difflib's."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


class UnknownNameError(InputError):
    """A name is not known; the message suggests the nearest one."""

    def __init__(self, kind: str, name: str, allowed: Iterable[str], hint: str = "") -> None:
        names = sorted(allowed)
        # Below difflib's default of 0.6: these lists are short, and the user surely means one of their names.
        suggestion = nearest(name.lower(), names, cutoff=0.5) or f"; known: {', '.join(names)}"
        message = f"unknown {kind} {name!r}{suggestion}"
        super().__init__(f"{message} ({hint})" if hint else message)


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
        What was found, if it was still scored on test.
    """

    exit_code = 3

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(" .:")


def causes(error: BaseException) -> list[BaseException]:
    """An exception, and those behind it, each once."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def import_extra(module: str, feature: str, extra: str) -> Any:
    """Import an optional dependency; raise MissingExtraError, which says how to install it, if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # The module is installed, but needs another one that is not: installing our extra would not help.
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{feature} needs {module}, which is not installed: pip install 'psopt[{extra}]'"
        ) from error


def import_own(name: str, role: str) -> Any:
    """Import what the user has written, ``MODULE:NAME``, also from modules in the working directory.

    `role` says what it is for, and messages begin with it: ``--program``, ``prompt``. Raises InputError if there is no
    such name, or if importing its module fails.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise InputError(f"{role} {name!r} is not of the form MODULE:NAME")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is imported
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{role} {name}: importing {module_name} failed: {reason}") from error
    if not hasattr(module, attribute):
        raise InputError(f"{role} {name}: {module_name} has no {attribute!r}")
    return getattr(module, attribute)


def import_own_function(name: str, role: str, of: str) -> Callable[..., Any]:
    """Import the user's function, ``MODULE:NAME``, of what `of` says; raises InputError if there is none."""
    function: Callable[..., Any] = import_own(name, role)
    if not callable(function):
        raise InputError(f"{role} {name} is no function of {of}, but a {type(function).__name__}")
    return function
