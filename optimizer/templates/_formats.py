"""A prompt's file as text, its format (psopt's, OpenAI's, promptfoo's, ..), and its messages as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.templates._draft import (
    Draft,
    DraftMessage,
    draft_messages,
    draft_of_function,
    looks_like_chat,
    message_list,
    request_members,
)
from psopt.templates._lines import has_expressions, names_in
from psopt.templates._marks import has_marks
from psopt.templates._template import Origin
from psopt.text import Node, as_text, counted, json_node, names_label, read_bytes, yaml_node

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def prompt_entries(config: Node) -> list[Node]:
    """Return the prompts of a configuration as they stand there: texts, names of files, or objects."""
    prompts = config.value["prompts"]
    alone = [] if prompts.value is None else [prompts]
    return prompts.value if isinstance(prompts.value, list) else alone


def chosen_prompt(where: Path, config: Node, number: int | None) -> Node:
    """Return one prompt of a configuration, the first by default: a text, or the name of a file (``file://..``)."""
    entries = prompt_entries(config)
    if not entries:
        raise InputError(f"prompt {where} configures no prompt: add one under prompts")
    if number is not None and number > len(entries):
        raise InputError(f"prompt {where}#{number} is not there: it configures {counted(len(entries), 'prompt')}")
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
    is_name = "\n" not in prompt and Path(prompt).suffix.lower() in (".txt", ".md", ".json", ".yaml", ".yml")
    if stated == prompt and not is_name:
        return None
    path = where.parent / stated
    if path.suffix.split(":")[0].lower() in _PROGRAMS:
        cure = "give its text, or a Python function as MODULE:NAME"
        raise InputError(f"prompt {where} names {stated}, a program: {cure}")
    if "*" in stated or path.is_dir():
        raise InputError(f"prompt {where} names {stated}, several files: give one of them")
    return path


LARGEST = 256 * 1024
"""Bytes of a prompt's file. Chosen: about 60,000 tokens, paid for in every call; no prompt is so long on purpose."""
BOM = "\ufeff"
_YAML = (".yaml", ".yml")
# YAML, which may hold tests next to its prompts, takes a second per 200 kB to read; psopt's own JSON also holds
# examples, and the file that a prompt came from.
_LARGEST_OF = {**dict.fromkeys(_YAML, 2 * 1024 * 1024), ".json": 64 * 1024 * 1024}
_IN_MEMORY = Path("in memory")
_NUMBERED = re.compile(r"(?P<path>.+\.(?:ya?ml|json))#(?P<number>[1-9]\d{0,3})", re.IGNORECASE)
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
PromptFormat = Literal["text", "openai", "promptfoo", "python", "psopt", "description"]
FORMATS: tuple[PromptFormat, ...] = get_args(PromptFormat)
_YAML_CHAT = re.compile(r"\s*-[ \t]+[\"']?role[\"']?[ \t]*:")
_CHAT = re.compile(rf"\s*(?:\[\s*)?\{{\s*[\"']|{_YAML_CHAT.pattern}")
"""How a text begins that is meant as messages."""
_ROLE, _CONTENT = re.compile(r"\brole[\"']?\s*:"), re.compile(r"\bcontent[\"']?\s*:")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a prompt's file."""

    path: Path  # without the number of a prompt among several
    text: str  # without a byte order mark; line ends as they are
    has_bom: bool = False
    number: int | None = None  # the number of the prompt in a configuration, from 1

    @property
    def suffix(self) -> str:
        """What the file's name ends in, in lower case."""
        return self.path.suffix.lower()

    def marked(self, text: str) -> str:
        """A text for this file: with a byte order mark if the file has one."""
        return BOM + text if self.has_bom else text

    @property
    def details(self) -> dict[str, Any]:
        """What an `Origin` keeps about it."""
        return {"source": self.text, "bom": self.has_bom}


class PromptText(str):
    """A prompt's text itself, in place of a file that holds it; messages name it by where it is."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """Return the name that messages give it."""
        return format(str(_IN_MEMORY), spec)


def is_function(source: str | Path) -> bool:
    """Tell whether a source is ``MODULE:NAME`` and not a file."""
    return isinstance(source, str) and _FUNCTION.fullmatch(source) is not None and not Path(source).exists()


def read_source_text(source: str | Path) -> Source:
    """Read a prompt's file, or a `PromptText`; refuse what can't be read, is too large, is no text, or is empty."""
    if isinstance(source, PromptText):
        return Source(_IN_MEMORY, str(source))
    path, number = numbered(source)
    largest = _LARGEST_OF.get(path.suffix.lower(), LARGEST)
    if path.is_file() and path.stat().st_size > largest:
        raise _too_large(path, path.stat().st_size, largest)
    data = read_bytes(path, f"prompt {path}")
    text = as_text(data, f"prompt {path}")
    if not text.strip():
        raise InputError(f"prompt {path} is empty")
    return Source(path, text, data.startswith(BOM.encode()), number)


def numbered(source: str | Path) -> tuple[Path, int | None]:
    """Split ``promptfooconfig.yaml#2`` into the file and the number of one of its prompts.

    >>> numbered("promptfooconfig.yaml#2")[1], numbered("prompt.txt")[1]
    (2, None)
    """
    path = Path(source)
    match = _NUMBERED.fullmatch(str(source))
    if match is None or path.exists():
        return path, None
    return Path(match["path"]), int(match["number"])


def check_size(source: Source) -> None:
    """Refuse a template that is too large; psopt's own JSON may be larger."""
    size = len(source.text.encode())
    if size > LARGEST:
        raise _too_large(source.path, size)


def _too_large(path: Path, size: int, largest: int = LARGEST) -> InputError:
    return InputError(f"prompt {path} is too large: {size:,} bytes, and a prompt has {largest:,} at most")


def detect_format(
    source: str | Path, prompt_format: str | None = None, *, labels: Sequence[str] = (), columns: Sequence[str] = ()
) -> PromptFormat:
    """Return the format of a prompt; `prompt_format` overrides what it looks like.

    A text without any field is the prompt itself if it names all of the task's labels, and otherwise just the
    description of a task.

    Raises UnknownNameError if there is no such format, and InputError if the file can't be read.
    """
    stated = next((name for name in FORMATS if name == prompt_format), None)
    if prompt_format is not None and stated is None:
        raise UnknownNameError("prompt format", prompt_format, FORMATS)
    if stated == "python" and not is_function(source):
        raise InputError(f"prompt {source} is no Python function: give it as MODULE:NAME")
    if stated:
        return stated
    if is_function(source):
        return "python"
    read = read_source_text(source)
    node = document_of(read)
    if node is not None and _is_ours(node):
        return "psopt"
    if node is not None and is_config(node):
        return "promptfoo"
    check_size(read)
    if node is None:
        return "text" if _is_whole(read.text, labels, columns) else "description"
    if looks_like_chat(node):
        return "openai"
    raise InputError(f"prompt {source} holds no prompt: a list of messages with role and content is needed")


def document_of(source: Source) -> Node | None:
    """A file's data; None for a text. Messages in JSON or YAML are read as such, whatever their file is called."""
    if source.suffix in _YAML:
        return yaml_node(source.text, f"prompt {source.path}")
    if source.suffix == ".json":
        return json_node(source.text, f"prompt {source.path}")
    read = yaml_node if _YAML_CHAT.match(source.text) else json_node
    try:
        node = read(source.text, f"prompt {source.path}")
    except InputError:
        return None
    return node if looks_like_chat(node) or _is_ours(node) else None


def _is_ours(node: Node) -> bool:
    return {"description", "labels"} <= node.members.keys()


def promptfoo_config(source: str | Path) -> Node | None:
    """Return the promptfoo configuration in a file; None if the file is anything else that can be read."""
    path, _ = numbered(source)
    if isinstance(source, PromptText) or path.suffix.lower() not in (*_YAML, ".json") or not path.is_file():
        return None
    node = document_of(read_source_text(source))
    return node if node is not None and is_config(node) else None


def read_draft(source: str | Path, prompt_format: PromptFormat, columns: Sequence[str] = ()) -> Draft:
    """Read a prompt's messages as text; refuse a source that is no prompt of that format."""
    if prompt_format == "python":
        return draft_of_function(str(source), columns)
    if is_function(source):
        raise InputError(f"prompt {source} names a Python function and can't be read as {prompt_format}")
    read = read_source_text(source)
    if prompt_format == "promptfoo":
        return _promptfoo(read)
    check_size(read)
    if prompt_format == "openai":
        return _openai(read)
    return _text(read)


def _text(source: Source) -> Draft:
    return Draft((DraftMessage("user", source.text),), Origin("text", source.suffix or ".txt", source.details))


def check_is_no_chat(source: str | Path, draft: Draft) -> None:
    """Refuse a prompt that was read as a text and is meant as messages, with what is wrong in their JSON or YAML."""
    text = draft.messages[0].text
    if len(draft.messages) > 1 or not _CHAT.match(text) or not _ROLE.search(text) or not _CONTENT.search(text):
        return
    read = yaml_node if _YAML_CHAT.match(text) else json_node
    try:
        read(text, f"prompt {source}")
    except InputError as error:
        raise InputError(f"{error} (--prompt-format text sends it as it is)") from error
    raise InputError(f"prompt {source} holds no list of messages with role and content")


def _openai(source: Source) -> Draft:
    node = document_of(source)
    messages = message_list(node)
    if node is not None and "system" in node.members:
        raise InputError(
            f"prompt {source.path} has a 'system' beside its messages: psopt sends messages alone, make it the first "
            "of them, of role system"
        )
    if node is None or messages is None:
        raise InputError(f"prompt {source.path} holds no list of messages with role and content")
    drafts = draft_messages(f"prompt {source.path}", messages.plain())
    response_format, left_out = request_members(node)
    origin = Origin("openai", source.suffix, source.details)
    return Draft(drafts, origin, response_format=response_format, left_out=left_out)


def _promptfoo(source: Source) -> Draft:
    node = document_of(source)
    if node is not None and is_config(node):
        entry = chosen_prompt(source.path, node, source.number)
        path = named_file(source.path, entry.value)
        draft = _inline(source, entry) if path is None else _promptfoo(read_source_text(path))
        return replace(draft, notes=notes_on(source.path, node, source.number))
    check_size(source)
    if node is not None:
        return _of_promptfoo(_openai(source))
    n_prompts = sum(bool(part.strip()) for part in _SEPARATOR.split(source.text))
    if n_prompts > 1:
        cure = "keep one in a file of its own"
        raise InputError(f"prompt {source.path} holds {n_prompts} prompts, parted by ---: {cure}")
    return _of_promptfoo(_text(source))


def _inline(source: Source, entry: Node) -> Draft:
    """A prompt that stands in a configuration: a text, or a chat as JSON or YAML in a text."""
    check_size(Source(source.path, entry.value))
    suffix, read = ".txt", _text
    node = document_of(Source(Path("prompt.txt"), entry.value))
    if node is not None:
        suffix, read = ".json" if node.style == "json" else ".yaml", _openai
    draft = read(Source(source.path.with_suffix(suffix), entry.value))
    details = {**source.details, "inline": suffix}
    if source.number is not None:
        details["number"] = source.number
    return _of_promptfoo(replace(draft, origin=Origin("promptfoo", source.suffix, details)))


def _of_promptfoo(draft: Draft) -> Draft:
    return replace(draft, origin=replace(draft.origin, format="promptfoo"), double_braces=True)


def _is_whole(text: str, labels: Sequence[str], columns: Sequence[str]) -> bool:
    if names_in(text, columns) or has_expressions(text) or has_marks(text):
        return True
    return len(labels) > 1 and all(names_label(text, label) for label in labels)
