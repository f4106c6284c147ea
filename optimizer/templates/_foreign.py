"""Prompts in other template languages: psopt would send their marks as text, so they are refused by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from psopt.errors import InputError
from psopt.templates._fields import names_in
from psopt.templates._literals import fences, within

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from psopt.templates._draft import Draft

_NAMES_ALONE = "psopt fills in names alone, such as {{ text }}"


class _Mark(NamedTuple):
    """What tells a language, and how to say the same to psopt. `column`: only where its name is one of the data's."""

    pattern: re.Pattern[str]
    cure: str
    column: bool = False
    in_fences: bool = False


_MARKS = (
    _Mark(
        re.compile(r"<\|im_start\|>|<\|start_header_id\|>|<\|(?:system|user|assistant)\|>|<start_of_turn>|\[/?INST\]"),
        'is a conversation already, in a model\'s own form: give its messages as JSON, [{"role": "system", ..}, ..]',
        in_fences=True,
    ),
    _Mark(re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL), f"is a statement of Jinja: {_NAMES_ALONE}"),
    _Mark(
        re.compile(r"\{\{\s*[#/^>!&][^{}\n]*\}\}|\{\{\s*else\s*\}\}|\{\{\{[^{}\n]*\}\}\}"),
        f"is a block of Handlebars: {_NAMES_ALONE}",
    ),
    _Mark(re.compile(r"\{\{-[^{}\n]*\}\}|\{\{[^{}\n]*-\}\}"), f"takes white space away, as Jinja: {_NAMES_ALONE}"),
    _Mark(
        re.compile(
            r"\{\{\s*(?!psopt\.)[^\W\d]\w*(?:\.[^\W\d]\w*|\[[^\]{}\n]*\]|\([^(){}\n]*\)|\s*\|[^{}\n]*)[^{}\n]*\}\}"
        ),
        f"is an expression: {_NAMES_ALONE}",
    ),
    _Mark(
        re.compile(r"(?<!\{)\{(?P<name>[^\W\d]\w*)(?:![rsa](?::[^{}\n]*)?|:[^{}\n\"'\s]+)\}(?!\})"),
        "has a format as Python's f-strings do: write the name alone",
        column=True,
    ),
    _Mark(
        re.compile(r"\$\{(?P<name>[^\W\d]\w*)\}|\$(?P<bare>[^\W\d]\w*)"),
        "begins with a dollar sign, as in shells and string.Template: write {name}",
        column=True,
    ),
    _Mark(re.compile(r"%\((?P<name>[^()\n]+)\)[sdrf]"), "is a field of Python's % operator: write {name}", column=True),
    _Mark(
        re.compile(r"\{\{\s*[\"']"),
        "has doubled braces, as str.format and LangChain need them: psopt sends what is written, so write { once",
        in_fences=True,
    ),
)
_BARE = re.compile(r"(?<!%)%s\b|(?<!\{)\{\}(?!\})")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)\n---[ \t]*\r?\n", re.DOTALL)
_PROMPTY = re.compile(r"^(?:model|inputs?|api|sample|parameters|configuration)[ \t]*:", re.MULTILINE)


def check_is_ours(source: str | Path, draft: Draft, columns: Collection[str]) -> None:
    """Refuse a prompt of another template language, a serialised conversation, or one with front matter.

    Code fences are let pass, but for conversations and doubled braces.

    Raises InputError: naming the line, what stands there, and how to write it.

    Parameters
    ----------
    columns : collection of str
        The data's: a name that is none of them may stand for itself.
    """
    for message in draft.messages:
        if message.fields is None:
            _check(source, message.text, columns)


def _check(source: str | Path, text: str, columns: Collection[str]) -> None:
    front = _FRONT_MATTER.match(text)
    if front and (str(source).lower().endswith((".prompty", ".prompt")) or _PROMPTY.search(front["head"])):
        raise InputError(
            f"prompt {source} begins with settings between ---, as .prompty files do: leave these out, and give what "
            'stands under system: and user: as messages, [{"role": "system", "content": ..}, ..]'
        )
    fenced = fences(text)
    for mark in _MARKS:
        for match in mark.pattern.finditer(text):
            names = {name for name in match.groupdict().values() if name}
            is_data = not mark.column or not names.isdisjoint(columns)
            is_hidden = not mark.in_fences and within(match.span(), fenced)
            if is_data and not is_hidden:
                raise _refused(source, text, match, mark.cure)
    bare = _BARE.search(text)
    if bare and set(columns).isdisjoint(names_in(text, columns)):
        raise _refused(source, text, bare, "stands for a value, and names no column: write {text}")


def _refused(source: str | Path, text: str, match: re.Match[str], cure: str) -> InputError:
    line = text.count("\n", 0, match.start()) + 1
    return InputError(f"prompt {source}, line {line}: {' '.join(match.group().split())[:60]} {cure}")
