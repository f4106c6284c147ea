"""promptfoo's prompt files: texts, chats, and configurations that hold or name one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import InputError

if TYPE_CHECKING:
    from psopt.text import Node

_SEPARATOR = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_PROGRAMS = (".js", ".cjs", ".mjs", ".ts", ".py", ".sh", ".rb", ".exe")


def is_config(node: Node) -> bool:
    """Tell whether a document is a promptfoo configuration."""
    return isinstance(node.value, dict) and "prompts" in node.value and "messages" not in node.value


def check_one_prompt(where: Path, text: str) -> None:
    """Refuse a text of several prompts.

    Raises InputError if lines of three dashes part it into several.
    """
    parts = [part for part in _SEPARATOR.split(text) if part.strip()]
    if len(parts) > 1:
        raise InputError(f"prompt {where} holds {len(parts)} prompts, parted by ---: keep one in a file of its own")


def members_beside(config: Node) -> tuple[str, ...]:
    """What a configuration says of requests, which psopt decides by options of its own."""
    return ("providers (--model names it)",) if "providers" in config.value else ()


def only_prompt(where: Path, config: Node) -> Node:
    """Return the one prompt of a configuration: a text, or the name of a file (``file://..``).

    Raises InputError if there is none, or several.
    """
    prompts = config.value["prompts"]
    entries = prompts.value if isinstance(prompts.value, list) else [prompts]
    if len(entries) != 1:
        count = f"{len(entries)} prompts" if entries else "no prompt"
        raise InputError(f"prompt {where} configures {count}: give a file with one prompt")
    entry: Node = entries[0]
    if isinstance(entry.value, dict):
        members = [entry.value[name] for name in ("raw", "id") if name in entry.value]
        if not members:
            raise InputError(f"prompt {where}: the entry under prompts has neither raw nor id")
        entry = members[0]
    if not isinstance(entry.value, str):
        raise InputError(f"prompt {where}: the entry under prompts is no text")
    return entry


def named_file(where: Path, prompt: str) -> Path | None:
    """The file that an entry names; None where the entry is the prompt itself.

    Raises InputError if it names a program, or several files.
    """
    stated = prompt.removeprefix("file://")
    if stated == prompt and (
        "\n" in prompt or Path(prompt).suffix.lower() not in (".txt", ".md", ".json", ".yaml", ".yml")
    ):
        return None
    path = where.parent / stated
    if path.suffix.split(":")[0].lower() in _PROGRAMS:
        raise InputError(f"prompt {where} names {stated}, a program: give a Python function as MODULE:NAME")
    if "*" in stated or path.is_dir():
        raise InputError(f"prompt {where} names {stated}, several files: give one of them")
    return path
