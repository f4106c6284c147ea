"""A string as it is written into the place of another one, in JSON or YAML, in the style of the one before."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.text import Node

_BLOCK = re.compile(r"(?P<style>[|>])(?P<indicators>[-+0-9]*)(?P<rest>[^\n]*)\n")


def spellings(source: str, node: Node, text: str) -> Iterator[str]:
    """Yield ways to write a text in the place of a node, the most faithful first.

    Whoever uses one reads the file again to see whether it means the text: YAML has too many rules to be sure before.
    """
    if node.style == "json":
        yield json.dumps(text, ensure_ascii=source[node.start : node.end].isascii() and not str(node.value).isascii())
        return
    if node.style in ("|", ">"):
        yield from _in_block(source, node, text)
    elif "\n" in text and not source[node.end : node.end + 1].strip():
        yield from _as_block(source, node, text)
    elif "\n" not in text and node.style != '"':
        yield f"'{text.replace(chr(39), chr(39) * 2)}'" if node.style else text
    end = _line_end(source, node)
    yield json.dumps(text, ensure_ascii=False) + end
    yield _escaped(text) + end


def _in_block(source: str, node: Node, text: str) -> Iterator[str]:
    """A block like the one before: its header and its indentation, else another header."""
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
    """A block in the place of a plain or quoted string on the line of its key."""
    line = source[source.rfind("\n", 0, node.start) + 1 : node.start]
    key = re.match(r"[ -]*", line)
    indent = " " * ((key.end() if key else 0) + 2)
    yield f"|{indicators(text, '  ')}\n{indented(text, indent)}"


def indented(text: str, indent: str) -> str:
    """Put a text into a block: every line after an indentation."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # the line break that ends a block is the last line's own
    return "\n".join(indent + line if line else line for line in lines)


def indicators(text: str, indent: str) -> str:
    """Say in a block's header that its first line is indented, and how it ends."""
    stepped = str(len(indent)) if text[:1] in (" ", "\n", "\t") else ""
    if not text.endswith("\n"):
        return stepped + "-"
    return stepped + ("+" if text.endswith("\n\n") or not text.strip() else "")


def block_end(source: str, node: Node) -> int:
    """Where the last line of a block ends: empty lines before the next key are none of it."""
    return min(node.start + len(source[node.start : node.end].rstrip(" \r\n")) + 1, node.end)


def _line_end(source: str, node: Node) -> str:
    """What of a block's stretch is space before the next key, which stays."""
    if node.style not in ("|", ">"):
        return ""
    block = source[node.start : node.end]
    return block[len(block.rstrip(" \n")) :]


def _escaped(text: str) -> str:
    """A YAML string of ASCII alone."""
    escaped = "".join(
        character if character.isascii() and character.isprintable() and character not in '"\\'
        else f"\\U{ord(character):08x}"
        for character in text
    )  # fmt: skip
    return f'"{escaped}"'
