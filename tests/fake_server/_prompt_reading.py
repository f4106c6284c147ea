"""What chat messages hold: the labels that psopt's own form or DSPy's lists, and the texts of turns."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ASK = "Answer with exactly one of these labels and nothing else: "
_LABELS = re.compile(rf"^{re.escape(ASK)}(.*)$", re.MULTILINE)
_DSPY_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")
_DSPY_LABELS = re.compile(r"\(must be formatted as a valid Python Literal(\[.*?\])\)")


def listed_labels(message: str) -> list[str]:
    """The labels that a rendered prompt lists, or that a DSPy program's signature allows."""
    if line := _LABELS.search(message):
        return line.group(1).split(", ")
    literal = _DSPY_LABELS.search(message)
    return list(ast.literal_eval(literal.group(1))) if literal else []


def dspy_field(message: str) -> str | None:
    """The output field that a DSPy program asks for."""
    field = _DSPY_FIELD.search(message)
    return field.group(1) if field else None


def text_of(message: Mapping[str, Any]) -> str:
    """A message's content, which may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
