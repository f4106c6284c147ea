"""Models by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models._base import Model
    from psopt.tasks import Task


def load_model(name: str, task: Task, *, cache_dir: Path | None = None) -> Model:
    """Load the task model of this name for a task.

    The task lends its train texts, without their labels: minilm sees texts relative to them.

    Raises
    ------
    UnknownNameError
        If there is no such model.
    MissingExtraError
        If the model needs an optional dependency that is not installed.
    """
    if name == "minilm":
        from psopt.models.minilm import MiniLM

        texts = [sample.text for sample in (task.train or task.val)]
        return MiniLM(texts, cache_dir=cache_dir)
    if name.partition("/")[0] in {"openai", "hf", "dspy"}:
        raise InputError(f"model {name!r}: this version of psopt runs the embedded model only: --model minilm")
    raise UnknownNameError("model", name, ["minilm"])
