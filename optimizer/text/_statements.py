"""What a prompt's own text says of labels, line by line, as a simple model reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.text._label_mentions import label_mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Words up to which a line is a heading or the name of a field, and says nothing of the task; chosen, not measured.
_HEADING_WORDS = 4
_MARKS = re.compile(r"^[\s>#*•–-]+|[*`]+|^\s*\d+[.)]\s+")
_ITEM = re.compile(r"\s*(?:[-*•#>|<]|\d+[.)]\s)|    |\t")
_TAG = re.compile(r"</?\w[^<>]*>")


@dataclass(frozen=True, slots=True)
class Statements:
    """A text, sorted by what it says of labels."""

    definitions: tuple[tuple[str, str], ...]  # one a label: several that stand in the text are joined by semicolons
    notes: tuple[str, ...]  # lines with a sentence that names one label
    # Lines that do neither, and prose that names a label in passing; headings, names of fields and the form of the
    # answer are left out
    rest: tuple[str, ...]


def statements(text: str, labels: Sequence[str]) -> Statements:
    r"""Read what a text says of labels; each line counts once.

    >>> text = "# Teams\n\n- **sales**: offers\n\nSort mail.\nBills go to billing."
    >>> said = statements(text, ["sales", "billing"])
    >>> said.definitions, said.notes, said.rest
    ((('sales', 'offers'),), ('Sort mail. Bills go to billing.',), ('Sort mail. Bills go to billing.',))
    """
    definitions: dict[str, list[str]] = {}
    notes = []
    rest = []
    for line, is_item in dict.fromkeys(_lines(text)):
        if defined := _definition(line, labels):
            definitions.setdefault(defined[0], []).append(defined[1])
        elif any(f">{label}<" in line for label in labels):
            continue  # the form of an answer
        elif label_mentions(line, labels):
            notes.append(line)
            rest += [] if is_item else [line]
        else:
            rest.append(line)
    joined = tuple((label, "; ".join(meanings)) for label, meanings in definitions.items())
    return Statements(joined, tuple(notes), tuple(rest))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that say something, and whether they are items; paragraphs whose lines are broken joined to one."""
    for paragraph in re.split(r"\n\s*\n", text):
        joined: list[str] = []
        for line in paragraph.splitlines():
            if _ITEM.match(line) or not joined:
                joined.append(line)
            elif line.strip():
                joined[-1] += " " + line.strip()
        for line in joined:
            if line.lstrip().startswith(("{", "[", "}")):
                continue  # the form of an answer
            spoken = _MARKS.sub("", line).strip()
            is_heading = spoken.endswith(":") or line.lstrip().startswith("#") or not _TAG.sub("", spoken).strip()
            if spoken and not (is_heading and len(_TAG.sub("", spoken).split()) <= _HEADING_WORDS):
                yield spoken, bool(_ITEM.match(line))


def _definition(line: str, labels: Sequence[str]) -> tuple[str, str] | None:
    """A line that says what a label means: ``label: ..``, or a tag that names the label."""
    for label in sorted(labels, key=len, reverse=True):
        name = re.escape(label)
        meaning = re.match(rf"{name}\s*(?::|=|->|→|[–—]|- )\s*(\S.*)", line) or re.match(
            rf"<\w+[^>]*[\"']{name}[\"'][^>]*>(.+?)</\w+>", line
        )
        meaning = meaning or re.match(rf"<{name}>(.+?)</{name}>", line)
        if meaning:
            return label, meaning[1]
    return None
