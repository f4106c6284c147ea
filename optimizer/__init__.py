"""psopt makes LLM classifiers robust to the wording of their prompts.

Everything public is imported when it is first used, so that ``import psopt`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from psopt._version import __version__

if TYPE_CHECKING:
    from psopt.api import MeasureOptions, Run, compare, diagnose, optimize
    from psopt.diagnosis import PromptReport
    from psopt.dspy_programs import ProgramCandidate, SensitivityOptimizer
    from psopt.models.chat import LMConfig, LmOptions
    from psopt.search_spaces import Edit, Prompt, SearchParts, SearchRestriction
    from psopt.tasks import Sample, Task, load_task

_HOMES = {
    "Edit": "psopt.search_spaces",
    "LMConfig": "psopt.models.chat",
    "LmOptions": "psopt.models.chat",
    "MeasureOptions": "psopt.api",
    "ProgramCandidate": "psopt.dspy_programs",
    "Prompt": "psopt.search_spaces",
    "PromptReport": "psopt.diagnosis",
    "Run": "psopt.api",
    "Sample": "psopt.tasks",
    "SearchParts": "psopt.search_spaces",
    "SearchRestriction": "psopt.search_spaces",
    "SensitivityOptimizer": "psopt.dspy_programs",
    "Task": "psopt.tasks",
    "compare": "psopt.api",
    "diagnose": "psopt.api",
    "load_task": "psopt.tasks",
    "optimize": "psopt.api",
}

__all__ = [
    "Edit",
    "LMConfig",
    "LmOptions",
    "MeasureOptions",
    "ProgramCandidate",
    "Prompt",
    "PromptReport",
    "Run",
    "Sample",
    "SearchParts",
    "SearchRestriction",
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
