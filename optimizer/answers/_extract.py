"""The part of an answer that holds the label: after reasoning, between tags, at a pattern's match, on the last line."""

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
    """What was taken out of an answer; where there is nothing to take, no text but the kind of N/A.

    `structure` is a list or an object as JSON: not a label, but maybe the answer where answers are several labels.
    """

    text: str | None
    kind: str = ""
    structure: str = ""


def spoken_part(text: str) -> str | None:
    """Remove reasoning, in any form that models write it; return None where it does not end.

    A chat template may have opened it: then the answer holds only its end.

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
        if not closes:
            depth += 1
        elif depth:
            depth -= 1
        else:
            outside.clear()
        end = tag.end()
    return None if depth else " ".join([*outside, text[end:]])


def has_thoughts(text: str) -> bool:
    """Whether reasoning begins or ends in a text, in any form that models write it."""
    return _CHANNEL in text or _FINAL_CHANNEL in text or _THOUGHT_TAG.search(text) is not None


class XMLTag:
    """Takes what stands between the last pair of a tag.

    Where there is no pair, a tag that is never closed counts too, since stop sequences cut off its end. So does one
    that is never opened, since the prompt may end with the opening.
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
        if inner is None:
            return Extract(None, NO_TAG)
        return Extract(html.unescape(inner))

    def is_closed(self, text: str) -> bool:
        """Whether the last tag of a text that was cut off is a closing one."""
        tags = list(self._tags.finditer(text))
        return bool(tags) and bool(tags[-1][1])


class Pattern:
    """Takes the last match of a regular expression: its first group that took part, or all if it has no groups."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"--answer regex:{pattern} is no regular expression: {error}") from error

    def __call__(self, text: str) -> Extract:
        """Return what the pattern matches."""
        extract = Extract(None, NO_MATCH)
        for match in self._pattern.finditer(text):
            groups = match.groups() or (match.group(),)
            extract = next((Extract(group) for group in groups if group is not None), extract)
        return extract

    def is_closed(self, text: str) -> bool:
        """Whether a text that was cut off continues after the last match, so that the match is complete."""
        matches = list(self._pattern.finditer(text))
        return bool(matches) and matches[-1].end() < len(text)


def last_line(text: str) -> Extract:
    """Take the last line that has more than white space and backticks."""
    return Extract(next((line for line in reversed(text.splitlines()) if line.strip().strip("`")), ""))
