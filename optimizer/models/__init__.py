"""Task models: what answers a prompt."""

from __future__ import annotations

from typing import Any

from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models._base import ExplainingModel, JudgedModel, Model, OnProgress, SoftModel, is_quick, reads_order
from psopt.models._cache_folder import cache_folder
from psopt.models._provider import ModelProvider
from psopt.models._registry import NAMES, load_model

__all__ = [
    "NAMES",
    "AnswerCache",
    "ExplainingModel",
    "JudgedModel",
    "Model",
    "ModelProvider",
    "OnProgress",
    "SoftModel",
    "answer_key",
    "cache_folder",
    "is_quick",
    "load_model",
    "minilm_lm",
    "reads_order",
]


def __getattr__(name: str) -> Any:
    if name == "minilm_lm":  # needs what only some have installed
        from psopt.models.minilm import minilm_lm

        return minilm_lm
    raise AttributeError(f"module 'psopt.models' has no attribute {name!r}")
