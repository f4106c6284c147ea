"""psopt makes LLM classifiers robust to the wording of their prompts.

Everything public is imported when it is first used, so that ``import psopt`` stays cheap.
"""

from __future__ import annotations

import functools
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

from psopt._version import __version__

if TYPE_CHECKING:
    from psopt.api import (
        CheckResult,
        Classified,
        Comparison,
        ComparisonResult,
        Exported,
        Migration,
        Verification,
        check,
        classify,
        compare,
        diagnose,
        estimate,
        export,
        load_run,
        measure,
        migrate,
        optimize,
        rephrase,
        resume,
        worker,
    )
    from psopt.diagnosis import PromptReport
    from psopt.dspy_programs import ProgramCandidate, SensitivityOptimizer
    from psopt.runs import CostEstimate, Run
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import LMConfig, MeasureOptions, PromptOptions, RephrasingOptions, SearchRestriction
    from psopt.tasks import Sample, Task, load_task

_HOMES = {  # of every name that is not in psopt.api
    "psopt.diagnosis": ("PromptReport",),
    "psopt.dspy_programs": ("ProgramCandidate", "SensitivityOptimizer"),
    "psopt.runs": ("CostEstimate", "Run"),
    "psopt.search_spaces": ("Edit", "Prompt"),
    "psopt.settings": ("LMConfig", "MeasureOptions", "PromptOptions", "RephrasingOptions", "SearchRestriction"),
    "psopt.tasks": ("Sample", "Task", "load_task"),
}

__all__ = [
    "CheckResult",
    "Classified",
    "Comparison",
    "ComparisonResult",
    "CostEstimate",
    "Edit",
    "Exported",
    "LMConfig",
    "MeasureOptions",
    "Migration",
    "ProgramCandidate",
    "Prompt",
    "PromptOptions",
    "PromptReport",
    "RephrasingOptions",
    "Run",
    "Sample",
    "SearchRestriction",
    "SensitivityOptimizer",
    "Task",
    "Verification",
    "__version__",
    "check",
    "classify",
    "compare",
    "diagnose",
    "estimate",
    "export",
    "load_run",
    "load_task",
    "measure",
    "migrate",
    "optimize",
    "rephrase",
    "resume",
    "worker",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = next((home for home, names in _HOMES.items() if name in names), "psopt.api")
        attribute = getattr(importlib.import_module(home), name)
        return _for_python(attribute) if isinstance(attribute, FunctionType) else attribute
    raise AttributeError(f"module 'psopt' has no attribute {name!r}")


@functools.cache
def _for_python(verb: FunctionType) -> Any:
    """The same function; messages of its errors name keywords in place of the command line's options."""
    from psopt.settings import spelled_for_python

    spelled = spelled_for_python()(verb)
    spelled.__module__ = __name__  # where `pickle` finds it
    return spelled


def __dir__() -> list[str]:
    return sorted(__all__)
