"""The part of an answer that holds the label: after reasoning, between tags, where a pattern fits, on the last line."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from psopt.answers._no_label import NO_MATCH, NO_TAG
from psopt.errors import InputError

_THOUGHTS = "think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection"
# Mistral's Magistral writes [THINK], gpt-oss its channels where a server leaves them in
# (docs.mistral.ai/capabilities/reasoning; cookbook.openai.com/articles/openai-harmony).
_THOUGHT_TAG = re.compile(rf"<(/?)(?:{_THOUGHTS})>|\[(/?)THINK\]", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CHANNEL = "<|channel|>analysis"
_END_OF_TURN = re.compile(r"<\|(?:end|return)\|>\s*\Z")
_TAG_NAME = re.compile(r"[A-Za-z_][\w.:-]*")


class Extract(NamedTuple):
    """What was taken out of an answer; no text, and the kind of N/A, where there is nothing to take.

    `structure` is a list or an object as JSON: no label, and where answers are more than one label perhaps the answer.
    """

    text: str | None
    kind: str = ""
    structure: str = ""


def spoken_part(text: str) -> str | None:
    """Take reasoning off in whatever form models write it; None where it does not end.

    A template may have opened it: then only its end is seen.

    >>> spoken_part("[THINK]Sales? No.[/THINK]billing").strip()
    'billing'
    """
    before, final, after = text.rpartition(_FINAL_CHANNEL)
    if final:
        return _END_OF_TURN.sub("", after)
    if before == "" and after.lstrip().startswith(_CHANNEL):
        return None
    if "<" not in text and "[" not in text:
        return text
    outside: list[str] = []
    depth = 0
    end = 0
    for tag in _THOUGHT_TAG.finditer(text):
        closes = any(tag.groups())
        if depth == 0:
            outside.append(text[end : tag.start()])
        if closes and depth == 0:
            outside.clear()
        depth = max(0, depth - 1) if closes else depth + 1
        end = tag.end()
    return None if depth else " ".join([*outside, text[end:]])


def has_thoughts(text: str) -> bool:
    """Whether reasoning begins or ends in a text, in whatever form models write it."""
    return _CHANNEL in text or _FINAL_CHANNEL in text or _THOUGHT_TAG.search(text) is not None


class XMLTag:
    """Takes what stands in the last pair of a tag.

    A tag that is never closed counts where no pair does: stop sequences cut its end off. Likewise one that is never
    opened, where the prompt ends with the opening.
    """

    def __init__(self, tag: str) -> None:
        if not _TAG_NAME.fullmatch(tag):
            raise InputError(f"--answer xml:{tag} names no tag: give a name without brackets, such as xml:answer")
        self._tags = re.compile(rf"<(/?){re.escape(tag)}(?:\s[^<>]*)?>", re.IGNORECASE)

    def __call__(self, text: str) -> Extract:
        """Return the text between the tags."""
        inner: str | None = None
        start: int | None = None
        for tag in self._tags.finditer(text):
            if not tag[1]:
                start = tag.end()
            elif start is not None:
                inner = text[start : tag.start()]
                start = None
            elif inner is None:
                inner = text[: tag.start()]
        if inner is None and start is not None:
            inner = text[start:]
        return Extract(None, NO_TAG) if inner is None else Extract(html.unescape(inner))

    def is_closed(self, text: str) -> bool:
        """Whether the last tag of a text that was cut off closes one."""
        tags = list(self._tags.finditer(text))
        return bool(tags) and bool(tags[-1][1])


class Pattern:
    """Takes the last match of a regular expression: its first group that took part, or all of it if it has none."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"--answer regex:{pattern} is no regular expression: {error}") from error

    def __call__(self, text: str) -> Extract:
        """Return what the pattern fits."""
        taken: str | None = None
        for match in self._pattern.finditer(text):
            groups = [group for group in match.groups() if group is not None]
            if groups or not self._pattern.groups:
                taken = groups[0] if groups else match.group()
        return Extract(None, NO_MATCH) if taken is None else Extract(taken)

    def is_closed(self, text: str) -> bool:
        """Whether a text that was cut off goes on behind the last match, so that this is whole."""
        matches = list(self._pattern.finditer(text))
        return bool(matches) and matches[-1].end() < len(text)


def last_line(text: str) -> Extract:
    """Take the last line that says something."""
    lines = [line for line in text.splitlines() if line.strip().strip("`")]
    return Extract(lines[-1] if lines else "")
