"""Reasoning that stands in an answer: where it ends, and the answer begins."""

from __future__ import annotations

import re

_NAMES = "think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection"
_TAG = re.compile(rf"<(/?)(?:{_NAMES})>", re.IGNORECASE)
# Mistral's Magistral writes [THINK], gpt-oss its channels where a server leaves them in
# (docs.mistral.ai/capabilities/reasoning; cookbook.openai.com/articles/openai-harmony).
_ANY_TAG = re.compile(rf"{_TAG.pattern}|\[(/?)THINK\]", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CHANNEL = "<|channel|>analysis"
_END = re.compile(r"<\|(?:end|return)\|>\s*\Z")


def without_thoughts(text: str) -> str | None:
    """Take reasoning off; None where it does not end. A template may have opened it: then only its end is seen."""
    return _outside(_TAG, text) if "<" in text else text


def spoken_part(text: str) -> str | None:
    """Take reasoning off in whatever form models write it; None where it does not end.

    >>> spoken_part("[THINK]Sales? No.[/THINK]billing").strip()
    'billing'
    """
    before, final, after = text.rpartition(_FINAL_CHANNEL)
    if final:
        return _END.sub("", after)
    if before == "" and after.lstrip().startswith(_CHANNEL):
        return None
    return _outside(_ANY_TAG, text) if "<" in text or "[" in text else text


def has_thoughts(text: str) -> bool:
    """Whether reasoning begins or ends in a text, in whatever form models write it."""
    return _CHANNEL in text or _FINAL_CHANNEL in text or _ANY_TAG.search(text) is not None


def _outside(pattern: re.Pattern[str], text: str) -> str | None:
    outside: list[str] = []
    depth = 0
    end = 0
    for tag in pattern.finditer(text):
        closes = any(tag.groups())
        if depth == 0:
            outside.append(text[end : tag.start()])
        if closes and depth == 0:
            outside.clear()
        depth = max(0, depth - 1) if closes else depth + 1
        end = tag.end()
    return None if depth else " ".join([*outside, text[end:]])
