"""The form in which short answers are compared: words without case, articles and punctuation; and numbers.

Numbers are read as people and models write them: with signs, thousands separators, currencies, units, scale words.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata

from psopt.text._phrases import ARTICLES

# Words for powers of ten, in the languages that answers use most. A billion is 1e9, as in English.
_WORDS_OF_SCALES = {
    12.0: "dozen dozens",
    1e2: "hundred hundreds hundert 百",
    1e3: "k tsd thousand thousands tausend mil mila mille тыс тысяча тысячи тысяч тис тисяча тисячі tys tysiąc tysiące "
    "tysięcy tis tisíc tisíce tusen tusind duizend tuhat tuhatta ezer bin ribu nghìn ألف हज़ार हजार พัน 千 천 keur teur",
    1e4: "หมื่น 万 萬 만",
    1e5: "lac lacs lakh lakhs लाख แสน",
    1e6: "mn mio mln mill million millions millionen millioner millones millón milhões milhão milioni milione млн "
    "миллион миллиона миллионов мільйон мільйона мільйони мільйонів miljoen miljon miljoner miljoona miljoonaa milion "
    "miliony milionů milionów millió milyon juta triệu مليون ล้าน meur",
    1e7: "crore crores करोड़",
    1e8: "亿 億 억",
    1e9: "bn md mds mia mrd mld billion billions milliarde milliarden milliard milliards milliarder miliardo miliardi "
    "miljard miljarder miljardi miljardia miliard miliardy miliardů miliardów milliárd bilhão bilhões млрд миллиард "
    "миллиарда миллиардов мільярд мільярда мільярди мільярдів milyar tỷ مليار",
    1e12: "tn trillion trillions billionen billioner billón billones 兆 조",
}
_SCALES = {
    unicodedata.normalize("NFKC", word): scale for scale, words in _WORDS_OF_SCALES.items() for word in words.split()
}
# Letters after the digits: next to a currency in upper or lower case, otherwise only capitals, since 5 m are metres.
_LETTERS = {"m": 1e6, "mm": 1e6, "cr": 1e7, "b": 1e9, "t": 1e12}
_LARGE = frozenset({"M", "MM", "B"})
_PLAIN = str.maketrans("\u2212\u2010\u2011\u2012\u2013\u2044", "-----/")
_FRACTION = re.compile(r"(?:(?<=\d)\s)?([¼-¾⅐-⅞])")
# A dash between a noun and a number, with spaces around it, is no sign: "Total - 42".
_SIGN = (
    r"(?:[-+](?!\s)|(?<![\w*)\]\"'`%€$]\s)[-+]\s|(?:(?<=\sis\s)|(?<=\swas\s))[-+]\s"
    r"|(?:minus|negative?|moins|menos|meno|минус|мінус)\s|负|負|マイナス)"
)
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁰¹²³⁴-⁹⁺⁻]+")
# The digits of a number with their separators: a space, no-break space or apostrophe separates only thousands.
_DIGITS = r"[1-9]\d{0,2}(?:[\u00a0\u202f '\u2019_]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[.,]\d+"
_SCALE_WORDS = "|".join(sorted(_SCALES, key=len, reverse=True))
_SIGNS = "$€£¥₹₩₺₽₴₪฿₫₦"
# Codes and abbreviations may touch the number: EUR12, Rs.500. No other letters may: B12, Q3, COP26.
_MONEY = (
    rf"(?:[{_SIGNS}]|(?:EUR|USD|GBP|CHF|(?-i:AED|ARS|AUD|BRL|CAD|CLP|CNY|CZK|DKK|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NGN"
    r"|NOK|NZD|PKR|PLN|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|VND|ZAR|(?:Rs|[Kk]r|S?Fr|Kč|zł)\.?))(?![^\W\d])"
    r"|euros?\b|dollars?\b)"
)
_NO_CENTS = re.compile(r"(?<=\d)[.,](?:-{1,2}|\u2014)(?!\d)")  # 1'200.- and 1.200,-
# "At least 5" is not 5.
_BOUND = (
    r"[<>≤≥]=?\s?|\b(?:(?:at\s(?:least|most)|(?:more|less|fewer|greater|larger|higher|smaller|lower)\sthan|over|under"
    r"|up\sto|(?:maximum|minimum)\sof|mindestens|höchstens|mehr\sals|weniger\sals|über|unter|plus\sde|moins\sde"
    r"|au\smoins|más\sde|menos\sde|al\smenos"
    r"|not|(?:can(?:not|\snot|['’]t)|(?:un|not\s)able\sto)\s(?:(?!but\b)\w+\s){0,4}\w+)\s)"
)
_OR_MORE = (
    r"\s?%?\s(?:or|and|oder|und|ou|et|o|y)\s(?:more|less|fewer|above|below|over|under|up|higher|lower|older|younger"
    r"|mehr|weniger|plus|moins|más|menos)\b"
)
# What may stand around a number that is the whole answer: words for a unit or a currency, and signs.
_UNIT_SIGNS = rf"[\s/·^²³°%‰{_SIGNS}.*`\"'()\[\]=≈~\\{{}}-]*"
_UNIT = re.compile(rf"[^\W\d_]{{0,20}}(?:{_UNIT_SIGNS}[^\W\d_]{{0,20}}){{0,3}}{_UNIT_SIGNS}")
_CURRENCY = rf"(?:[{_SIGNS}]|[A-Z]{{3}})"
_OWED = re.compile(rf"{_CURRENCY}\s?\([^()]+\)|\({_CURRENCY}\s?[^()]+\)|\([^()]+\)\s?{_CURRENCY}")
_UNSURE = re.compile(r"[1-9]\d{0,2}\.\d{3}")  # money rarely has three decimals: thousands, or a petrol price?
_MONTH = re.compile(r"(?:0?[1-9]|1[0-2])/(?:19|20)\d\d")
_LONGEST = 400  # characters that one number and its unit may have
# A word with the signs that join its parts (3.5, o'clock); in scripts without spaces, each character is a word.
# Marks such as vowel signs belong to words; so do a leading point (.5) and a sign after one or two letters (C#, A*).
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc"
    r"\u102b-\u103e\u17b4-\u17d3"
)
_LETTERS_AND_MARKS = rf"(?:[^\W_]|[{_MARKS}])+"
_WORD = re.compile(
    rf"""[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]
    | (?<![\w*.])[^\W\d_]{{1,2}}[\#*](?![\w*\#]) | (?<![\w.])\.\d+
    | {_LETTERS_AND_MARKS}(?:[.,:/'\u2019-]{_LETTERS_AND_MARKS})*
    | [<>≤≥]=?(?=\s?[-+.$€£]?\d) | [+%€$£¥-]""",
    re.VERBOSE,
)
_EMOJI_STYLE = "\ufe0f"  # asks for the coloured form of a sign


@functools.cache
def _number() -> re.Pattern[str]:
    """The pattern of a number: compiled when it is first needed, since that takes tens of milliseconds."""
    return re.compile(
        rf"""(?<![.,])(?<![^\W\u2e80-\ud7af])(?P<bound>{_BOUND})?
        (?P<sign>{_SIGN})?\s?(?P<currency>{_MONEY}\s?)?(?P<inner>[-+])?
        (?P<digits>{_DIGITS})(?P<exponent>[eE][-+]?\d{{1,3}})?
        (?:\s?/\s?(?P<below>\d+(?![\d.,/]*\d)))?
        (?:(?P<scale>(?:\s?(?:{_SCALE_WORDS})(?:\.|\b|(?<=[\u0e00-\u0eff\u3000-\uffff])))+)|\s?(?P<letter>mm|cr|[mbt])\b)?
        (?P<power>\^)?(?P<more>\+(?!\s?\d))?(?P<money>\s?{_MONEY}(?!\d))?(?P<or_more>{_OR_MORE})?""",
        re.VERBOSE | re.IGNORECASE,
    )


def numbers_in(text: str) -> list[float]:
    """Return the numbers in a text, in order; nan where a number's size is unclear, as in "300 K", 12/2024 and 10⁶.

    >>> numbers_in("From 1,250.50 to 1.250,50 EUR, about -3 %, or 2.5 million; in 2024-05")
    [1250.5, 1250.5, -3.0, 2500000.0, 2024.0, 5.0]
    """
    plain = _normal(text)
    values = (_value(match) for match in _number().finditer(plain))
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
    matches = list(_number().finditer(plain))
    if len(matches) != 1:
        return None
    before, after = plain[: matches[0].start()], plain[matches[0].end() :]
    value = _value(matches[0])
    if value is None or math.isnan(value) or not all(_UNIT.fullmatch(part.strip()) for part in (before, after)):
        return None
    # accounts put debts in brackets, and the currency shows that it is an amount
    return -value if value and _OWED.fullmatch(plain) else value


def _value(match: re.Match[str]) -> float | None:
    """The number of a match, nan if its size is unclear; None for a bound, and for what is no number."""
    number = _plain(match["digits"])
    if number is None or match["bound"] or match["more"] or match["or_more"]:
        return None
    is_money = match["currency"] is not None or match["money"] is not None
    is_month = _MONTH.fullmatch(f"{match['digits']}/{match['below']}")
    if match["power"] or is_month or (is_money and _UNSURE.fullmatch(match["digits"])):
        return math.nan
    value = float(f"{number}{match['exponent'] or ''}")
    below = float(match["below"] or 1)
    if not below:
        return None
    value = value / below * _scale(match, is_money=is_money)
    if math.isinf(value):
        return None
    signs = {(match[sign] or "+").strip() for sign in ("sign", "inner")}
    return value if signs == {"+"} else -value


def _scale(match: re.Match[str], *, is_money: bool) -> float:
    """The power of ten that a number is multiplied by; nan if it is unclear which."""
    word = (match["scale"] or "").strip(" .")
    # 300 K are kelvins too, and $5 mil may be thousands or millions
    if word == "K" and match["scale"][0].isspace() and not is_money:
        return math.nan
    if word.casefold() == "mil" and match["currency"] is not None:
        return math.nan
    if word:
        return math.prod(_SCALES[part] for part in re.findall(_SCALE_WORDS, match["scale"].casefold()))
    letter = match["letter"] or ""
    if letter == "T" and match["currency"] is None and is_money:
        return math.nan  # 5 T€ are thousands in German
    return _LETTERS[letter.casefold()] if letter in _LARGE or (letter and is_money) else 1.0


def _normal(text: str) -> str:
    decimal = _FRACTION.sub(lambda sign: str(unicodedata.numeric(sign[1])).removeprefix("0"), text)
    plain = unicodedata.normalize("NFKC", _SUPERSCRIPT.sub("^", decimal)).translate(_PLAIN)
    return _NO_CENTS.sub(",00", plain)


def _plain(digits: str) -> str | None:
    """Digits without thousands separators, with a decimal point: of two kinds of separators, the last is the point.

    A single comma before three digits separates thousands, a single point never does, as in English. Digits that begin
    with a zero have no thousands.
    """
    bare = re.sub(r"[\s'\u2019_]", "", digits)
    points, commas = bare.count("."), bare.count(",")
    if bare.startswith("0") and points + commas > 1:
        return None
    if points and commas:
        whole, point, decimals = re.split(r"([.,])(?=\d*\Z)", bare)
        if point in whole:
            return None
        return f"{re.sub('[.,]', '', whole)}.{decimals}"
    if commas == 1 and not re.fullmatch(r"[1-9]\d{0,2},\d{3}", bare):
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
    >>> answer_words("C#"), answer_words("> 5"), answer_words("**.5**"), answer_words("मिल")
    (('c#',), ('>', '5'), ('.5',), ('मिल',))
    """
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    if plain.startswith("*"):
        plain = plain.strip("*")  # emphasis: the star of "*vitamin A*" is none of A's
    words = _WORD.findall(plain)
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
