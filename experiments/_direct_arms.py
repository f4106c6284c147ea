"""The same task without DSPy, where psopt has label probabilities: the original, it calibrated, psopt's prompt."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psopt
from psopt.evaluation import evaluate
from psopt.models import ModelProvider
from psopt.search_spaces import CALIBRATE, apply_edits, seed_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

    Arm = Callable[["Setting"], tuple[Prompt, int]]


@dataclass(frozen=True)
class Setting:
    """What is to be classified by which model, and within how many calls."""

    task: Task  # its splits come from the same train and val examples that DSPy's optimizers have
    model: str
    calls: int
    seed: int


def _original(setting: Setting) -> tuple[Prompt, int]:
    return seed_prompt(setting.task), 0


def _calibrated(setting: Setting) -> tuple[Prompt, int]:
    return apply_edits(seed_prompt(setting.task), [CALIBRATE]), 0


def _psopt(setting: Setting) -> tuple[Prompt, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        run = psopt.optimize(
            setting.task,
            model=setting.model,
            max_calls=setting.calls,
            seed=setting.seed,
            cache_dir=path / "answers",  # a cached answer would be no call
            out=path / "run",
        )
        manifest = json.loads((run.path / "run.json").read_text("utf-8"))
        return run.recommended.prompt, manifest["calls"]["made"]


ARMS: dict[str, Arm] = {
    "original, without DSPy": _original,
    "original calibrated, without DSPy": _calibrated,
    "psopt.optimize, without DSPy": _psopt,
}
"""By their names in the table."""


def answered(
    name: str, setting: Setting, samples: Sequence[Sample], wordings: Sequence[str]
) -> tuple[Predictions, dict[str, float], Prompt]:
    """What an arm's prompt answers to test samples under wordings that it has not seen, and what the prompt cost."""
    started = time.monotonic()
    prompt, calls = ARMS[name](setting)
    costs = {"calls": calls, "seconds": round(time.monotonic() - started, 1)}
    model = ModelProvider().answering(setting.model, setting.task)
    return evaluate(model, prompt, list(wordings), samples), costs, prompt
