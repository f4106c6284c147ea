"""Marks in a prompt: those with which an author says what is rephrased and where edits go, and other languages' own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from psopt.errors import InputError, nearest
from psopt.templates._draft import DraftMessage, Span
from psopt.templates._lines import OWN, fences, literal_names, names_in, within
from psopt.templates._template import SLOTS, Slot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from psopt.templates._draft import Draft


class _Mark(NamedTuple):
    """A mark of a language, and how to write the same for psopt. `column`: it counts only if it names a column."""

    pattern: re.Pattern[str]
    cure: str
    column: bool = False
    in_fences: bool = False


_NAMES_ALONE = "psopt fills in names alone, such as {{ text }}"
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
            rf"|%(?P<between>{_NAME})%|(?<!\")\[\[\s*(?P<square>{_NAME})\s*\]\]|<<\s*(?P<angle>{_NAME})\s*>>"
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
    """
    for text in [message.text for message in draft.messages]:
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


def check_shows_data(source: str | Path, draft: Draft, columns: Collection[str]) -> None:
    """Refuse a prompt without fields that seems to name one: in quotes, or in other signs than braces (``$mail``)."""
    texts = [message.text for message in draft.messages]
    if any(names_in(text, columns, double_braces=draft.double_braces) for text in texts):
        return
    for text in texts:
        for match, name in (*literal_names(text, double_braces=draft.double_braces), *_other_places(text)):
            if name.casefold() != draft.label_column.casefold():
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


_REPHRASE = re.compile(r"</?rephrase>")
_OPEN = re.compile(r"\{\{[^{}\n]*\}\}|\{[ \t]*[^\W\d][\w .-]*\}|</?rephrase>")
_SLOT = re.compile(r"\{\{[ \t]*psopt\.(?P<kind>[\w.-]*)[ \t]*\}\}")


def template_marks(text: str, columns: Collection[str] = ()) -> list[str]:
    """Return the pieces of a text that would be fields or marks in the file of an exported prompt, or be refused there.

    >>> template_marks('My {body} hurts, {"a": 1}, {{ x }}')
    ['{body}', '{{ x }}']
    >>> template_marks('{% if x %}, which Jinja would read')
    ['{% if x %}']
    """
    own = _OPEN.findall(text)
    return own + [match.group() for match, _ in foreign_marks(text, columns) if match.group() not in own]


def has_marks(text: str) -> bool:
    """Tell whether an author has marked anything."""
    return _REPHRASE.search(text) is not None or _SLOT.search(text) is not None


def without_marks(message: DraftMessage) -> DraftMessage:
    """Return a message without its marks, which records what they marked; one alone on its line goes with its break.

    Raises InputError if ``<rephrase>`` is never closed or opened, or within another; or a place names no kind of edit.
    """
    text = message.text
    _check_balanced(text)
    marks = [_whole_line(message, *mark.span()) for mark in _REPHRASE.finditer(text)]
    places = [(*_whole_line(message, *mark.span()), mark) for mark in _SLOT.finditer(text)]
    removed = sorted([*marks, *((start, end) for start, end, _ in places)])

    def moved(position: int) -> int:
        return position - sum(min(end, position) - start for start, end in removed if start < position)

    def moved_span(span: Span) -> Span:
        return Span(moved(span.start), moved(span.end), span.pieces)

    marked = [(moved(opening[1]), moved(closing[0])) for opening, closing in zip(marks[::2], marks[1::2], strict=True)]
    slots = [Span(moved(start), moved(start), (_slot(text, start, end, mark),)) for start, end, mark in places]
    for start, end in marked:
        if any(start < slot.start < end for slot in slots):
            raise InputError("a place for edits, such as {{psopt.notes}}, can't stand within <rephrase>..</rephrase>")
    for start, end in reversed(removed):
        text = text[:start] + text[end:]
    return replace(
        message,
        text=text,
        seams=tuple(map(moved_span, message.seams)),
        fields=tuple(map(moved_span, message.fields)),
        marked=tuple(marked),
        slots=tuple(slots),
    )


def _check_balanced(text: str) -> None:
    line_of_open = 0
    for mark in _REPHRASE.finditer(text):
        line = text.count("\n", 0, mark.start()) + 1
        closes = mark.group() == "</rephrase>"
        if closes and not line_of_open:
            raise InputError(f"line {line} of the text closes a <rephrase> that is not open")
        if line_of_open and not closes:
            raise InputError(f"line {line} of the text opens a <rephrase> within another")
        line_of_open = 0 if closes else line
    if line_of_open:
        raise InputError(f"the <rephrase> in line {line_of_open} of the text is never closed")


def _slot(text: str, start: int, end: int, mark: re.Match[str]) -> Slot:
    kind = next((kind for kind in SLOTS if kind == mark["kind"]), None)
    if kind is None:
        near = nearest(mark["kind"], SLOTS) or f": there are {', '.join(f'{OWN}{kind}' for kind in SLOTS)}"
        raise InputError(f"the prompt names {mark.group()}, which is no place for edits{near}")
    indent = text[start : mark.start()]
    newline = text[mark.end() : end].lstrip(" \t")
    joint = newline or "\n"
    if kind != "examples":
        return Slot(kind, indent, newline, joint=joint + indent, spelled=mark.group())
    # Examples are paragraphs: what follows their line begins a new one.
    closing = newline
    if text[end : end + 1].strip():
        closing = newline * 2
    return Slot(kind, indent, closing, bullet="", joint=joint * 2 + indent, spelled=mark.group())


def _whole_line(message: DraftMessage, start: int, end: int) -> tuple[int, int]:
    """The line with its break, if nothing else stands on it; otherwise the stretch itself."""
    text = message.text
    first = max((seam.end for seam in message.seams if seam.end <= start), default=0)
    last = min((seam.start for seam in message.seams if seam.start >= end), default=len(text))
    line_start = text.rfind("\n", first, start) + 1 or first
    line_end = text.find("\n", end, last) + 1 or last
    alone = not (text[line_start:start] + text[end:line_end]).strip(" \t\r\n")
    return (line_start, line_end) if alone else (start, end)
