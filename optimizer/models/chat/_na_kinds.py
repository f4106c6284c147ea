"""What a chat model's answer is when it names no label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.answers import CUT_OFF

if TYPE_CHECKING:
    from psopt.answers import AnswerReader
    from psopt.models.chat._client import Alternatives, Answer

# How reasoning begins: <think> and its like, Mistral's [THINK], gpt-oss's channel.
_THINKS = re.compile(r"\s*(?:<(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>analysis)", re.IGNORECASE)
_BEGINNING = 40  # characters: more than the longest of these openings has


def kind_of(answer: Answer, reader: AnswerReader) -> str:
    """Return the kind of an answer that names no label, as `NoLabel` has it."""
    if answer.unanswered:
        return answer.unanswered
    if answer.truncated:
        return CUT_OFF
    return reader.kind(answer.text)


def begins_with_thoughts(places: Alternatives) -> bool:
    """Whether the tokens of an answer begin with reasoning, so that they say nothing about the labels."""
    beginning = ""
    for token, _ in places:
        beginning += token
        if len(beginning) >= _BEGINNING:
            break
    return _THINKS.match(beginning) is not None
