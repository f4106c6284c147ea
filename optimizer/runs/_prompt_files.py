"""Prompts from files: psopt's own JSON is read here, whatever else it is when the task is known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.runs._directory import MANIFEST
from psopt.runs._measured import Measured, measured_in
from psopt.runs._prompt_options import PromptOptions
from psopt.runs._prompt_source import PromptSource, manifest_of
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.tasks import Task

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_OWN_PARTS = {"description", "labels"}


def read_prompt(path: str | Path, task: Task, options: PromptOptions | None = None) -> Prompt:
    """Read a prompt for a task: a ``prompts/ID.json`` of a run, or a template of the user's own.

    Raises
    ------
    InputError
        If it can't be read, is no prompt, or one for other labels.
    """
    return read_source(path, options).for_task(task)


def read_source(path: str | Path, options: PromptOptions | None = None) -> PromptSource:
    """Read a prompt's file, and what is known of how it was measured; ``MODULE:NAME`` is a Python function.

    Raises
    ------
    InputError
        If the file can't be read, or holds no prompt.
    """
    options = options or PromptOptions()
    path = Path(path)
    if _is_function(path):
        return PromptSource(path, None, options=options)
    text = _read(path)
    data = _own_data(path, text, options.format)
    if data is None:
        _check_no_run_text(path)
        return PromptSource(path, None, options=options)
    return _own_prompt(path, data, options)


def _is_function(path: Path) -> bool:
    """Whether a source is ``MODULE:NAME``, and no file."""
    return _FUNCTION.fullmatch(str(path)) is not None and not path.exists()


def _own_prompt(path: Path, data: dict[str, Any], options: PromptOptions) -> PromptSource:
    run = _run_of(path)
    try:
        prompt = Prompt.from_dict(data)
        measured = Measured.from_dict(data["measured"]) if "measured" in data else None
    except InputError as error:
        raise InputError(f"prompt {path}: {error}") from error
    if measured is None and run is not None:
        measured = measured_in(manifest_of(run), prompt.id)
    return PromptSource(path, prompt, prompt.description, run, measured, options)


def _read(path: Path) -> str:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"prompt {path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"prompt {path} is not UTF-8 (byte {error.start}): convert it to UTF-8") from error
    if "\0" in text:
        raise InputError(f"prompt {path} holds a NUL byte: it is not a text file")
    if not text.strip():
        raise InputError(f"prompt {path} is empty")
    return text


def _own_data(path: Path, text: str, prompt_format: str | None) -> dict[str, Any] | None:
    """The file's content, where it is psopt's own JSON.

    Raises
    ------
    InputError
        If it ought to be, and is not.
    """
    if prompt_format not in {None, "psopt"}:
        return None
    try:
        data = json.loads(text)
    except ValueError as error:
        if path.suffix == ".json" or prompt_format == "psopt":
            raise InputError(f"prompt {path} is no valid JSON: {error}") from error
        return None
    if isinstance(data, dict) and "messages" not in data and (data.keys() & _OWN_PARTS or path.suffix == ".json"):
        return data
    if prompt_format == "psopt" or (path.suffix == ".json" and not isinstance(data, (dict, list))):
        raise InputError(f"prompt {path} holds no prompt of psopt's: expected an object with description and labels")
    return None


def _check_no_run_text(path: Path) -> None:
    """Refuse the text of a run's prompt: it shows what is sent, and its JSON has the parts.

    Raises
    ------
    InputError
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
