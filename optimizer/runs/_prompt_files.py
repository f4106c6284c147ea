"""Prompts from files: psopt's own JSON, or plain text that is taken as the task description."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.rephrasings import read_file
from psopt.runs._directory import MANIFEST, REPHRASINGS, RunDirectory
from psopt.runs._measured import Measured, measured_in
from psopt.runs._settings import RunSettings
from psopt.search_spaces import Prompt, template_mark
from psopt.tasks import Task

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.rephrasings import RephrasingSet


@dataclass(frozen=True)
class PromptSource:
    """A prompt's file, read.

    Attributes
    ----------
    path : Path
    prompt : Prompt or None
        None for a plain text: which prompt it makes, a task decides.
    description : str
        The prompt's, or the plain text.
    run : Path or None
        The run directory that the file lies in.
    measured : Measured or None
        How a run has measured it; None where neither the file nor a run says it.
    """

    path: Path
    prompt: Prompt | None
    description: str
    run: Path | None = None
    measured: Measured | None = None

    def with_labels(self) -> Prompt:
        """The prompt, which knows its labels.

        Raises
        ------
        InputError
            If it is a plain text, which knows none.
        """
        if self.prompt is None:
            raise InputError(
                f"prompt {self.path} is no JSON: to classify, the labels must be known; give a prompt's JSON"
            )
        return self.prompt

    def for_task(self, task: Task) -> Prompt:
        """Return the prompt for a task.

        Raises
        ------
        InputError
            If it is for other labels.
        """
        if self.prompt is None:
            return Prompt(self.description, task.labels, task.noun)
        if set(self.prompt.labels) != set(task.labels):
            own = ", ".join(self.prompt.labels)
            raise InputError(f"prompt {self.path} is for the labels {own}; the data have {', '.join(task.labels)}")
        return self.prompt

    @cached_property
    def settings(self) -> RunSettings | None:
        """The settings of the run that the file lies in."""
        return RunSettings.from_dict(_manifest(self.run)["settings"]) if self.run else None

    @cached_property
    def rephrasings(self) -> RephrasingSet | None:
        """The rephrasings of the run that the file lies in."""
        kept = self.run / REPHRASINGS if self.run else None
        return read_file(kept) if kept and kept.exists() else None

    @cached_property
    def task(self) -> Task | None:
        """The task of the run that the file lies in; None where there is no run, or its data can't be had."""
        return self._task_or_reason if isinstance(self._task_or_reason, Task) else None

    @cached_property
    def lacking(self) -> str | None:
        """Why the run's task can't be had, where it can't."""
        return self._task_or_reason if isinstance(self._task_or_reason, str) else None

    @cached_property
    def _task_or_reason(self) -> Task | str | None:
        try:
            return self.settings.load_task() if self.settings else None
        except InputError as error:
            return str(error)


def read_prompt(path: Path, task: Task) -> Prompt:
    """Read a prompt for a task: a ``prompts/ID.json`` of a run, or a text file whose text is the task description.

    Raises
    ------
    InputError
        If the file can't be read, holds no prompt, or a prompt for other labels.
    """
    return read_source(path).for_task(task)


def read_source(path: Path) -> PromptSource:
    """Read a prompt's file, and what is known of how it was measured.

    Raises
    ------
    InputError
        If the file can't be read, holds no prompt, or one that psopt would build anew in its own form.
    """
    text = _read(path)
    data = _json(path, text)
    if data is None:
        return PromptSource(path, None, _description(path, text))
    if not isinstance(data, dict) or "messages" in data:
        if isinstance(data, dict) or _is_messages(data):
            raise InputError(_refusal(path, "is a list of chat messages"))
        raise InputError(f"prompt {path} holds no prompt: expected an object with description and labels")
    run = _run_of(path)
    try:
        prompt = Prompt.from_dict(data)
        measured = Measured.from_dict(data["measured"]) if "measured" in data else None
    except InputError as error:
        raise InputError(f"prompt {path}: {error}") from error
    if measured is None and run is not None:
        measured = measured_in(_manifest(run), prompt.id)
    return PromptSource(path, prompt, prompt.description, run, measured)


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


def _json(path: Path, text: str) -> Any:
    """The file's content as data; None for a plain text, whose file is not called .json."""
    try:
        data = json.loads(text)
    except ValueError as error:
        if path.suffix == ".json":
            raise InputError(f"prompt {path} is no valid JSON: {error}") from error
        return None
    return data if path.suffix == ".json" or isinstance(data, (dict, list)) else None


def _description(path: Path, text: str) -> str:
    """A plain text as a task description, on the lines that it was written on.

    Raises
    ------
    InputError
        If it is more than a description: psopt would put it into another form.
    """
    whole = path.with_suffix(".json")
    if path.parent.name == "prompts" and whole.is_file():
        raise InputError(_refusal(path, "is a run's prompt as text", f"give {whole}"))
    mark = template_mark(text)
    if mark is not None:
        raise InputError(_refusal(path, mark))
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines) if len(lines) > 1 else " ".join(text.split())


def _refusal(path: Path, what: str, cure: str = "give the description of the task alone") -> str:
    return (
        f"psopt would rebuild this prompt: {path} {what}, but a text is taken for the description of a task, to which "
        f"psopt adds the labels, the text and its own layout; {cure}"
    )


def _is_messages(data: Any) -> bool:
    return isinstance(data, list) and any(
        isinstance(message, dict) and {"role", "content"} <= message.keys() for message in data
    )


def _run_of(path: Path) -> Path | None:
    """The run directory that a prompt's file lies in; as the user has named it, where that is possible."""
    parent = path.parent
    if parent.resolve().name != "prompts":
        return None
    run = parent.parent if parent.name == "prompts" else parent.resolve().parent
    return run if (run / MANIFEST).is_file() else None


def _manifest(run: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = RunDirectory.open(run).read_json(MANIFEST)
    return manifest
