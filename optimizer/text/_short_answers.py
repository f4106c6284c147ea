"""The form in which short answers are compared: words without case, articles and punctuation; and numbers.

Numbers are read as people and models write them: with signs, thousands separators, currencies, units, scale words.
"""

from __future__ import annotations

import math
import re
import unicodedata

from psopt.text._phrases import ARTICLES

# Words for powers of ten, in the languages that answers use most. A billion is 1e9, as in English.
_WORDS_OF_SCALES = {
    12.0: "dozen dozens",
    1e2: "hundred hundreds hundert 百",
    1e3: "k tsd thousand thousands tausend mil mila mille тыс тысяча тысячи тысяч tysiąc tysiące tysięcy bin ribu "
    "nghìn ألف 千 천",
    1e4: "万 萬 만",
    1e5: "lakh lakhs",
    1e6: "mn mio mln million millions millionen millones millón milhões milhão milioni milione млн миллион миллиона "
    "миллионов miljoen miljon miljoner milion miliony milionów milyon juta triệu مليون",
    1e7: "crore crores",
    1e8: "亿 億 억",
    1e9: "bn mrd mld billion billions milliarde milliarden milliard milliards miliardo miliardi miljard miljarder "
    "miliard miliardów bilhão bilhões млрд миллиард миллиарда миллиардов milyar tỷ مليار",
    1e12: "tn trillion trillions billionen billones 兆 조",
}
_SCALES = {word: scale for scale, words in _WORDS_OF_SCALES.items() for word in words.split()}
# Letters after the digits: next to a currency in upper or lower case, otherwise only capitals, since 5 m are metres.
_LETTERS = {"m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12}
_LARGE = frozenset({"M", "MM", "B"})
_MINUS = str.maketrans("\u2212\u2010\u2011\u2012\u2013", "-----")
# The digits of a number with their separators: a space, no-break space or apostrophe separates only thousands.
_DIGITS = r"\d{1,3}(?:[\u00a0\u202f '\u2019_]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[.,]\d+"
_SCALE_WORDS = "|".join(sorted(_SCALES, key=len, reverse=True))
_MONEY = r"(?:[$€£¥₹]|EUR\b|USD\b|GBP\b|CHF\b|euros?\b|dollars?\b)"
_NO_CENTS = re.compile(r"(?<=\d)[.,](?:-{1,2}|\u2014)(?!\d)")  # 1'200.- and 1.200,-
# "At least 5" is not 5.
_BOUND = (
    r"[<>≤≥]=?\s?|\b(?:(?:at\s(?:least|most)|(?:more|less|fewer)\sthan|over|under|up\sto|mindestens|höchstens|mehr\sals"
    r"|weniger\sals|über|unter|plus\sde|moins\sde|au\smoins|más\sde|menos\sde|al\smenos)\s)"
)
_NUMBER = re.compile(
    rf"""(?<![.,])(?<![^\W\u2e80-\ud7af])(?P<bound>{_BOUND})?
    (?P<sign>[-+])?\s?(?P<currency>{_MONEY}\s?)?(?P<inner>[-+])?
    (?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d{{1,3}})?
    (?:\s?/\s?(?P<below>\d+(?![\d.,/]*\d)))?
    (?:(?P<scale>(?:\s?(?:{_SCALE_WORDS})(?:\.|\b|(?<=[^\x00-\u2fff])))+)|\s?(?P<letter>mm|[mbt])\b)?
    (?P<more>\+(?!\s?\d))?(?P<money>\s?{_MONEY})?""",
    re.VERBOSE | re.IGNORECASE,
)
# What may stand around a number that is the whole answer: words for a unit or a currency, and signs.
_UNIT_SIGNS = r"[\s/·^²³°%‰$€£¥₹.*`\"'()\[\]=≈~\\{}-]*"
_UNIT = re.compile(rf"[^\W\d_]{{0,20}}(?:{_UNIT_SIGNS}[^\W\d_]{{0,20}}){{0,3}}{_UNIT_SIGNS}")
_CURRENCY = r"(?:[$€£¥₹]|[A-Z]{3})"
_OWED = re.compile(rf"{_CURRENCY}\s?\([^()]+\)|\({_CURRENCY}\s?[^()]+\)|\([^()]+\)\s?{_CURRENCY}")
_UNSURE = re.compile(r"\d{1,3}\.\d{3}")  # money rarely has three decimals: thousands, or a petrol price?
_LONGEST = 400  # characters that one number and its unit may have
# A word with the signs that join its parts (3.5, o'clock); in scripts without spaces, each character is a word.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]|[^\W_]+(?:[.,:/'\u2019-][^\W_]+)*|[+%€$£¥-]"
)
_EMOJI_STYLE = "\ufe0f"  # asks for the coloured form of a sign


def numbers_in(text: str) -> list[float]:
    """Return the numbers in a text, in order.

    >>> numbers_in("From 1,250.50 to 1.250,50 EUR, about -3 %, or 2.5 million; in 2024-05")
    [1250.5, 1250.5, -3.0, 2500000.0, 2024.0, 5.0]
    """
    plain = _normal(text)
    values = (_value(match) for match in _NUMBER.finditer(plain))
    return [value for value in values if value is not None]


def whole_number(text: str) -> float | None:
    """Return the number that a text is, apart from its unit or currency; None if it is none, or more than that.

    >>> [whole_number(text) for text in ("1 250,5 kg", "EUR 12.50", "3/4", "12%", "12 or 13", "twelve", "A4")]
    [1250.5, 12.5, 0.75, 12.0, None, None, None]
    >>> [whole_number(text) for text in ("$1.2M", "5k", "2 Mio. EUR", "1,5 Mrd.", "3 m", "$(50)")]
    [1200000.0, 5000.0, 2000000.0, 1500000000.0, 3.0, -50.0]
    """
    if len(text) > _LONGEST:
        return None
    plain = _normal(text).strip()
    matches = list(_NUMBER.finditer(plain))
    if len(matches) != 1:
        return None
    before, after = plain[: matches[0].start()], plain[matches[0].end() :]
    if not all(_UNIT.fullmatch(part.strip()) for part in (before, after)):
        return None
    value = _value(matches[0])
    if value and _OWED.fullmatch(plain):  # accounts put debts in brackets, and the currency shows that it is an amount
        return -value
    return value


def _value(match: re.Match[str]) -> float | None:
    is_money = match["currency"] is not None or match["money"] is not None
    number = _plain(match["digits"])
    if number is None or match["bound"] or match["more"] or (is_money and _UNSURE.fullmatch(match["digits"])):
        return None
    value = float(f"{number}{match['power'] or ''}")
    below = float(match["below"] or 1)
    if not below:
        return None
    value = value / below * _scale(match, is_money=is_money)
    if not math.isfinite(value):
        return None
    return -value if "-" in (match["sign"], match["inner"]) else value


def _scale(match: re.Match[str], *, is_money: bool) -> float:
    if match["scale"]:
        words = re.findall(_SCALE_WORDS, match["scale"].casefold())
        return math.prod(_SCALES[word] for word in words)
    letter = match["letter"] or ""
    return _LETTERS[letter.casefold()] if letter in _LARGE or (letter and is_money) else 1.0


def _normal(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_MINUS)
    return _NO_CENTS.sub(",00", plain)


def _plain(digits: str) -> str | None:
    """Digits without thousands separators, with a decimal point: of two kinds of separators, the last is the point.

    A single comma before three digits separates thousands, a single point never does, as in English.
    """
    bare = re.sub(r"[\s'\u2019_]", "", digits)
    points, commas = bare.count("."), bare.count(",")
    if points and commas:
        whole, point, decimals = re.split(r"([.,])(?=\d*\Z)", bare)
        if point in whole:
            return None
        return f"{re.sub('[.,]', '', whole)}.{decimals}"
    if commas == 1 and not re.fullmatch(r"\d{1,3},\d{3}", bare):
        return bare.replace(",", ".")
    if points > 1 and not re.fullmatch(r"\d{1,3}(\.\d{3})+", bare):
        return None  # a version, a date
    if commas > 1 and not re.fullmatch(r"\d{1,3}(,\d{2,3})*,\d{3}", bare):
        return None  # a list; in India, digits above the thousands are grouped in pairs
    return bare.replace(".", "") if points > 1 else bare.replace(",", "")


def answer_words(text: str) -> tuple[str, ...]:
    """Return the words by which an answer is compared; English articles only if there are no other words.

    >>> answer_words("The  Eiffel-Tower, Paris."), answer_words("3.50 €"), answer_words("The The"), answer_words("東京")
    (('eiffel-tower', 'paris'), ('3.50', '€'), ('the', 'the'), ('東', '京'))
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return tuple(word for word in words if word not in ARTICLES) or tuple(words)  # as SQuAD (Rajpurkar et al., 2016)


def normal_form(text: str) -> str:
    """Return the form by which an answer is compared, the same for equal ones; a text without words has its own.

    >>> normal_form("The Louvre.") == normal_form("louvre"), normal_form("!?")
    (True, '!?')
    """
    return " ".join(answer_words(text)) or " ".join(text.split())


def shown_signs(text: str) -> str:
    """What a text looks like: composed, without zero-width signs, with uniform white space."""
    composed = unicodedata.normalize("NFC", text)
    seen = (sign for sign in composed if sign != _EMOJI_STYLE and unicodedata.category(sign) != "Cf")
    return " ".join("".join(seen).split())
