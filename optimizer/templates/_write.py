"""Writing a template back in its original format, or into promptfoo's: its text changes where it was edited alone."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.templates._draft import Span, content_nodes, message_list, pieces_of
from psopt.templates._formats import Source, chosen_prompt, document_of, is_config, prompt_entries, read_source_text
from psopt.templates._lines import newline_of
from psopt.templates._template import Field, Part, Slot, Unwritten, last_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from psopt.templates._template import Message, Template
    from psopt.text import Node


_BLOCK = re.compile(r"(?P<style>[|>])[^\n]*\n")
_DASH = re.compile(r"^(?P<indent>[ \t]*)-\s+\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Change:
    """A stretch of a file, and the ways to write what replaces it."""

    start: int
    end: int
    spellings: tuple[str, ...]


def write_template(template: Template) -> str:
    """Write a template in its original format, with its fields open.

    A filled template (`fill_slots`) gives its file with the edits in place: line ends, indentation, the order of
    members and all other members stay. An unfilled one gives its file, byte for byte. What a Python function made is
    written as JSON messages. The text begins with a byte order mark if the file did.

    Raises InputError if a template without a file is not filled.
    """
    template = replace(template, messages=tuple(filter(_is_written, template.messages)))
    details = template.origin.details
    is_open = any(isinstance(piece, (Part, Slot)) for piece in template.pieces)
    if "source" not in details:
        if is_open:
            raise InputError("a prompt that a Python function made is written when its places for edits are filled")
        messages = [{**message.head, "content": "".join(written_text(message))} for message in template.messages]
        return json.dumps(messages, indent=2, ensure_ascii=False) + "\n"
    source = Source(Path(f"prompt{template.origin.suffix}"), str(details["source"]), bool(details.get("bom")))
    if is_open:
        return source.marked(source.text)
    if "inline" in details:
        return source.marked(_inline(source, template, str(details["inline"])))
    return source.marked(_written(source, template))


def written_text(message: Message) -> list[str]:
    """A message's content as it is written, one text per text part, with fields as they were spelled."""
    parts = [""]
    for piece in message.pieces:
        if isinstance(piece, Unwritten):
            parts.append("")
        elif not isinstance(piece, Field) or piece.written:
            parts[-1] += str(piece)
    return parts


def _is_written(message: Message) -> bool:
    """Whether a message is more than the sample, which psopt sends in a message of its own if no field names it."""
    pieces = [piece for piece in message.pieces if not isinstance(piece, Unwritten)]
    return not message.pieces or any(not isinstance(piece, Field) or piece.written for piece in pieces)


def _written(source: Source, template: Template) -> str:
    """The file with a template's messages, or with its plain text."""
    node = document_of(source)
    messages = message_list(node)
    if node is None or messages is None or template.origin.format == "text":
        return "".join(written_text(template.messages[0]))
    last = last_user([node.value["role"].value for node in messages.value])
    n_added = len(template.messages) - len(messages.value)
    added = [
        {"role": message.role, "content": "".join(written_text(message))}
        for message in template.messages[last : last + n_added]
    ]
    changes = []
    expected = []
    kept = [*template.messages[:last], *template.messages[last + n_added :]]
    for own, message in zip(messages.value, kept, strict=True):
        places = content_nodes(own)
        parts = written_text(message)
        texts = [*parts[: len(places) - 1], "".join(parts[len(places) - 1 :])]  # what psopt added belongs to the last
        expected.append(_with_texts(own.plain(), texts))
        for place, text in zip(places, texts, strict=True):
            if text != place.value:
                changes.append(_Change(place.start, place.end, tuple(spellings(source.text, place, text))))
    expected[last:last] = added
    if added:
        changes.append(_insertion(source.text, messages, last, added))

    def is_exact(changed: Node) -> bool:
        own = message_list(changed)
        return own is not None and own.plain() == expected

    written = _first_exact(source, _changed(source.text, changes), is_exact)
    if written is not None:
        return written
    if node is messages:
        return _dumped(node, expected)
    return _dumped(node, {**node.plain(), "messages": expected})


def _with_texts(message: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """A message as data with new texts: its content, or those of its parts."""
    content = message["content"]
    if not isinstance(content, list):
        return {**message, "content": "".join(texts)}
    parts = [
        {**part, "text": text} if isinstance(part, dict) else text for part, text in zip(content, texts, strict=True)
    ]
    return {**message, "content": parts}


def _dumped(node: Node, data: Any) -> str:
    """Data written from scratch: correct, for cases in which their own style could not be kept."""
    if node.style != "json":
        import yaml

        return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _inline(source: Source, template: Template, suffix: str) -> str:
    node = document_of(source)
    if node is None:
        raise InputError(f"the configuration around the prompt can't be read: {source.text:.60}")
    number = template.origin.details.get("number")
    entry = chosen_prompt(source.path, node, number)
    text = _written(Source(Path(f"prompt{suffix}"), entry.value), template)
    if text == entry.value:
        return source.text
    change = _Change(entry.start, entry.end, tuple(spellings(source.text, entry, text)))
    written = _first_exact(
        source,
        _changed(source.text, [change]),
        lambda changed: chosen_prompt(source.path, changed, number).value == text,
    )
    if written is None:
        raise InputError("the edited prompt can't be written into its configuration: keep it in a file of its own")
    return written


def _insertion(text: str, messages: Node, index: int, items: Sequence[dict[str, str]]) -> _Change:
    following = messages.value[index]
    if text[messages.start] == "[":
        gap = flow_gap(text, following)
        turns = "".join(flow_item(text, following, item) + gap for item in items)
        return _Change(following.start, following.start, (turns,))
    dash = _DASH.search(text, 0, following.start)
    if dash is None:
        return _Change(following.start, following.start, ())
    ways = zip(*(block_items(dash["indent"], item) for item in items), strict=True)
    return _Change(dash.start(), dash.start(), tuple(map("".join, ways)))


def flow_gap(text: str, item: Node) -> str:
    """What separates items of a list in brackets: a comma and, where an item begins its line, a new line."""
    before = text[: item.start].rpartition("\n")[2]
    return ", " if before.strip() else f",\n{before}"


def flow_item(text: str, like: Node, item: dict[str, str]) -> str:
    """An item of a list in brackets, on one line or on several as another item is."""
    _, *others = text[like.start : like.end].split("\n")
    if not others:
        return json.dumps(item, ensure_ascii=False)
    line = text[: like.start].rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip())]
    step = len(others[0]) - len(others[0].lstrip()) - len(indent)
    return json.dumps(item, ensure_ascii=False, indent=max(step, 1)).replace("\n", f"\n{indent}")


def block_items(indent: str, item: dict[str, str]) -> Iterator[str]:
    """Yield ways to write an item of a YAML list in lines of its own: a name, and below it a text."""
    (key, name), (member, text) = item.items()
    quoted = json.dumps(text, ensure_ascii=False)
    block = quoted
    if "\n" in text:
        block = f"|{indicators(text, '  ')}\n{indented(text, indent + '    ')}"
    for spelled in (block, quoted, _escaped(text)):
        yield f"{indent}- {key}: {name}\n{indent}  {member}: {spelled}\n"


def _changed(text: str, changes: Sequence[_Change]) -> Iterator[str]:
    """Yield the text with all changes, in one spelling after the other."""
    if not all(change.spellings for change in changes):
        return
    newline = newline_of(text)
    # Each further spelling is right in more cases, so one level for all changes is enough; there are four or five.
    for level in range(max((len(change.spellings) for change in changes), default=1)):
        spans = []
        for change in changes:
            spelled = change.spellings[min(level, len(change.spellings) - 1)]
            spans.append(Span(change.start, change.end, (re.sub(r"\r?\n", newline, spelled),)))
        yield "".join(map(str, pieces_of(text, spans)))


def _first_exact(source: Source, candidates: Iterable[str], is_exact: Callable[[Node], bool]) -> str | None:
    """The first changed text of a file that reads back correctly; None if none does."""
    for text in candidates:
        with suppress(InputError):
            node = document_of(replace(source, text=text))
            if node is not None and is_exact(node):
                return text
    return None


def spellings(source: str, node: Node, text: str) -> Iterator[str]:
    """Yield ways to write a text in place of a node, the most faithful first; callers must check that it reads back."""
    if node.style == "json":
        yield json.dumps(text, ensure_ascii=source[node.start : node.end].isascii() and not str(node.value).isascii())
        return
    if node.style in ("|", ">"):
        yield from _in_block(source, node, text)
    elif "\n" in text and not source[node.end : node.end + 1].strip():
        yield from _as_block(source, node, text)
    end = _line_end(source, node)
    yield json.dumps(text, ensure_ascii=False) + end
    yield _escaped(text) + end


def _in_block(source: str, node: Node, text: str) -> Iterator[str]:
    """A block with the old one's header and indentation, or else with another header."""
    block = source[node.start : node.end]
    header = _BLOCK.match(block)
    if header is None:
        return
    lines = block[header.end() :].split("\n")
    first = next((line for line in lines if line.strip()), "")
    value = next((line for line in str(node.value).split("\n") if line.strip()), "")
    indent = " " * (len(first) - len(first.lstrip(" ")) - (len(value) - len(value.lstrip(" "))))
    end = _line_end(source, node)
    if header["style"] == "|":
        yield header.group() + indented(text, indent) + end
    yield f"|{indicators(text, indent)}\n{indented(text, indent)}{end}"


def _as_block(source: str, node: Node, text: str) -> Iterator[str]:
    """A block in place of a plain or quoted string on the line of its key."""
    line = source[source.rfind("\n", 0, node.start) + 1 : node.start]
    indent = " " * (len(line) - len(line.lstrip(" -")) + 2)
    yield f"|{indicators(text, '  ')}\n{indented(text, indent)}"


def indented(text: str, indent: str) -> str:
    """Return a text as the content of a block: with every line indented, and without the line break that ends it."""
    return re.sub(r"^(?=.)", indent, text.removesuffix("\n"), flags=re.MULTILINE)


def indicators(text: str, indent: str) -> str:
    """Return what a block's header must say: whether its first line is indented, and how it ends."""
    stepped = ""
    if text.startswith((" ", "\n", "\t")):
        stepped = str(len(indent))
    if not text.endswith("\n"):
        return stepped + "-"
    if text.endswith("\n\n") or not text.strip():
        return stepped + "+"
    return stepped


def _line_end(source: str, node: Node) -> str:
    """The white space between a block and the next key, which stays."""
    if node.style not in ("|", ">"):
        return ""
    block = source[node.start : node.end]
    return block[len(block.rstrip(" \n")) :]


def _escaped(text: str) -> str:
    """A YAML string with only ASCII characters."""
    # all but printable ASCII, " and \
    escaped = re.sub(r"[^ !#-\[\]-~]", lambda match: f"\\U{ord(match[0]):08x}", text)
    return f'"{escaped}"'


_TEMPLATE_MARKS = ("{{", "{%", "{#")


def promptfoo_text(template: Template) -> str:
    """Write a filled template for promptfoo: as a text, or as messages in JSON; columns become Nunjucks variables.

    The text always has a line break, because promptfoo takes some single lines for names of files. Raises InputError if
    promptfoo would also fill in its literal text, or would never show it the sample.
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

    Raises InputError if the file is no such configuration, has the prompt already, or only a person can add it.
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
    newline = newline_of(source.text)
    ways = _candidates(source.text, config.value["prompts"], added)
    candidates = (re.sub(r"\r?\n", newline, way) for way in ways)
    written = _first_exact(source, candidates, lambda changed: changed.plain() == expected)
    if written is None:
        raise InputError(f"the prompts of {path} are written so that none can be added: put it there by hand")
    return source.marked(written)


def _candidates(text: str, prompts: Node, added: dict[str, str]) -> Iterator[str]:
    """Ways to write it, the one that looks most like the rest first; reading the result shows which one is right."""
    before, whole, after = text[: prompts.start], text[prompts.start : prompts.end], text[prompts.end :]
    as_json = json.dumps(added, ensure_ascii=False)
    if not isinstance(prompts.value, list):
        yield f"{before}[{whole}, {as_json}]{after}"
        yield f"{before}[{json.dumps(prompts.plain())}, {as_json}]\n{after}"
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
        yield min(node.start + len(text[node.start : node.end].rstrip(" \r\n")) + 1, node.end)
        yield node.end
        return
    line = text.find("\n", node.end)
    yield len(text) if line < 0 else line + 1
