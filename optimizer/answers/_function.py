"""A function of the user's that reads answers, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.answers._extract import Extract
from psopt.answers._no_label import NO_MATCH
from psopt.errors import InputError, import_own

if TYPE_CHECKING:
    from collections.abc import Callable


class OwnFunction:
    """Takes what a function says that an answer names: a label, or None.

    Parameters
    ----------
    spec : str
        ``MODULE:NAME``; modules in the working directory count.
    """

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._function = _imported(spec)

    def __call__(self, text: str) -> Extract:
        """Return the label that the function names."""
        try:
            label = self._function(text)
        except Exception as error:  # whatever the user's function does
            raise InputError(f"--answer {self._spec} failed on an answer: {_in_a_line(error)}") from error
        if label is None:
            return Extract(None, NO_MATCH)
        if not isinstance(label, str):
            raise InputError(f"--answer {self._spec} returned {label!r}: a label or None is wanted")
        return Extract(label)


def _imported(spec: str) -> Callable[[str], Any]:
    function = import_own(spec, "--answer")
    if not callable(function):
        raise InputError(f"--answer {spec} is no function of an answer, but a {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def _in_a_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
