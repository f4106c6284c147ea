"""Prompts in other template languages: psopt would send their marks as text, so they are refused by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from psopt.errors import InputError, nearest
from psopt.templates._fields import fences, literal_names, names_in, within

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from psopt.templates._draft import Draft

_NAMES_ALONE = "psopt fills in names alone, such as {{ text }}"


class _Mark(NamedTuple):
    """A mark of a language, and how to write the same for psopt. `column`: it counts only if it names a column."""

    pattern: re.Pattern[str]
    cure: str
    column: bool = False
    in_fences: bool = False


_NAME = r"[^\W\d]\w*"
_MARKS = (
    _Mark(
        re.compile(
            r"<\|[^|<>\n]{1,30}\|>|<｜[^｜<>\n]{1,30}｜>|<start_of_turn>|<extra_id_\d>"
            r"|\[/?(?:INST|SYSTEM_PROMPT)\]|<</?SYS>>"
        ),
        'is a conversation already, in a model\'s own form: give its messages as JSON, [{"role": "system", ..}, ..]',
        in_fences=True,
    ),
    _Mark(
        re.compile(r"\{%.*?%\}|\{#.*?#\}|<%.*?%>|<\?(?:=|php\b).*?\?>", re.DOTALL),
        f"is a statement, as in Jinja, ERB or PHP: {_NAMES_ALONE}",
    ),
    _Mark(
        re.compile(r"\{\{\s*[\"']"),
        "has doubled braces, as str.format and LangChain need them: psopt sends what is written, so write { once",
        in_fences=True,
    ),
    _Mark(
        re.compile(
            rf"\{{\{{\{{[^{{}}\n]*\}}\}}\}}|\{{\{{(?!\s*(?:psopt\.)?{_NAME}\s*\}}\}})(?P<inside>[^{{}}\n]*)\}}\}}"
            r"|\{[#/:](?:if|each|else)\b[^{}\n]*\}"
        ),
        f"is an expression or a block, as in Jinja and Handlebars: {_NAMES_ALONE}",
    ),
    _Mark(
        re.compile(
            rf"(?<![{{$])\{{(?P<inside>(?P<name>{_NAME})(?:(?:\.|\[[\"'])(?P<inner>{_NAME})[^{{}}\n]*"
            rf"|[.\[(][^{{}}\n]*|=|![rsa](?::[^{{}}\n]*)?|:[^{{}}\n\"'\s]+))\}}(?!\}})"
        ),
        "is an expression or has a format, as in Python's f-strings: write the name alone",
        column=True,
    ),
    _Mark(
        re.compile(
            rf"\$\{{(?:{_NAME}\.)*(?P<name>{_NAME})[^{{}}\n]*\}}|\$(?P<bare>{_NAME})"
            rf"|%\((?P<percent>[^()\n]+)\)[-+ #\d.]*[a-z]"
            rf"|%(?P<between>{_NAME})%|\[\[\s*(?P<square>{_NAME})\s*\]\]|<<\s*(?P<angle>{_NAME})\s*>>"
            rf"|(?<!\{{)\{{[ \t]+(?P<spaced>{_NAME})\s*\}}"
        ),
        "names a column in other signs than {name}, as shells and Python's % do: write that",
        column=True,
    ),
)
_PLACE = _MARKS[-1].pattern
_BARE = re.compile(r"(?<!%)%[sr]\b|(?<!\{)\{\d?\}(?!\})")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)\n---[ \t]*\r?\n", re.DOTALL)
_PROMPTY = re.compile(
    r"^(?:model|inputs?|api|sample|parameters|configuration|name|description|version|provider|temperature)[ \t]*:",
    re.MULTILINE,
)


def check_is_ours(source: str | Path, draft: Draft, columns: Collection[str]) -> None:
    """Refuse a prompt in another template language, a serialised conversation, or one with front matter.

    Code fences are exempt, except for conversations and doubled braces; a name that is no column may be literal text.

    Raises InputError, which names the line, what stands there, and how to write it.
    """
    for text in [message.text for message in draft.messages if not message.is_searched]:
        front = _FRONT_MATTER.match(text)
        is_settings = front is not None and _PROMPTY.search(front["head"]) is not None and "{" not in front["head"]
        if front and (str(source).lower().endswith((".prompty", ".prompt")) or is_settings):
            raise InputError(
                f"prompt {source} begins with settings between ---, as .prompty files do: leave these out, and give "
                'what stands under system: and user: as messages, [{"role": "system", "content": ..}, ..]'
            )
        for match, cure in foreign_marks(text, columns):
            raise _refused(source, text, match, cure)


def foreign_marks(text: str, columns: Collection[str] = ()) -> Iterator[tuple[re.Match[str], str]]:
    """Yield what would be refused in a prompt's text, and how to write it."""
    fenced = fences(text)
    for mark in _MARKS:
        for match in mark.pattern.finditer(text):
            groups = match.groupdict()
            if (groups.pop("inside", None) or "").strip() in columns:  # a column may be called "user.name"
                continue
            names = {name.casefold() for name in groups.values() if name}
            is_data = not mark.column or not names.isdisjoint(map(str.casefold, columns))
            is_hidden = not mark.in_fences and within(match.span(), fenced)
            if is_data and not is_hidden:
                yield match, mark.cure
    bare = _BARE.search(text)
    if bare and set(columns).isdisjoint(names_in(text, columns)):
        yield bare, "stands for a value, and names no column: write {text}"


def check_shows_data(source: str | Path, draft: Draft, columns: Collection[str], label_column: str) -> None:
    """Refuse a prompt without fields that seems to name one: in quotes, or in other signs than braces, as in ``$mail``.

    If it has a field, these mean themselves.
    """
    texts = [message.text for message in draft.messages if not message.is_searched]
    if any(names_in(text, columns, double_braces=draft.double_braces) for text in texts):
        return
    for text in texts:
        for match, name in (*literal_names(text, double_braces=draft.double_braces), *_other_places(text)):
            if name.casefold() != label_column.casefold():
                shown = f"{nearest(name, columns) or ';'} columns: {', '.join(columns)}"
                how = f"write {{NAME}} where the text belongs; --prompt-format {draft.origin.format} sends it as it is"
                raise _refused(source, text, match, f"names no column of the data{shown} ({how})")


def _other_places(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield names in the signs of shells and the like, but not amounts in ``$US``, nor names in code fences."""
    fenced = fences(text)
    for match in _PLACE.finditer(text):
        name = next(filter(None, match.groups()))
        if not within(match.span(), fenced) and not (match["bare"] and name[0].isupper()):
            yield match, name


def _refused(source: str | Path, text: str, match: re.Match[str], cure: str) -> InputError:
    line = text.count("\n", 0, match.start()) + 1
    return InputError(f"prompt {source}, line {line}: {' '.join(match.group().split())[:60]} {cure}")
