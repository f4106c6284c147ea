"""A DSPy program of the user's by its name."""

from __future__ import annotations

from typing import Any

from psopt.dspy_programs._dspy import dspy
from psopt.errors import InputError, import_own


def load_program(name: str) -> Any:
    """Import ``module:attribute``, a `dspy.Module` or what makes one when called; the working directory counts.

    Raises
    ------
    InputError
        If there is none.
    """
    program = import_own(name, "--program")
    if not isinstance(program, dspy.Module) and callable(program):
        program = program()
    if not isinstance(program, dspy.Module):
        raise InputError(f"--program {name} is no dspy.Module but a {type(program).__name__}")
    return program
