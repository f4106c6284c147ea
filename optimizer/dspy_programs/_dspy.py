"""dspy itself. This is the only room that imports it when it is loaded; without it, this says how to get it."""

from __future__ import annotations

from psopt.errors import import_extra

dspy = import_extra("dspy", "optimizing a DSPy program", "dspy")
