"""Numbers as people and models write them: with signs, separators of thousands, currencies, units, scale words."""

from __future__ import annotations

import math
import re
import unicodedata

_SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "mn": 1e6,
    "million": 1e6,
    "bn": 1e9,
    "billion": 1e9,
    "trillion": 1e12,
}
_MINUS = str.maketrans("\u2212\u2010\u2011\u2012\u2013", "-----")
# The digits of a number with what may part them: a space, no break space or apostrophe parts thousands alone.
_DIGITS = r"\d{1,3}(?:[\u00a0\u202f '\u2019_]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[.,]\d+"
_NUMBER = re.compile(
    rf"""(?<![\w.,])(?P<sign>[-+])?\s?(?:[$€£¥₹]\s?)?(?P<inner>[-+])?
    (?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d{{1,3}})?
    (?:\s?/\s?(?P<below>\d+(?![\d.,/]*\d)))?
    (?:\s?(?P<scale>{"|".join(_SCALES)})\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
# What may stand around a number that is all of an answer: words for a unit or a currency, and signs.
_UNIT_SIGNS = r"[\s/·^²³°%‰$€£¥₹.*`\"'()\[\]=≈~\\{}-]*"
_UNIT = re.compile(rf"[^\W\d_]{{0,20}}(?:{_UNIT_SIGNS}[^\W\d_]{{0,20}}){{0,3}}{_UNIT_SIGNS}")
_LONGEST = 400  # characters of what may be one number and its unit


def numbers_in(text: str) -> list[float]:
    """Return the numbers that stand in a text, in their order.

    >>> numbers_in("From 1,250.50 to 1.250,50 EUR, about -3 %, or 2.5 million; in 2024-05")
    [1250.5, 1250.5, -3.0, 2500000.0, 2024.0, 5.0]
    """
    plain = unicodedata.normalize("NFKC", text).translate(_MINUS)
    values = (_value(match) for match in _NUMBER.finditer(plain))
    return [value for value in values if value is not None]


def whole_number(text: str) -> float | None:
    """Return the number that a text is, its unit or currency apart; None where it is none, or more than that.

    >>> [whole_number(text) for text in ("1 250,5 kg", "EUR 12.50", "3/4", "12%", "12 or 13", "twelve", "A4")]
    [1250.5, 12.5, 0.75, 12.0, None, None, None]
    """
    plain = unicodedata.normalize("NFKC", text[:_LONGEST]).translate(_MINUS).strip()
    if len(text) > _LONGEST:
        return None
    matches = list(_NUMBER.finditer(plain))
    if len(matches) != 1:
        return None
    before, after = plain[: matches[0].start()], plain[matches[0].end() :]
    is_alone = all(_UNIT.fullmatch(part.strip()) for part in (before, after))
    return _value(matches[0]) if is_alone else None


def _value(match: re.Match[str]) -> float | None:
    number = _plain(match["digits"])
    if number is None:
        return None
    value = float(f"{number}{match['power'] or ''}")
    if match["below"]:
        below = float(match["below"])
        value = value / below if below else math.nan
    value *= _SCALES.get((match["scale"] or "").casefold(), 1.0)
    if "-" in (match["sign"], match["inner"]):
        value = -value
    return value if math.isfinite(value) else None


def _plain(digits: str) -> str | None:
    """Digits without separators of thousands, with a point: of two kinds of separators the last is the point.

    A comma alone before three digits parts thousands, a point alone never does: as English writes them.
    """
    bare = re.sub(r"[\s'\u2019_]", "", digits)
    points, commas = bare.count("."), bare.count(",")
    if points and commas:
        last = max(bare.rfind("."), bare.rfind(","))
        other = "," if bare[last] == "." else "."
        if bare.count(bare[last]) > 1:
            return None
        return bare.replace(other, "").replace(bare[last], ".")
    if commas == 1 and not re.fullmatch(r"\d{1,3},\d{3}", bare):
        return bare.replace(",", ".")
    if points > 1 and not re.fullmatch(r"\d{1,3}(\.\d{3})+", bare):
        return None  # a version, a date
    return bare.replace(",", "").replace(".", "" if points > 1 else ".")
