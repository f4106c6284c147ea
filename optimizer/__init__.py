"""psopt makes LLM classifiers robust to the wording of their prompts.

Everything public is imported when it is first used, so that ``import psopt`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psopt.comparing import compare
    from psopt.diagnosing import PromptReport, diagnose
    from psopt.measuring import MeasureOptions
    from psopt.models.chat import LmOptions
    from psopt.optimization import Run, optimize
    from psopt.parts import SearchParts
    from psopt.programs import ProgramCandidate, SensitivityOptimizer
    from psopt.prompts import Edit, Prompt
    from psopt.tasks import Sample, Task, load_task

__version__ = "0.1.0"

_HOMES = {
    "Edit": "psopt.prompts",
    "LmOptions": "psopt.models.chat",
    "MeasureOptions": "psopt.measuring",
    "ProgramCandidate": "psopt.programs",
    "Prompt": "psopt.prompts",
    "PromptReport": "psopt.diagnosing",
    "Run": "psopt.optimization",
    "Sample": "psopt.tasks",
    "SearchParts": "psopt.parts",
    "SensitivityOptimizer": "psopt.programs",
    "Task": "psopt.tasks",
    "compare": "psopt.comparing",
    "diagnose": "psopt.diagnosing",
    "load_task": "psopt.tasks",
    "optimize": "psopt.optimization",
}

__all__ = [
    "Edit",
    "LmOptions",
    "MeasureOptions",
    "ProgramCandidate",
    "Prompt",
    "PromptReport",
    "Run",
    "Sample",
    "SearchParts",
    "SensitivityOptimizer",
    "Task",
    "__version__",
    "compare",
    "diagnose",
    "load_task",
    "optimize",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'psopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
