"""Results of MATH's problems in one spelling: numbers as numbers, the rest as LaTeX without what changes nothing."""

from __future__ import annotations

import json
import re

_BOX = re.compile(r"\\f?box(?:ed)?\s*(?P<brace>\{)?")
_DECLARED = re.compile(
    r"^[\s*_#>]*(?:the\s+)?(?:final\s+)?answer\s*(?:is\b|:)[\s*_]*(?P<result>\S.*?)[\s*_]*$", re.I | re.M
)
_ASIDE = re.compile(r"\\(?:(?:left|right|displaystyle)(?![a-zA-Z])|[!,;:()\[\]$%\s])|[$%~\s]|\^(?:\\circ|\{\\circ\})")
_TEXT = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_SHORT_FRACTION = re.compile(r"\\frac(?:(\d)|\{([^{}]*)\})(?:(\d)|\{([^{}]*)\})")
_SHORT_ROOT = re.compile(r"\\sqrt([0-9a-zA-Z])")
# A float holds fifteen digits exactly; a longer number stays text.
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15}|(?=\.))(?:\.\d{1,15})?")
_RATIO = re.compile(r"(?P<sign>-?)(?:\\frac\{(-?\d{1,15})\}\{(\d{1,15})\}|(\d{1,15})/(\d{1,15}))")


def boxed(text: str) -> str | None:
    r"""Return what the last ``\boxed{..}`` of a text holds; None if it has none, or one that never ends.

    >>> boxed(r"so \boxed{3} or rather $\boxed{\frac{1}{2}}$."), boxed("42")
    ('\\frac{1}{2}', None)
    """
    boxes = list(_BOX.finditer(text))
    if not boxes:
        return None
    start = boxes[-1].end()
    if not boxes[-1]["brace"]:
        return text[start : start + 1].strip() or None
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place].strip() or None
    return None


def plain(result: str) -> str:
    r"""Return LaTeX without spaces, dollars, \left and \right, with fractions and texts written one way.

    Nothing is computed and nothing reordered: equal values that are written differently stay different.

    >>> plain(r"$\left( \dfrac{3}{4},\ 5 \text{ cm} \right]$"), plain(r"\tfrac12"), plain(r"90^\circ")
    ('(\\frac{3}{4},5cm]', '\\frac{1}{2}', '90')
    """
    text = result.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = _TEXT.sub(r"\1", text)
    text = _ASIDE.sub("", text)
    text = _SHORT_ROOT.sub(r"\\sqrt{\1}", text)
    text = _SHORT_FRACTION.sub(lambda part: f"\\frac{{{part[1] or part[2]}}}{{{part[3] or part[4]}}}", text)
    return text.rstrip(".")


def canonical(result: str) -> str:
    r"""Return a result as JSON: a number if it is one or a ratio of two integers, otherwise its plain LaTeX.

    >>> canonical(r"\dfrac{3}{4}"), canonical("10,\\!000"), canonical("-5.0"), canonical("3, 4"), canonical("x +1")
    ('0.75', '10000', '-5', '"3,4"', '"x+1"')
    """
    text = plain(result)
    ratio = _RATIO.fullmatch(text)
    if ratio:
        above, below = (int(part) for part in ratio.groups()[1:] if part)
        if below:
            return _written((-1 if ratio["sign"] else 1) * above / below)
    if _NUMBER.fullmatch(text):
        return _written(float(text.replace(",", "")))
    return json.dumps(text, ensure_ascii=False)


def answer_of(answer: str) -> str | None:
    r"""Return the result that a model's answer gives, as `canonical` writes it: how prompts read their answers.

    The last box, or nothing if that never ends; otherwise what the last line that declares an answer gives; otherwise
    an answer of one line.

    >>> [answer_of(answer) for answer in ("Halve it.\nAnswer: 1/2", r"It is $\boxed{12}$.", "7", "First,\nthen")]
    ['0.5', '12', '7', None]
    """
    declared = list(_DECLARED.finditer(answer))
    result: str | None = None
    if _BOX.search(answer):
        result = boxed(answer)
    elif declared:
        result = declared[-1]["result"]
    elif len(answer.strip().splitlines()) == 1:
        result = answer.strip()
    return None if result is None else canonical(result)


def _written(value: float) -> str:
    return json.dumps(int(value) if value.is_integer() else value)
