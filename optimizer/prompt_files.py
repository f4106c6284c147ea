"""Prompts from files: psopt's own JSON, or plain text that is taken as the task description."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.prompts import Prompt

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task


def read_prompt(path: Path, task: Task) -> Prompt:
    """Read a prompt for a task: a ``prompts/ID.json`` of a run, or a text file whose text is the task description.

    Raises
    ------
    InputError
        If the file can't be read, holds no prompt, or a prompt for other labels.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"prompt {path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"prompt {path} is not UTF-8 (byte {error.start}): convert it to UTF-8") from error
    if "\0" in text:
        raise InputError(f"prompt {path} holds a NUL byte: it is not a text file")
    if not text.strip():
        raise InputError(f"prompt {path} is empty")
    if path.suffix != ".json":
        return Prompt(" ".join(text.split()), task.labels, task.noun)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"prompt {path} is no valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"prompt {path} holds no prompt: expected an object with description and labels")
    try:
        prompt = Prompt.from_dict(data)
    except InputError as error:
        raise InputError(f"prompt {path}: {error}") from error
    if set(prompt.labels) != set(task.labels):
        raise InputError(
            f"prompt {path} is for the labels {', '.join(prompt.labels)}; the data have {', '.join(task.labels)}"
        )
    return prompt
