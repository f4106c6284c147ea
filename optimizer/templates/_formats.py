"""Which format a prompt's file has, and its messages as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.templates._chat import draft_messages, looks_like_chat, message_list, request_members
from psopt.templates._draft import Draft, DraftMessage
from psopt.templates._fields import has_expressions, names_in
from psopt.templates._function import draft_of_function
from psopt.templates._marks import has_marks
from psopt.templates._promptfoo import check_one_prompt, chosen_prompt, is_config, named_file, notes_on
from psopt.templates._source import PromptText, Source, check_size, is_function, numbered, read_source_text
from psopt.templates._template import Origin
from psopt.text import Node, json_node, names_label, yaml_node

if TYPE_CHECKING:
    from collections.abc import Sequence

PromptFormat = Literal["text", "openai", "promptfoo", "python", "psopt", "description"]
FORMATS: tuple[PromptFormat, ...] = get_args(PromptFormat)
_YAML = (".yaml", ".yml")


def detect_format(
    source: str | Path, prompt_format: str | None = None, *, labels: Sequence[str] = (), columns: Sequence[str] = ()
) -> PromptFormat:
    """Say which format a prompt has; `prompt_format` overrules what it looks like.

    A text without any field is the prompt itself where it names all of the task's labels, and otherwise the mere
    description of a task.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    InputError
        If the file can't be read.
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
    """A file's data; None for a text. A text that is JSON is JSON, whatever it is called."""
    if source.suffix in _YAML:
        return yaml_node(source.text, f"prompt {source.path}")
    if source.suffix == ".json":
        return json_node(source.text, f"prompt {source.path}")
    if source.text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        node = json_node(source.text, f"prompt {source.path}")
    except InputError:
        return None
    return node if looks_like_chat(node) or _is_ours(node) else None


def _is_ours(node: Node) -> bool:
    """Whether a document is psopt's own JSON."""
    return {"description", "labels"} <= node.members.keys()


def promptfoo_config(source: str | Path) -> Node | None:
    """Return the promptfoo configuration that a file is; None where it is another thing.

    Raises InputError if it can't be read.
    """
    path, _ = numbered(source)
    if isinstance(source, PromptText) or path.suffix.lower() not in (*_YAML, ".json") or not path.is_file():
        return None
    node = document_of(read_source_text(source))
    return node if node is not None and is_config(node) else None


def read_draft(source: str | Path, prompt_format: PromptFormat, columns: Sequence[str] = ()) -> Draft:
    """Read a prompt's messages as text.

    Raises InputError if the source is no prompt of that format.
    """
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


def _openai(source: Source) -> Draft:
    """Messages of a document."""
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
        draft = _promptfoo(read_source_text(path)) if path is not None else _inline(source, entry)
        return replace(draft, notes=notes_on(source.path, node, source.number))
    check_size(source)
    draft = _openai(source) if node is not None else _text(source)
    if node is None:
        check_one_prompt(source.path, source.text)
    return _of_promptfoo(draft)


def _inline(source: Source, entry: Node) -> Draft:
    """A prompt that stands in a configuration: a text, or a chat as JSON or YAML in a text."""
    check_size(Source(source.path, entry.value))
    is_chat = document_of(Source(Path("prompt.txt"), entry.value)) is not None
    suffix = ".json" if is_chat else ".txt"
    inner = Source(source.path.with_suffix(suffix), entry.value)
    draft = _openai(inner) if is_chat else _text(inner)
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
