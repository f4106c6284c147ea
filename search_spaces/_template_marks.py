"""Does a text look like a template or a conversation, and not like the description of a task?"""

from __future__ import annotations

import re

_FIELDS = (
    r"\{\{.*?\}\}|\{%.*?%\}",
    r"\{[^{}]*\}",
    r"\$\{\w+\}|\$[a-z_]\w*",
    r"%\(\w+\)s|%s\b",
    r"<<\w+>>|\[\[\s*\w+\s*\]\]",
)
_CHAT_TOKENS = r"<\|\w+\|>|\[/?INST\]|<</?SYS>>|</?s>"
_ROLE = re.compile(r"^\W{0,3}(system|user|assistant|human|ai)\W{0,2}:", re.IGNORECASE | re.MULTILINE)
_OPEN_END = re.compile(r"^\W{0,3}(answer|label|class|category|output|response|assistant)\W{0,2}:\W*\Z", re.IGNORECASE)
_OWN = "Answer with exactly one of these labels and nothing else"
_SHOWN = 30


def template_mark(text: str) -> str | None:
    """Say what makes a text a template, or None where nothing does.

    >>> template_mark("Sort {subject} by team.")
    "holds '{subject}'"
    >>> template_mark("Decide which team has to answer the ticket.")
    """
    for pattern in (_CHAT_TOKENS, *_FIELDS):
        mark = re.search(pattern, text, re.DOTALL)
        if mark:
            return f"holds {_shortened(mark.group())!r}"
    roles = {role.casefold() for role in _ROLE.findall(text)}
    if len(roles) > 1:
        return f"looks like a conversation ({', '.join(sorted(roles))})"
    if _OWN in text:
        return "names the labels in psopt's own words"
    last = text.strip().splitlines()[-1].strip()
    return f"ends in {_shortened(last)!r}, where the answer is to follow" if _OPEN_END.match(last) else None


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
