"""Answers that name no label: their kinds, and what was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "unknown label"
SEVERAL = "several labels"
MENTION = "mention"
EMPTY = "empty"
CUT_OFF = "cut off"
NO_NUMBER = "no number"
SEVERAL_NUMBERS = "several numbers"
NO_JSON = "no JSON"
NO_FIELD = "no field"
NO_TAG = "no tag"
NO_MATCH = "no match"
REFUSED = "refused"
_SAY_HOW = "say by --answer where in an answer the label stands"
NO_LABEL_CURES = {
    UNKNOWN: "say in the prompt to answer with a label only",
    SEVERAL: "say in the prompt to answer with one label only",
    MENTION: f"say in the prompt to answer with a label only, or {_SAY_HOW}",
    NO_NUMBER: "say in the prompt to answer with a number only",
    SEVERAL_NUMBERS: "say in the prompt to answer with one number only, or say by --answer where it stands",
    EMPTY: "raise --max-tokens if the model thinks before it answers, else look at the server's log",
    CUT_OFF: "raise --max-tokens",
    "context length": "shorten the texts or the prompt",
    "invalid JSON": "try --plain",
    NO_JSON: f"say in the prompt to answer in JSON alone, send --response-format, or {_SAY_HOW}",
    NO_FIELD: f"{_SAY_HOW}: json:FIELD names the member",
    NO_TAG: f"say in the prompt which tag the answer stands in, or {_SAY_HOW}",
    NO_MATCH: _SAY_HOW,
    REFUSED: "leave such texts out, or take a model that answers them",
}
_LONGEST = 80  # characters of an answer that are shown


@dataclass(frozen=True, slots=True)
class NoLabel:
    """An answer that names no label."""

    # Its place in an (N, Q) array of predictions
    sample: int
    rephrasing: int
    # ``unknown label``, ``several labels``, ``mention`` (a sentence names one without asserting it), ``empty``, ``cut
    # off``, ``refused``, ``content filter``, ``context length`` or ``invalid JSON``; also ``no JSON``, ``no field``,
    # ``no tag`` or ``no match``, for prompts whose answers are not read as bare labels
    kind: str
    said: str  # what was answered, or how the server refused, shortened and on one line


def shown(text: str | None) -> str:
    r"""Return an answer in a form that can be printed anywhere: on one line, short, without control characters.

    >>> shown("The answer\n\x1b[31mis")
    'The answer [31mis'
    """
    line = one_line(text or "")
    return f"{line[: _LONGEST - 2]}.." if len(line) > _LONGEST else line


def answers_line(answers: Mapping[str, int]) -> str:
    """Say on one line how often each answer was given.

    >>> answers_line({"12": 7, "N/A": 2})
    '12 (7), N/A (2)'
    """
    return ", ".join(f"{shown(answer)} ({n})" for answer, n in answers.items())
