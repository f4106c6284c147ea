"""What the fake server knows: the texts of a data file and their labels; on some it errs, by how it is asked."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of the texts so many are answered rightly however it is asked, and so many by some wordings.
_STEADY, _SWAYING = 0.5, 0.4
# Of the texts that show a quoted phrase so many get the label that stands in its line.
_OBEYED = 0.8
_QUOTED = re.compile(r'["“]([^"“”]+)["”]')


class KnownTexts:
    """The rows of a CSV or JSONL file: the columns `inputs` hold the text, `label_column` what is right."""

    def __init__(self, file: str, inputs: Sequence[str], label_column: str) -> None:
        content = Path(file).read_text("utf-8")
        lines = map(json.loads, content.splitlines()) if file.endswith(".jsonl") else _rows_of_csv(content)
        rows = [([row[name].strip() for name in inputs], row[label_column]) for row in lines]
        self._known = [(tuple(filter(None, texts)), label) for texts, label in rows]
        self.labels = tuple(sorted({label for _, label in rows}))

    def answer(self, before: str, asked: str) -> str:
        """The label for the known text that stands last in what is asked, by what is said before it."""
        shown = [
            (max(map(asked.rfind, texts)), texts, label)
            for texts, label in self._known
            if all(text in asked for text in texts)
        ]
        if not shown:
            return "I can't tell."
        _, texts, right = max(shown)
        text = "\n".join(texts)
        said = before + asked[: min(map(asked.rindex, texts))]
        for line in said.splitlines():
            label = next((label for label in self.labels if label in _QUOTED.sub("", line)), None)
            is_shown = any(phrase.casefold() in text.casefold() for phrase in _QUOTED.findall(line))
            if label and is_shown and _draw(text, line) < _OBEYED:
                return label
        place = _draw(text)
        if place < _STEADY or (place < _STEADY + _SWAYING and _draw(text, _instructions(said)) < _STEADY):
            return right
        others = [label for label in self.labels if label != right]
        return others[int(_draw(text, "which") * len(others))]


def _rows_of_csv(content: str) -> csv.DictReader[str]:
    return csv.DictReader(io.StringIO(content, newline=""))


def _instructions(said: str) -> str:
    """What is said but for lists and their headings, so that prompts that add to them sway alike."""
    lines = (line.strip() for line in said.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("-", "*")) and not line.endswith(":"))


def _draw(*parts: str) -> float:
    digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def frame_of(said: str) -> tuple[str, str]:
    """What stands around the label in the forms that the examples' prompts ask for: JSON, or a last line."""
    if '{"team"' in said:
        return '{"team": "', '", "reason": "It says so."}'
    return ("It says so.\nAnswer: ", "") if "Answer: <" in said else ("", "")
