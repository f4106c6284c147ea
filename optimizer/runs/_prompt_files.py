"""Prompts from files: psopt's own JSON is read here, whatever else it is when the task is known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.runs._directory import MANIFEST
from psopt.runs._front_file import picked_prompt
from psopt.runs._measured import Measured
from psopt.runs._prompt_source import PromptSource
from psopt.search_spaces import Prompt
from psopt.settings import PromptOptions
from psopt.templates import PromptText, detect_format
from psopt.text import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks import Task

_NO_NAME = re.compile(r"[\n{]")


def read_prompt(path: str | Path, task: Task, options: PromptOptions | None = None) -> Prompt:
    """Read a prompt for a task: a ``prompts/ID.json`` of a run, or a template of the user's own.

    Raises InputError if it can't be read, is no prompt, or one for other labels.
    """
    return read_source(path, options).for_task(task)


def read_source(path: str | Path | Sequence[Mapping[str, Any]], options: PromptOptions | None = None) -> PromptSource:
    """Read a prompt's file, and what is known of how it was measured; ``MODULE:NAME`` is a Python function.

    A string with a line break or a brace is no file's name but the prompt's text, and a list its messages. A run's
    folder stands for the prompt that the run recommends.

    Raises InputError if the file can't be read, or holds no prompt.
    """
    options = options or PromptOptions()
    if not isinstance(path, (str, Path)):
        return _in_memory(json.dumps(list(path), ensure_ascii=False, indent=2), options)
    if isinstance(path, str) and is_prompt_text(path):
        return _in_memory(path, options)
    if Path(path).is_dir():
        path = picked_prompt(Path(path))
    if detect_format(str(path), options.format) == "psopt":
        return _own_prompt(Path(path), options)
    _check_no_run_text(Path(path))
    return PromptSource(Path(path), None, options=options)


def is_prompt_text(prompt: str) -> bool:
    """Tell whether a string is a prompt's text, and no file's name: it has a line break or a brace."""
    return _NO_NAME.search(prompt) is not None


def _in_memory(text: str, options: PromptOptions) -> PromptSource:
    return PromptSource(Path("in memory"), None, options=options, text=PromptText(text))


def _own_prompt(path: Path, options: PromptOptions) -> PromptSource:
    data = _read(path)
    run = _run_of(path)
    try:
        prompt = Prompt.from_dict(data)
        measured = Measured.from_dict(data["measured"]) if "measured" in data else None
    except InputError as error:
        raise InputError(f"prompt {path}: {error}") from error
    return PromptSource(path, prompt, prompt.description, run, measured, options)


def _read(path: Path) -> dict[str, Any]:
    data = read_json(path, f"prompt {path}")
    if not isinstance(data, dict):
        raise InputError(f"prompt {path} holds no prompt of psopt's: expected an object with description and labels")
    return data


def _check_no_run_text(path: Path) -> None:
    """Refuse the text of a run's prompt: it shows what is sent, and its JSON has the parts.

    Raises InputError.
    """
    whole = path.with_suffix(".json")
    if path.suffix != ".json" and whole.is_file() and _run_of(path):
        raise InputError(f"prompt {path} is a run's prompt as it is shown, and no template: give {whole}")


def _run_of(path: Path) -> Path | None:
    """The run directory that a prompt's file lies in; as the user has named it, where that is possible."""
    parent = path.parent
    if parent.resolve().name != "prompts":
        return None
    run = parent.parent if parent.name == "prompts" else parent.resolve().parent
    return run if (run / MANIFEST).is_file() else None
