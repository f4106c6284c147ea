"""promptfoo's prompt files: texts, chats, and configurations that hold or name one."""

from __future__ import annotations

import re
from pathlib import Path

from psopt.errors import InputError
from psopt.text import Node

_EMPTY = Node({}, 0, 0)
_SEPARATOR = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_BESIDE = {
    "transform": "--answer says how answers are read",
    "prefix": "put it into the prompt",
    "suffix": "put it into the prompt",
}
_PROGRAMS = (".js", ".cjs", ".mjs", ".ts", ".py", ".sh", ".rb", ".exe")


def is_config(node: Node) -> bool:
    """Tell whether a document is a promptfoo configuration."""
    return "prompts" in node.members and "messages" not in node.members


def check_one_prompt(where: Path, text: str) -> None:
    """Refuse a text that lines of three dashes split into several prompts."""
    parts = [part for part in _SEPARATOR.split(text) if part.strip()]
    if len(parts) > 1:
        raise InputError(f"prompt {where} holds {len(parts)} prompts, parted by ---: keep one in a file of its own")


def prompt_entries(config: Node) -> list[Node]:
    """Return the prompts of a configuration as they stand there: texts, names of files, or objects."""
    prompts = config.value["prompts"]
    if prompts.value is None:
        return []
    return prompts.value if isinstance(prompts.value, list) else [prompts]


def chosen_prompt(where: Path, config: Node, number: int | None) -> Node:
    """Return one prompt of a configuration, the first by default: a text, or the name of a file (``file://..``)."""
    entries = prompt_entries(config)
    if not entries:
        raise InputError(f"prompt {where} configures no prompt: add one under prompts")
    if number is not None and number > len(entries):
        raise InputError(
            f"prompt {where}#{number} is not there: it configures {len(entries)} prompt{'s' * (len(entries) != 1)}"
        )
    entry = entries[(number or 1) - 1]
    if isinstance(entry.value, dict):
        members = [entry.members[name] for name in ("raw", "id") if name in entry.members]
        if not members:
            raise InputError(f"prompt {where}: the entry under prompts has neither raw nor id")
        entry = members[0]
    if not isinstance(entry.value, str):
        raise InputError(f"prompt {where}: the entry under prompts is no text")
    return entry


def notes_on(where: Path, config: Node, number: int | None) -> tuple[str, ...]:
    """Say which of several prompts was taken if none was chosen, and which of its options are not applied."""
    n_prompts = len(prompt_entries(config))
    notes = []
    if n_prompts > 1 and number is None:
        notes.append(f"the file has {n_prompts} prompts: the first is taken; {where.name}#2 names another")
    options = config.members.get("defaultTest", _EMPTY).members.get("options", _EMPTY).members
    notes += [f"the {name} of defaultTest is not applied: {cure}" for name, cure in _BESIDE.items() if name in options]
    return tuple(notes)


def named_file(where: Path, prompt: str) -> Path | None:
    """The file that an entry names, refused if it is a program or several; None if the entry is the prompt itself."""
    stated = prompt.removeprefix("file://")
    if stated == prompt and (
        "\n" in prompt or Path(prompt).suffix.lower() not in (".txt", ".md", ".json", ".yaml", ".yml")
    ):
        return None
    path = where.parent / stated
    if path.suffix.split(":")[0].lower() in _PROGRAMS:
        raise InputError(
            f"prompt {where} names {stated}, a program: give its text, or a Python function as MODULE:NAME"
        )
    if "*" in stated or path.is_dir():
        raise InputError(f"prompt {where} names {stated}, several files: give one of them")
    return path
