"""promptfoo's assertions: which answer they say is right (promptfoo.dev/docs/configuration/expected-outputs)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.tasks._cells import plain
from psopt.text import yaml_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_NAMES_ALONE = re.compile(r"\{\{-?\s*(?P<name>[^\W\d][\w.]*)\s*-?\}\}")
_EXPRESSION = re.compile(r"\{\{|\{%")
_ONE = frozenset({"equals", "contains", "icontains", "starts-with", "similar"})
_SEVERAL = frozenset({"contains-all", "icontains-all", "contains-any", "icontains-any"})
_FORMS = frozenset({"is-json", "contains-json"})
_OF_THE_CALL = frozenset({"cost", "latency"})  # they say nothing about the answer
# The most common comparison in a line of JavaScript: the answer, or a member of its JSON, with a text or a variable.
_COMPARED = re.compile(
    r"(?:return\s+)?(?:JSON\.parse\(\s*output\s*\)|output)(?:\.(?!includes)\w+(?:\(\s*\))?)*"
    r"(?:\s*={2,3}\s*|\.includes\(\s*)"
    r"(?:'(?P<single>[^'\\]*)'|\"(?P<double>[^\"\\]*)\"|context\.vars\.(?P<name>\w+))(?:\.\w+\(\s*\))*\s*\)?\s*;?"
)
# In a cell of a CSV file: ``icontains: Billing``, ``similar(0.8): ..``; otherwise the text is the answer
_IN_A_CELL = re.compile(r"(?P<type>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\([\d.]+\))?:(?P<value>.*)", re.DOTALL)
_SHORT = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_OTHERS = {
    *("javascript", "python", "llm-rubric", "regex", "factuality", "levenshtein", "model-graded-closedqa", "rouge-n"),
    *("answer-relevance", "classifier", "context-recall", "context-relevance", "perplexity", "webhook", "moderation"),
}


class UnreadError(Exception):
    """An assertion that psopt can't use; the message names it."""


def filled(text: str, variables: Mapping[str, Any]) -> str:
    """Fill in names in double braces, as Nunjucks does in the simplest case; unknown names stay."""

    def value(match: re.Match[str]) -> str:
        variable = variables.get(match["name"])
        return match.group() if variable is None else _written(variable)

    return _NAMES_ALONE.sub(value, text)


def assertion_of_cell(cell: str) -> dict[str, Any]:
    """Read an assertion from a column ``__expected``."""
    text = cell.strip()
    if text in _FORMS | _OF_THE_CALL:
        return {"type": text}
    if match := _IN_A_CELL.fullmatch(text):
        kind = _SHORT.get(match["type"], match["type"])
        if kind.removeprefix("not-") in _ONE | _SEVERAL | _FORMS | _OF_THE_CALL | _OTHERS:
            value: Any = match["value"].strip()
            # As a list, even of one: a name after file:// in such a cell is text.
            return {"type": kind, "value": value.split(",") if kind in _SEVERAL else value}
    return {"type": "equals", "value": text}


def answer_of(assertion: Any, variables: Mapping[str, Any], read_file: Callable[[str], str]) -> Any:
    """Return the answer that an assertion says is right; None if it does not say which is.

    Its value may name variables of its test; `read_file` reads the files that it names by ``file://``.
    """
    if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
        raise UnreadError("an assertion without a type")
    kind, value = assertion["type"], assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        value = read_file(value)
    if kind in _OF_THE_CALL or (kind in _FORMS and value in (None, "")):
        return None
    if kind in _FORMS:
        return _in_schema(kind, value)
    if kind == "javascript" and isinstance(value, str):
        return _compared(value, variables)
    if kind in _SEVERAL:
        return _one_of_several(kind, value, variables)
    if kind in _ONE and value is not None:
        return _filled_whole(kind, value, variables)
    raise UnreadError(kind)


def is_loose(assertion: Any) -> bool:
    """Tell whether an assertion accepts its answer in upper or lower case: then others tell how it is spelled."""
    return isinstance(assertion, dict) and str(assertion.get("type")).startswith("icontains")


def only_answer(answers: Sequence[Any]) -> Any:
    """Return the answer that all assertions of a test name; the first spelling if they differ only in case."""
    by_form = {_written(answer).strip().casefold(): answer for answer in reversed(answers)}
    if len(by_form) > 1:
        raise UnreadError(f"several answers ({', '.join(repr(answer) for answer in reversed(by_form.values())):.60})")
    return next(iter(by_form.values()), None)


def _filled_whole(kind: str, value: Any, variables: Mapping[str, Any]) -> str:
    text = filled(_written(value), variables).strip()
    if _EXPRESSION.search(text):
        raise UnreadError(f"{kind} of {text:.40}")
    return text


def _one_of_several(kind: str, value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not value or (len(value) > 1 and kind.endswith("any")):
        raise UnreadError(kind)
    texts = [_filled_whole(kind, member, variables) for member in value]
    return texts[0] if len(texts) == 1 else texts


def _compared(code: str, variables: Mapping[str, Any]) -> str:
    match = _COMPARED.fullmatch(code.strip())
    if match is None:
        raise UnreadError("javascript")
    if match["name"]:
        if match["name"] not in variables:
            raise UnreadError(f"javascript of {match['name']}")
        return _written(variables[match["name"]]).strip()
    return (match["single"] or match["double"] or "").strip()


def _in_schema(kind: str, schema: Any) -> Any:
    """The members that a JSON schema fixes: a single one as its value, several as JSON; None if it fixes none."""
    if isinstance(schema, str):
        try:
            schema = yaml_node(schema, kind).plain()
        except InputError as error:
            raise UnreadError(f"{kind} with a schema that is none") from error
    if not isinstance(schema, dict):
        raise UnreadError(f"{kind} with a schema that is none")
    fixed = dict(_fixed(schema))
    if len(fixed) > 1:
        return json.dumps(fixed, ensure_ascii=False)
    return next(iter(fixed.values()), None)


def _fixed(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    members = schema.get("properties")
    if not isinstance(members, dict):
        return
    for name, member in members.items():
        match member:
            case {"const": value} | {"enum": [value]}:
                yield name, value


def _written(value: Any) -> str:
    """A value as JavaScript writes it."""
    if isinstance(value, (bool, dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(plain(value))
