"""What psopt does, a function a verb: it wires the rooms and computes nothing.

Names are imported when they are first used: a verb loads what it needs, and no other verb's parts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psopt.api._check import CheckResult, check, further_pinned, pinned_samples
    from psopt.api._classify import Classified, Classifier, classify, input_columns, prompt_to_classify_with
    from psopt.api._compare import Comparison, ComparisonResult, compare
    from psopt.api._diagnose import diagnose
    from psopt.api._estimate import estimate, estimate_measuring, estimate_rephrasing, estimate_run
    from psopt.api._export import Exported, export
    from psopt.api._load_run import load_run
    from psopt.api._measure import measure
    from psopt.api._optimize import optimize
    from psopt.api._other_wordings import check_other_wordings
    from psopt.api._planning import plan_run
    from psopt.api._rephrase import rephrase
    from psopt.api._resume import resume, settings_to_resume
    from psopt.api._run import run
    from psopt.api._searching import SearchSetup, search_in
    from psopt.api._show_prompt import ShownPrompt, show_prompt
    from psopt.api._threshold import RESTS_ON_NA, FailingSample, Threshold
    from psopt.api._verify import OtherAnswer, Verification
    from psopt.api._worker import worker

_HOMES = {
    "RESTS_ON_NA": "_threshold",
    "CheckResult": "_check",
    "Classified": "_classify",
    "Classifier": "_classify",
    "Comparison": "_compare",
    "ComparisonResult": "_compare",
    "Exported": "_export",
    "FailingSample": "_threshold",
    "OtherAnswer": "_verify",
    "SearchSetup": "_searching",
    "ShownPrompt": "_show_prompt",
    "Threshold": "_threshold",
    "Verification": "_verify",
    "check": "_check",
    "check_other_wordings": "_other_wordings",
    "classify": "_classify",
    "compare": "_compare",
    "diagnose": "_diagnose",
    "estimate": "_estimate",
    "estimate_measuring": "_estimate",
    "estimate_rephrasing": "_estimate",
    "estimate_run": "_estimate",
    "further_pinned": "_check",
    "input_columns": "_classify",
    "export": "_export",
    "load_run": "_load_run",
    "measure": "_measure",
    "optimize": "_optimize",
    "rephrase": "_rephrase",
    "pinned_samples": "_check",
    "plan_run": "_planning",
    "prompt_to_classify_with": "_classify",
    "resume": "_resume",
    "run": "_run",
    "search_in": "_searching",
    "settings_to_resume": "_resume",
    "show_prompt": "_show_prompt",
    "worker": "_worker",
}

__all__ = [
    "RESTS_ON_NA",
    "CheckResult",
    "Classified",
    "Classifier",
    "Comparison",
    "ComparisonResult",
    "Exported",
    "FailingSample",
    "OtherAnswer",
    "SearchSetup",
    "ShownPrompt",
    "Threshold",
    "Verification",
    "check",
    "check_other_wordings",
    "classify",
    "compare",
    "diagnose",
    "estimate",
    "estimate_measuring",
    "estimate_rephrasing",
    "estimate_run",
    "export",
    "further_pinned",
    "input_columns",
    "load_run",
    "measure",
    "optimize",
    "pinned_samples",
    "plan_run",
    "prompt_to_classify_with",
    "rephrase",
    "resume",
    "run",
    "search_in",
    "settings_to_resume",
    "show_prompt",
    "worker",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"psopt.api.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'psopt.api' has no attribute {name!r}")
