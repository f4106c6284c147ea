"""Real language models as files, where a machine has them: tests that need one are skipped elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from psopt.models import cache_folder

_SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2_file() -> Path:
    """SmolLM2-135M-Instruct: the file that PSOPT_SMOLLM2 names, else psopt's own; without one the test is skipped."""
    named = os.environ.get("PSOPT_SMOLLM2")
    file = Path(named) if named else cache_folder() / "models" / _SMOLLM2
    if not file.is_file():
        pytest.skip(f"no SmolLM2 at {file}: name the file in PSOPT_SMOLLM2")
    return file
