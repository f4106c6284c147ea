"""dspy itself. Only this module imports it at load time; if it is missing, this says how to install it."""

from __future__ import annotations

from psopt.errors import import_extra

dspy = import_extra("dspy", "optimizing a DSPy program", "dspy")
