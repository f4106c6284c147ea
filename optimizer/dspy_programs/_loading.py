"""A DSPy program of the user's by its name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from psopt.dspy_programs._dspy import dspy
from psopt.errors import InputError


def load_program(name: str) -> Any:
    """Import ``module:attribute``, a `dspy.Module` or what makes one when called; the working directory counts.

    Raises
    ------
    InputError
        If there is none.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise InputError(f"--program {name!r} is not of the form module:attribute")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is imported
        raise InputError(
            f"--program {name}: importing {module_name} failed: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, attribute):
        raise InputError(f"--program {name}: {module_name} has no {attribute!r}")
    program = getattr(module, attribute)
    if not isinstance(program, dspy.Module) and callable(program):
        program = program()
    if not isinstance(program, dspy.Module):
        raise InputError(f"--program {name} is no dspy.Module but a {type(program).__name__}")
    return program
