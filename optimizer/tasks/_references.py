"""The right answer where answers are not single labels: a set of labels, a number, one text or several, JSON."""

from __future__ import annotations

import ast
import functools
import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from psopt.tasks._answer_spec import JSON, LABELS, NUMBER
from psopt.tasks._cells import RowError, check_text, is_empty, plain
from psopt.text import numbers_in, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.tasks._answer_spec import AnswerSpec
    from psopt.tasks._taskfile import TaskFile

_TEXTS = (str, int, float, Decimal)  # what is a text as it stands
LONGEST_REFERENCE = 20_000  # characters, as a guard against a wrong column; chosen, not measured
_WANTED = {NUMBER: "a number", JSON: "JSON"}
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_NO_COMMA = re.compile(r"\[[',\s]*''\s*''[',\s]*\]")


def reference_in(cell: Any, column: str, described: TaskFile) -> str:
    """Return the right answer in a cell, in the form of `Sample.label`.

    A number is written plainly, several labels as `written_set` does, several texts as a JSON list.
    """
    spec, name = described.spec, f"the answer (column {column!r})"
    if isinstance(cell, str) and _NO_COMMA.fullmatch(_QUOTED.sub("''", cell.strip())):  # as NumPy writes an array
        kind = f"{name} is a list without commas"
        raise RowError(f"{kind}: {cell[:60]!r}", 'write it with commas, such as ["a", "b"]', kind)
    if spec.kind == LABELS:
        members = _members(cell, spec.detail)
        reference = None if members is None else written_set(members, described.labels)
        kind = f"{name} is no list"
        if spec.detail:
            kind = f"{name} is a list, where others are parted by {spec.detail!r}"
        fix = f"write all as lists, or name what parts the labels of all, such as --answers {LABELS}:;"
    else:
        reference = as_reference(cell, spec)
        kind = f"{name} is not {_WANTED.get(spec.form, 'a text, or a list of texts')}"
        fix = "correct it or remove the row"
    if reference is None:
        if spec.kind == NUMBER and isinstance(cell, str) and any(map(math.isnan, numbers_in(cell))):
            kind = f"{name} is a number whose size is unclear"
            fix = "write it out, such as 2000 or 2.5: a decimal point, and nothing between thousands"
        value = "empty" if is_empty(cell) else repr(str(cell)[:60])
        raise RowError(f"{kind}: {value}", fix, kind)
    check_text(reference, name, LONGEST_REFERENCE)
    return reference


def _members(cell: Any, separator: str) -> list[str] | None:
    """The labels of a cell, none if it is empty; None if they can't be told apart."""
    if is_empty(cell):
        return []
    members = _as_list(cell)
    if not separator:
        return members
    return [part.strip() for part in str(cell).split(separator) if part.strip()] if members is None else None


def as_reference(value: Any, spec: AnswerSpec, labels: Sequence[str] = ()) -> str | None:
    """Return one right answer, or a program's answer, in the form of `Sample.label`; None if it is not valid.

    >>> from psopt.tasks import AnswerSpec
    >>> as_reference(["b", "a"], AnswerSpec("labels"), ("a", "b")), as_reference("many", AnswerSpec("number"))
    ('["a", "b"]', None)
    """
    value = plain(value)
    if spec.kind == LABELS:
        members = _as_list(value)
        if members is None and isinstance(value, str) and value.strip() in labels:
            members = [value.strip()]
        if members is None or not set(members) <= set(labels):
            return None
        return written_set(members, labels)
    if is_empty(value):
        return None
    if spec.kind == NUMBER:
        return _number(value)
    return _json(value) if spec.form == JSON else _text(value)


def written_number(value: float) -> str:
    """Return a number in the form of `Sample.label`.

    >>> written_number(1250.0), written_number(0.1)
    ('1250', '0.1')
    """
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def written_set(labels: Iterable[str], among: Sequence[str]) -> str:
    """Return several labels as a JSON list in the order of the task, then of the alphabet: each set in only one way.

    >>> written_set(["sales", "billing"], ["billing", "sales"]), written_set([], ["billing", "sales"])
    ('["billing", "sales"]', '[]')
    """
    members = set(labels)
    ordered = dict.fromkeys((*among, *sorted(members)))
    return json.dumps([label for label in ordered if label in members], ensure_ascii=False)


@functools.lru_cache(maxsize=65536)
def set_written(text: str) -> frozenset[str]:
    """Return the labels that `written_set` wrote."""
    return frozenset(json.loads(text))


def labels_in(label: str, spec: AnswerSpec) -> tuple[str, ...]:
    """Return the labels in `Sample.label`: the only one, or those of a set."""
    return tuple(set_written(label)) if spec.kind == LABELS else (label,)


def as_value(reference: str | None, spec: AnswerSpec) -> Any:
    """Return the value of a reference: a list for several labels, a float for a number, otherwise the text.

    >>> from psopt.tasks import AnswerSpec
    >>> as_value('["a", "b"]', AnswerSpec("labels")), as_value("7", AnswerSpec("number"))
    (['a', 'b'], 7.0)
    """
    if reference is None or spec.form not in (LABELS, NUMBER, JSON):
        return reference
    return float(reference) if spec.kind == NUMBER else json.loads(reference)


def references_of(text: str) -> tuple[str, ...]:
    """Return all right texts of a reference in the form of `Sample.label`.

    >>> references_of("Paris"), references_of('["NYC", "New York"]')
    (('Paris',), ('NYC', 'New York'))
    """
    texts = _list_written(text)
    if not texts or not all(isinstance(member, str) for member in texts):
        return (text,)
    return tuple(map(str.strip, texts))


def _number(cell: Any) -> str | None:
    if isinstance(cell, str):
        cell = whole_number(cell)
    if isinstance(cell, bool) or not isinstance(cell, (int, float, Decimal)) or not math.isfinite(cell):
        return None
    return written_number(float(cell))


def _json(cell: Any) -> str | None:
    if not isinstance(cell, str):
        try:
            return json.dumps(cell, ensure_ascii=False, sort_keys=True, default=float)
        except (TypeError, ValueError):
            return None
    try:
        json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return cell.strip()


def _text(cell: Any) -> str | None:
    if isinstance(cell, (list, tuple)):
        texts = [str(text).strip() for text in map(plain, cell) if isinstance(text, _TEXTS) and str(text).strip()]
        if len(texts) < len(cell) or not texts:
            return None
        if len(texts) > 1:
            return json.dumps(texts, ensure_ascii=False)
        return texts[0]
    if not isinstance(cell, _TEXTS):
        return None
    return str(cell).strip()


def _list_written(text: str) -> list[Any] | None:
    """The list that a text is, as JSON or Python writes it."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list):
            return value
    return None


def _as_list(cell: Any) -> list[str] | None:
    if isinstance(cell, str):
        cell = _list_written(cell.strip())
    if not isinstance(cell, (list, tuple, set, frozenset)):
        return None
    members = list(map(plain, cell))
    if not all(isinstance(member, (str, int)) for member in members):
        return None
    return [str(member).strip() for member in members]
