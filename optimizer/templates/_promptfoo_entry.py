"""Adding a prompt to a promptfoo configuration, whose comments, order and everything else stay unchanged."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.templates._formats import document_of, is_config, prompt_entries, read_source_text
from psopt.templates._lines import newline_of
from psopt.templates._template import Field
from psopt.templates._write import block_end, block_items, flow_gap, readable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.templates._template import Template
    from psopt.text import Node

_TEMPLATE_MARKS = ("{{", "{%", "{#")


def promptfoo_text(template: Template) -> str:
    """Write a filled template for promptfoo: as a text, or as messages in JSON; columns become Nunjucks variables.

    The text always has a line break, because promptfoo takes some single lines for names of files.

    Raises InputError if promptfoo would also fill in its literal text, or would never show it the sample.
    """
    if any(isinstance(piece, Field) and not piece.written for piece in template.pieces):
        raise InputError(
            "the prompt names no field, so promptfoo would never show it the text: add {{NAME}}, the variable that "
            "holds it, to what --format text prints"
        )
    literal = " ".join(piece for piece in template.pieces if isinstance(piece, str))
    if marks := [mark for mark in _TEMPLATE_MARKS if mark in literal]:
        raise InputError(
            f"the prompt's own text holds {marks[0]}, which promptfoo would fill in: --without leaves an edit out that "
            "shows it (--why lists them)"
        )
    chat = []
    for message in template.messages:
        pieces = (f"{{{{{piece.name}}}}}" if isinstance(piece, Field) else str(piece) for piece in message.pieces)
        chat.append({**message.head, "content": "".join(pieces)})
    if len(chat) == 1 and template.messages[0].head == {"role": "user"}:
        text = chat[0]["content"]
        return text if "\n" in text else text + "\n"
    return json.dumps(chat, indent=2, ensure_ascii=False) + "\n"


def with_prompt(path: Path, text: str, label: str) -> str:
    """Return the text of a promptfoo configuration with one more prompt, after the existing ones.

    Raises InputError if the file is no such configuration, has the prompt already, or is written so that only a person
    can add it.
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
        members = entry if isinstance(entry, dict) else {"raw": entry}
        if members.get("raw") == text or members.get("label") == label:
            raise InputError(f"{path} holds this prompt already, as prompt {number}: --pick takes another")
    added = {"label": label, "raw": text}
    expected = {**plain, "prompts": [*entries, added]}
    for changed in _candidates(source.text, config.value["prompts"], added):
        changed = re.sub(r"\r?\n", newline_of(source.text), changed)
        node = readable(source, changed)
        if node is not None and node.plain() == expected:
            return source.marked(changed)
    raise InputError(f"the prompts of {path} are written so that none can be added: put it there by hand")


def _candidates(text: str, prompts: Node, added: dict[str, str]) -> Iterator[str]:
    """Ways to write it, the one that looks most like the rest first; reading the result shows which one is right."""
    before, whole, after = text[: prompts.start], text[prompts.start : prompts.end], text[prompts.end :]
    as_json = json.dumps(added, ensure_ascii=False)
    if not isinstance(prompts.value, list):
        yield f"{before}[{whole}, {as_json}]{after}"
        yield f"{before}[{json.dumps(prompts.value)}, {as_json}]\n{after}"
    elif not prompts.value:
        yield f"{before}[{as_json}]{after}"
    elif whole.startswith("["):
        last = prompts.value[-1]
        yield text[: last.end] + flow_gap(text, last) + as_json + text[last.end :]
    else:
        indent = " " * len(before.rpartition("\n")[2])
        for end in _ends(text, prompts.value[-1]):
            for item in block_items(indent, added):
                yield text[:end].removesuffix("\n") + "\n" + item + text[end:]


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
