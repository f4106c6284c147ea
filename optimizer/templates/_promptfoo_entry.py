"""Adding a prompt to a promptfoo configuration, whose comments, order and everything else stay unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.templates._formats import BOM, document_of, read_source_text
from psopt.templates._promptfoo import is_config, prompt_entries
from psopt.templates._template import Field
from psopt.templates._write import block_end, indented, indicators, written_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.templates._formats import Source
    from psopt.templates._template import Template
    from psopt.text import Node

_TEMPLATE_MARKS = ("{{", "{%", "{#")


def promptfoo_text(template: Template) -> str:
    """Write a filled template for promptfoo: as a text, or as messages in JSON; columns become Nunjucks variables.

    The text always has a line break, because promptfoo takes some single lines for names of files.

    Raises InputError if promptfoo would also fill in its literal text.
    """
    messages = [
        replace(message, pieces=tuple(_variable(piece) for piece in message.pieces)) for message in template.messages
    ]
    pieces = [piece for message in template.messages for piece in message.pieces]
    literal = " ".join(piece for piece in pieces if isinstance(piece, str))
    if marks := [mark for mark in _TEMPLATE_MARKS if mark in literal]:
        raise InputError(
            f"the prompt's own text holds {marks[0]}, which promptfoo would fill in: --without leaves an edit out that "
            "shows it (--why lists them)"
        )
    texts = ["".join(written_text(message)) for message in messages]
    if len(messages) == 1 and messages[0].head == {"role": "user"}:
        return texts[0] if "\n" in texts[0] else texts[0] + "\n"
    chat = [{**message.head, "content": text} for message, text in zip(messages, texts, strict=True)]
    return json.dumps(chat, indent=2, ensure_ascii=False) + "\n"


def with_prompt(path: Path, text: str, label: str) -> str:
    """Return the text of a promptfoo configuration with one more prompt, after the existing ones.

    Raises
    ------
    InputError
        If the file is no such configuration, has the prompt already, or is written so that only a person can add it.
    """
    source = read_source_text(path)
    if not source.text.endswith("\n"):
        source = replace(source, text=source.text + "\n")  # as promptfoo's YAML reader does
    config = document_of(source)
    if config is None or not is_config(config):
        raise InputError(f"{path} is no promptfoo configuration: it has no prompts")
    plain = config.plain()
    entries = [entry.plain() for entry in prompt_entries(config)]
    for number, entry in enumerate(entries, start=1):
        entry_text = entry.get("raw") if isinstance(entry, dict) else entry
        if entry_text == text or (isinstance(entry, dict) and entry.get("label") == label):
            raise InputError(f"{path} holds this prompt already, as prompt {number}: --pick takes another")
    added = {"label": label, "raw": text}
    expected = {**plain, "prompts": [*entries, added]}
    for changed in _candidates(source.text, config.value["prompts"], added):
        written = changed.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in source.text else changed
        if _reads_as(source, written, expected):
            return (BOM if source.has_bom else "") + written
    raise InputError(f"the prompts of {path} are written so that none can be added: put it there by hand")


def _variable(piece: Any) -> Any:
    return Field(piece.name, f"{{{{{piece.name}}}}}") if isinstance(piece, Field) and piece.written else piece


def _candidates(text: str, prompts: Node, added: dict[str, str]) -> Iterator[str]:
    """Ways to write it, the one that looks most like the rest first; reading the result shows which one is right."""
    whole = text[prompts.start : prompts.end]
    as_json = json.dumps(added, ensure_ascii=False)
    if not isinstance(prompts.value, list):
        yield f"{text[: prompts.start]}[{whole}, {as_json}]{text[prompts.end :]}"
        yield f"{text[: prompts.start]}[{json.dumps(prompts.value)}, {as_json}]\n{text[prompts.end :]}"
    elif not prompts.value:
        yield f"{text[: prompts.start]}[{as_json}]{text[prompts.end :]}"
    elif whole.startswith("["):
        last = prompts.value[-1]
        before = text[: last.start].rpartition("\n")[2]
        gap = f",\n{before}" if "\n" in whole and not before.strip() else ", "
        yield text[: last.end] + gap + as_json + text[last.end :]
    else:
        indent = " " * (prompts.start - text.rfind("\n", 0, prompts.start) - 1)
        block = f"|{indicators(added['raw'], '  ')}\n{indented(added['raw'], indent + '    ')}"
        for end in _ends(text, prompts.value[-1]):
            for raw in (block, json.dumps(added["raw"])):
                entry = f"{indent}- label: {added['label']}\n{indent}  raw: {raw}\n"
                yield f"{text[:end]}{entry if text[:end].endswith(chr(10)) else chr(10) + entry}{text[end:]}"


def _ends(text: str, node: Node) -> Iterator[int]:
    """Where a line can be inserted after an entry: before the empty lines that follow it, or after them."""
    while isinstance(node.value, (dict, list)) and node.value and text[node.start] not in "[{":
        node = list(node.value.values() if isinstance(node.value, dict) else node.value)[-1]
    if node.style in ("|", ">"):
        yield block_end(text, node)
        yield node.end
        return
    line = text.find("\n", node.end)
    yield len(text) if line < 0 else line + 1


def _reads_as(source: Source, text: str, expected: dict[str, Any]) -> bool:
    try:
        node = document_of(replace(source, text=text))
    except InputError:
        return False
    return node is not None and node.plain() == expected
