"""The form of the answer that a conversation asks for: a bare label, JSON, a tag, or reasons and a last line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fake_server._conversation import Conversation

_LABEL_KEYS = (
    "label",
    "team",
    "category",
    "class",
    "answer",
    "intent",
    "topic",
    "sentiment",
    "type",
    "queue",
    "result",
)
_NUMBER_KEYS = re.compile(r"confidence|score|probab|priority", re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\"[\w -]+\"\s*:[^{}]*\}")
_KEY = re.compile(r"[{,]\s*\"([\w -]+)\"\s*:")
_JSON_IN_WORDS = re.compile(r"\bJSON\b[^.\n]*?\b(?:with|keys?|fields?|members?|properties)\b([^.\n]*)")
_QUOTED = re.compile(r"[\"'`“]([\w-]+)[\"'`”]")
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)>[^<>\s][^<>]{0,60}</\1>")
_TAG_IN_WORDS = re.compile(r"\b(?:in|inside|within|between|with|use)\b[^.\n<]{0,20}<([A-Za-z][\w-]*)>")
_LAST_LINE = re.compile(r"^[\s>*_`\"'-]*((?:final )?[a-z]+)\s*:[ *_]*[\"'`]?(?:[<\[({]|\.\.|…|x\b)", re.I | re.M)
_REASONS = re.compile(r"\b(step by step|think|reason(?:ing)?|explain)\b", re.IGNORECASE)
_MARKED = re.compile(r"\b((?:Final )?[A-Z][a-z]+): ?\S[^\n]*$")

Frame = tuple[str, str]


def schema_frame(schema: dict[str, Any], labels: Sequence[str], thought: str) -> Frame:
    """What stands around the label in an object that a JSON schema describes."""
    properties = schema.get("properties") or {"label": {}}
    enums = [name for name, form in properties.items() if isinstance(form, dict) and set(labels) <= _choices(form)]
    return _json_frame(list(properties), enums[0] if enums else _label_key(list(properties)), thought)


def answer_frame(conversation: Conversation, labels: Sequence[str]) -> Frame:
    """What stands before and after the label: as the assistant has answered before, else as the instructions show."""
    thought = thought_about(conversation.text)
    if conversation.answers:
        return _as_before(conversation.answers[-1], labels, thought)
    said = conversation.instructions
    if keys := _json_keys(said, labels):
        return _json_frame(*keys, thought)
    if tag := _answer_tag(said, labels):
        before = f"{thought}\n" if _REASONS.search(said) else ""
        return f"{before}<{tag}>", f"</{tag}>"
    if _REASONS.search(said):
        marker = _LAST_LINE.search(said)
        return f"{thought}\n{marker[1] if marker else 'Answer'}: ", ""
    return "", ""


def thought_about(text: str) -> str:
    """A reason, in words of the text."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3]
    return f"The writer speaks of {' '.join(words[-4:]).lower() or 'nothing'}."


def _as_before(answer: str, labels: Sequence[str], thought: str) -> Frame:
    try:
        data = json.loads(answer)
    except ValueError:
        data = None
    if isinstance(data, dict):
        keys = [key for key, value in data.items() if value in labels]
        return _json_frame(list(data), keys[0] if keys else _label_key(list(data)), thought)
    if tag := _TAGGED.search(answer):
        return f"<{tag[1]}>", f"</{tag[1]}>"
    if marked := _MARKED.search(answer):
        return (f"{thought}\n" if "\n" in answer.strip() else "") + f"{marked[1]}: ", ""
    return "", ""


def _json_keys(said: str, labels: Sequence[str]) -> tuple[list[str], str] | None:
    """The keys of the object that is shown or told, and which of them is the label's."""
    shown = [(match[0], _KEY.findall(match[0])) for match in _OBJECT.finditer(said)]
    if shown:
        text, keys = next((pair for pair in shown if any(label in pair[0] for label in labels)), shown[-1])
        naming = [key for key in keys if any(label in _value(text, key) for label in labels)]
        return keys, _label_key(keys, naming)
    if told := _JSON_IN_WORDS.search(said):
        keys = _QUOTED.findall(told[1]) or [word for word in re.findall(r"\w+", told[1]) if word in _LABEL_KEYS]
        return (keys, _label_key(keys)) if keys else None
    return None


def _value(shown: str, key: str) -> str:
    """What stands after a key, up to the next one."""
    after = shown.partition(f'"{key}"')[2]
    return re.split(r",\s*\"[\w -]+\"\s*:", after)[0]


def _label_key(keys: Sequence[str], naming: Sequence[str] = ()) -> str:
    named = [key for key in keys if key.lower() in _LABEL_KEYS]
    return (*named, *naming, *keys)[0]


def _json_frame(keys: Sequence[str], label_key: str, thought: str) -> Frame:
    values = {key: 0.9 if _NUMBER_KEYS.search(key) else thought for key in keys}
    before, _, after = json.dumps({**values, label_key: "\x00"}, ensure_ascii=False).partition("\\u0000")
    return before, after


def _answer_tag(said: str, labels: Sequence[str]) -> str:
    """The tag that an answer shall stand in; a tag named by a label, or around a definition, is none."""
    told = [match[1] for match in _TAG_IN_WORDS.finditer(said)] or [match[1] for match in _TAGGED.finditer(said)]
    told = [tag for tag in told if tag not in labels]
    shown = [tag for tag in told if re.search(rf"</{tag}>|<{tag}>\s*tag", said)]
    return shown[-1] if shown else ""


def _choices(form: dict[str, Any]) -> set[str]:
    return {str(choice) for choice in form.get("enum", ())}
