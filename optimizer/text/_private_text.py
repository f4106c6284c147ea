"""Private text: what a sample may reveal about a person, but a prompt that is passed around must not.

A small check by form, for English and German mails: mail and street addresses, numbers that identify somebody (of an
account, a customer, a phone), names in their usual places in letters (salutation, signature, after a title). It knows
no names: a name in the middle of a sentence, or in lower case, passes. So do dates, times, and the numbers of orders
and cases, which reveal nothing about a person to outsiders.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from psopt.text._phrases import without_markup, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME = r"[A-ZÀ-ÞŁŠŽ][\w’'-]+"
_NAMES = rf"{_NAME}(?:[ \t]+(?:[A-Z]\.[ \t]*)?{_NAME}){{0,2}}"
_WORD_NUMBER = r"[ \t]*(?:no|nr|num|number|id|nummer)\b\.?"
_CASES = (
    r"order|invoice|ticket|case|reference|ref|booking|tracking|serial"
    r"|request|incident|bestell\w*|rechnung\w*|auftrag\w*"
    r"|vorgang\w*|fall|isbn|sku|pages?|build|version|model|item|article|artikel\w*"
)
_TIME = r"\d{1,2}[:.]\d{2}"
_NOBODY_S = re.compile(
    r"\b\d{4}([./-])\d{1,2}\1\d{1,2}\b|\b\d{1,2}([./-])\d{1,2}\2\d{2,4}\b|\b(?:19|20)\d{6}\b"
    r"|\b(?:19|20)\d{2}[ \t]?[–/-][ \t]?(?:19|20)\d{2}\b"
    rf"|(?:\b|(?<=T)){_TIME}(?:[:.]\d{{2}})?(?:[ \t]?[–-][ \t]?{_TIME})?(?:[ \t]?[ap]m\b|Z\b|[ \t]?Uhr\b|(?![\w.,]))"
    r"|(?<![\w.,])(?:\d{3,},\d{1,2}|(?!0\d)\d+\.\d+)(?![\w.,])"
    rf"|(?i:(?:\b(?:{_CASES})(?:{_WORD_NUMBER})?|(?<!\w)#)[ \t]*[:#-]{{0,2}}[ \t]*"
    r"(?P<case>(?=[A-Z-]*\d)[A-Z\d]+(?:-[A-Z\d]+)*))"
)
"""Dates, spans of years, times, amounts, case numbers: they identify nobody, and are removed before digits count."""
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_BIRTH = re.compile(
    r"(?i:\b(?:born|geboren|né|née|nacido|nacida|dob)\b[ \t]*(?:on|am|le|el|:)?[ \t]*(\d[\d./-]{5,9}\d))"
)
_FORMS = (
    # What gives access to an account.
    r"(?i:\b(?:password|passwort|passwd|api[ _-]?key|token|secret)\b[ \t]*(?:is[ \t]+|[:=][ \t]*)(\S+))",
    # Numbers that identify somebody: after a word that says so, an IBAN, or letters with many digits.
    rf"(?i:\b(?:account|customer|client|member|patient|contract|policy|iban|card|passport|ssn|konto\w*|kunden\w*"
    rf"|mitglied\w*|vertrag\w*|versicherung\w*)(?:{_WORD_NUMBER})?[ \t]*[:#]{{0,2}}[ \t]*"
    r"((?=(?:[A-Z-]*\d){4})(?!(?:19|20)\d{2}\b(?!-))[A-Z\d]+(?:-[A-Z\d]+)*))",
    r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z\d]{4}){3,}(?:[ ]?[A-Z\d]{1,4})?\b",
    r"\b(?=[A-Z-]*\d)(?=\d*[A-Z])(?:[A-Z-]*\d){8,}[A-Z\d-]*\b",
    rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Herrn|Frau)\b\.?[ \t]+({_NAMES})",
    rf"(?m)^[ \t>]*(?i:dear|hi|hello|hey|hallo|lieber?|sehr geehrter?)[ \t]+({_NAMES})[ \t]*(?:[,!.:;–-]|$)",
    r"(?i:\b(?:regards|wishes|best|thanks|thank you|cheers|sincerely|yours|love|grüßen?|gruß|dank|cordialement|saludos"
    r"|saluti|merci|gracias))[ \t]*[,.!]?\s+"
    rf"({_NAMES})[ \t]*(?:[,.|;\n(]|$)",
    rf"(?i:\b(?:my name is|mein name ist|ich heiße|me llamo|je m['’]appelle|mi chiamo))[ \t]+({_NAMES})",
    rf"\b\d{{1,5}}[A-Z]?[ \t]+(?:{_NAME}[ \t]+){{1,3}}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Boulevard|Blvd|Court|Square)\b",
    rf"\b(?:Rue|Avenue|Calle|Avenida|Via)[ \t]+(?:(?:de|del|della|la|los|las|du|des)[ \t]+){{0,2}}"
    rf"{_NAMES},?[ \t]+\d+\w?\b",
    r"\b[A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)[ \t]+\d+\w?\b",
)
_PRIVATE = tuple(map(re.compile, _FORMS))
_DIGITS = re.compile(r"(?<![\w.,])\+?\(?\d(?:[ \t()/.–-]{0,2}\d){5,}(?![\w,])")
_LEAST_DIGITS = 7  # the fewest of a phone number: shorter ones are ordinary numbers
# Words in salutations and signatures of letters that name no person.
_NOBODY_NAMES = (
    "all and billing care customer customers department desk everybody everyone folks for help helpdesk hr it ladies "
    "gentlemen madam manager office of or sales service services sir sirs support team teams the there to whom your"
)
_NOBODY = frozenset(_NOBODY_NAMES.split())


def private_pieces(text: str, *, with_cases: bool = False) -> Iterator[str]:
    r"""Yield what is private in a text, piece by piece; on request the numbers of orders and cases too.

    >>> list(private_pieces("Dear Team,\norder 1079 of 2024-03-01 12:15 is late.\nThanks\nAnna Poe, +49 30 901820"))
    ['Anna Poe', '+49 30 901820']
    """
    yield from (match.group() for match in _MAIL.finditer(text))  # <a@b.org> looks like a tag
    whole = without_markup(text)
    if with_cases:
        yield from (match["case"] for match in _NOBODY_S.finditer(whole) if match["case"])
    plain = _NOBODY_S.sub(" · ", whole)
    for form, of in [(_BIRTH, whole), *((form, plain) for form in _PRIVATE)]:
        for match in form.finditer(of):
            piece = match[match.lastindex or 0]
            if piece and not _NOBODY.issuperset(words_of(piece)):
                yield piece
    for match in _DIGITS.finditer(plain):
        number = match.group().strip("()")
        if sum(map(str.isdigit, number)) >= _LEAST_DIGITS:
            yield number


def private_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that, in most texts that hold them, are private there: names, not "mark" and "may" as such."""
    holding: Counter[str] = Counter()
    private: Counter[str] = Counter()
    for text in texts:
        holding.update(set(words_of(text)))
        private.update({*words_of(" ".join(private_pieces(text, with_cases=True)))} - _NOBODY)
    return frozenset(word for word, n in private.items() if 2 * n >= holding[word])
