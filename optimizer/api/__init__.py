"""What psopt does, a function a verb: it wires the rooms and computes nothing.

Names are imported when they are first used: a verb loads what it needs, and no other verb's parts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psopt.api._check import RESTS_ON_NA, requirements
    from psopt.api._classify import Classified, Home, classify_texts, home_of
    from psopt.api._compare import Contender, compare
    from psopt.api._diagnose import diagnose
    from psopt.api._estimate import CostEstimate, Phase, estimate_measuring, estimate_run, estimate_writing
    from psopt.api._measure import MeasureOptions, measure
    from psopt.api._optimize import N_HELDOUT, Run, carry_out, optimize, search_and_record
    from psopt.api._worker import work

_HOMES = {
    "N_HELDOUT": "psopt.api._optimize",
    "RESTS_ON_NA": "psopt.api._check",
    "Classified": "psopt.api._classify",
    "Contender": "psopt.api._compare",
    "CostEstimate": "psopt.api._estimate",
    "Home": "psopt.api._classify",
    "MeasureOptions": "psopt.api._measure",
    "Phase": "psopt.api._estimate",
    "Run": "psopt.api._optimize",
    "carry_out": "psopt.api._optimize",
    "classify_texts": "psopt.api._classify",
    "compare": "psopt.api._compare",
    "diagnose": "psopt.api._diagnose",
    "estimate_measuring": "psopt.api._estimate",
    "estimate_run": "psopt.api._estimate",
    "estimate_writing": "psopt.api._estimate",
    "home_of": "psopt.api._classify",
    "measure": "psopt.api._measure",
    "optimize": "psopt.api._optimize",
    "requirements": "psopt.api._check",
    "search_and_record": "psopt.api._optimize",
    "work": "psopt.api._worker",
}

__all__ = [
    "N_HELDOUT",
    "RESTS_ON_NA",
    "Classified",
    "Contender",
    "CostEstimate",
    "Home",
    "MeasureOptions",
    "Phase",
    "Run",
    "carry_out",
    "classify_texts",
    "compare",
    "diagnose",
    "estimate_measuring",
    "estimate_run",
    "estimate_writing",
    "home_of",
    "measure",
    "optimize",
    "requirements",
    "search_and_record",
    "work",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'psopt.api' has no attribute {name!r}")
