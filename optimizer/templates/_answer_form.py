"""The form of answer that a prompt asks for, as found in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.notebooks import shortened
from psopt.templates._lines import fences, json_objects, within
from psopt.text import names_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from psopt.templates._draft import Draft

_AS_JSON = re.compile(
    r"\bJSON\b[^.\n]{0,40}?\b(?:with|containing|having|of|keys?|fields?)\b[\s:]*"
    r"(?:(?:the|an?|one|two|three|exactly|only|following|named|called|with|of|keys?|fields?|members?|properties"
    r"|values?|strings?)\b[\s:]*)*"
    r"(?P<keys>[\"'`]?[\w-]+[\"'`]?(?:\s*(?:,|and|,\s*and|plus|&)\s*(?:an?\s+|the\s+)?[\"'`]?[\w-]+[\"'`]?)*)",
    re.IGNORECASE,
)
"""A sentence that enumerates the keys of JSON."""
_JSON_TOKEN = re.compile(
    r"\"(?P<key>[^\"\n]+)\"\s*:(?=\s*(?P<value>\"[^\"\n]*\"|\[[^\]]*\]|[^,}\n]*))|\"[^\"\n]*\"|[{}]"
)
_BARE = re.compile(r"-?\d|(?:true|false|null)\b")
_WORD = re.compile(r"[^\W\d][\w-]*")
_USUAL_KEYS = ("label", "category", "class", "classification", "answer", "topic", "intent", "sentiment", "prediction")
_BESIDE_LABEL = re.compile(
    r"\w*(reason|why|explanation|rationale|justification|confidence|score|probability|comment|notes?|evidence|summary)\w*",
    re.IGNORECASE,
)
"""Members that stand next to a label but do not hold it."""
_BETWEEN_KEYS = {"a", "an", "and", "plus", "the"}
_TAG_PAIR = re.compile(r"<(?P<tag>[A-Za-z_][\w.-]*)>(?P<inner>[^<>\n]{0,80})</(?P=tag)>")
_TAG_NAMED = re.compile(
    r"<(?P<tag>[A-Za-z_][\w.-]*)>(?!\S{0,80}/)[^.\n]{0,30}\btags?\b|\bin(?:side)?\s+<(?P<inner>[A-Za-z_][\w.-]*)>"
)
_ANSWER_TAGS = ("answer", "label", "category", "class", "classification", "result", "output", "sentiment", "intent")
_LAST_LINE = re.compile(
    r"^[ \t>*`_-]*(?:final\s+)?(?:answer|label|category|class|team|result):[ \t*]*"
    r"[<\[{(][^<>\[\]{}()\n]{1,60}[>\]})][ \t`*.]*$"
    r"|\b(?:last|final)\s+line\b|\b(?:end|finish|conclude)\w*\s+(?:with|by)\b[^.\n]{0,40}\b(?:answer|label)\b"
    r"|\b(?:think|reason|explain)\b[^\n]{0,200}\bthen\b[^\n]{0,80}\banswer:",
    re.IGNORECASE | re.MULTILINE,
)


_PROGRAM = re.compile(r"[ \t]*[`~]{3,}[ \t]*(?!json)[a-z]", re.IGNORECASE)
_NEAR = 100  # chosen: characters within which the next element of a list begins


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """How an answer looks, and how it is read."""

    spec: str = "label"  # ``label``, ``json:team``, ``xml:answer``, ``last-line``, or what the user said
    why: str = ""  # what in the prompt says so; empty if nothing does
    output: str = "{label}"  # an answer, with ``{label}`` in place of the label
    key: str = ""  # in a JSON answer, the member that holds the label
    keys: tuple[str, ...] = ()  # in a JSON answer, all members
    bare: tuple[str, ...] = ()  # in a JSON answer, those that are shown as numbers, or as true or false
    tag: str = ""  # in an XML answer, the element that holds the label

    @classmethod
    def in_tag(cls, tag: str, why: str = "") -> AnswerForm:
        """An answer in an XML element."""
        return cls(f"xml:{tag}", why, f"<{tag}>{{label}}</{tag}>", tag=tag)

    @property
    def speaks(self) -> bool:
        """Whether the answer's form alone sets it apart from the input before it."""
        return bool(self.keys) or self.output != "{label}"


def answer_form(draft: Draft, answer: str | None) -> AnswerForm:
    """Find the form of answer that a prompt asks for; what the user says overrides what the prompt says."""
    if answer is None:
        return _json(draft, draft.label_column) or _xml(draft) or _last_line(draft) or AnswerForm(why=_unclear(draft))
    kind, _, name = answer.partition(":")
    if kind == "json":
        stated = _json(draft, name)
        if stated and name in stated.keys:
            return replace(stated, spec=answer, why="", key=name)
        return AnswerForm(answer, key=name, keys=(name,))
    if kind == "xml":
        return AnswerForm.in_tag(name)
    if answer == "last-line":
        return AnswerForm(answer, output="Answer: {label}")
    return AnswerForm(answer)


def _json(draft: Draft, label_column: str) -> AnswerForm | None:
    for skeleton in _skeletons(draft):
        members = _members(skeleton)
        keys = tuple(members)
        if key := _key_of_label(members, draft.labels, label_column):
            bare = tuple(name for name, value in members.items() if _BARE.match(value))
            return AnswerForm(f"json:{key}", f"it shows {shortened(skeleton, 60)}", key=key, keys=keys, bare=bare)
    for message in draft.messages:
        match = _AS_JSON.search(message.text)
        if match is None or message.role == "assistant":
            continue
        words = dict.fromkeys(_WORD.findall(match["keys"]))
        keys = tuple(word for word in words if word not in (*_BETWEEN_KEYS, *draft.labels))
        if key := _label_key(keys, label_column):
            return AnswerForm(f"json:{key}", f"it says {shortened(match.group(), 60)!r}", key=key, keys=keys)
    return None


def _skeletons(draft: Draft) -> Iterator[str]:
    """The JSON that a prompt shows, except where JSON holds its input, or is part of a program in a code fence."""
    for message in draft.messages:
        programs = [span for span in fences(message.text) if _PROGRAM.match(message.text, span[0])]
        for start, end in json_objects(message.text):
            if not message.fields_in(start, end) and not within((start, end), programs):
                yield message.text[start:end]


def _key_of_label(members: Mapping[str, str], labels: Sequence[str], label_column: str) -> str:
    """The path of a JSON skeleton's member that holds the label, found by its name or by its value."""
    named = next((key for key in members if key.rpartition(".")[2] == label_column), "")
    shown = next((key for key, value in members.items() if _shows_label(value, labels)), "")
    return named or shown or _label_key(members, label_column)


def _members(skeleton: str) -> dict[str, str]:
    """The members of a JSON skeleton that are no objects, by their paths: ``result.team`` for a nested one."""
    members = {}
    path: list[str] = []
    name = ""
    for token in _JSON_TOKEN.finditer(skeleton):
        if token["key"] is not None:
            name = token["key"]
            if not re.match(r"\[?\s*\{\s*(?:\"|\Z)", token["value"]):
                members[".".join(filter(None, [*path, name]))] = token["value"]
        elif token[0] == "{":
            path.append(name)
            name = ""
        elif token[0] == "}" and path:
            path.pop()
    return members


def _shows_label(value: str, labels: Sequence[str]) -> bool:
    named = [label for label in labels if names_label(value, label, match_case=True)]
    return value.strip('"') in labels or len(named) > 1


def _label_key(keys: Collection[str], label_column: str) -> str:
    by_name = {key.rpartition(".")[2].casefold(): key for key in keys}
    if label_column and label_column.casefold() in by_name:
        return by_name[label_column.casefold()]
    usual = [by_name[name] for name in _USUAL_KEYS if name in by_name]
    possible = usual or [key for name, key in by_name.items() if not _BESIDE_LABEL.fullmatch(name)]
    return possible[0] if usual or len(possible) == 1 else ""


def _xml(draft: Draft) -> AnswerForm | None:
    wanted = {name.casefold() for name in (draft.label_column, *_ANSWER_TAGS) if name}
    for tag, shown, content in _tags(draft):
        if tag.casefold() in wanted or content in draft.labels:
            return AnswerForm.in_tag(tag, f"it says {shown!r}")
    return None


def _tags(draft: Draft) -> Iterator[tuple[str, str, str]]:
    """The elements that a prompt names and that don't hold its input: name, what is said, and content if it has any."""
    for message in draft.messages:
        for pattern in (_TAG_PAIR, _TAG_NAMED):
            for match in pattern.finditer(message.text):
                tag = match["tag"] or match["inner"]
                if not _is_listed(message.text, match, tag) and not _is_input(draft, tag):
                    yield tag, shortened(match.group(), 60), match["inner"].strip() if pattern is _TAG_PAIR else ""


def _is_input(draft: Draft, tag: str) -> bool:
    """Whether an element of a prompt holds its input, as ``<answer>`` does in a judge's."""
    element = re.compile(rf"<{re.escape(tag)}>(?:(?!<{re.escape(tag)}>).)*?</{re.escape(tag)}>", re.DOTALL)
    return any(
        message.fields_in(*match.span()) for message in draft.messages for match in element.finditer(message.text)
    )


def _is_listed(text: str, match: re.Match[str], tag: str) -> bool:
    """Whether an element stands next to another of its name: a list of labels, not the form of an answer."""
    before = text[max(0, match.start() - _NEAR) : match.start()].rstrip()
    after = text[match.end() : match.end() + _NEAR].lstrip()
    return before.endswith(f"</{tag}>") or after.startswith(f"<{tag}>")


def _last_line(draft: Draft) -> AnswerForm | None:
    for message in draft.messages:
        for match in _LAST_LINE.finditer(message.text):
            # A field in it is an answer that is itself the input, as in a judge's prompt.
            if message.role == "assistant" or message.fields_in(*match.span()):
                continue
            captioned = re.search(r"\b(Answer|Label|Team|Category|Class|Final answer):", message.text)
            output = f"{captioned[1] if captioned else 'Answer'}: {{label}}"
            return AnswerForm("last-line", f"it says {shortened(match.group(), 60)!r}", output)
    return None


def _unclear(draft: Draft) -> str:
    """What to say if a prompt shows JSON in which no member is clearly the label, or an element that may hold it."""
    if skeleton := next(_skeletons(draft), None):
        shown = shortened(skeleton, 60)
        return f"it shows {shown}, of which no member is plainly the label (--answer json:NAME says which)"
    for tag, text, _ in _tags(draft):
        return f"it says {text!r}; if that holds the label: --answer xml:{tag}"
    return ""
