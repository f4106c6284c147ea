"""Private text: what a sample may tell of a person, and a prompt that is passed around must not.

A small check by form, for English and German mails: addresses of mail and of houses, numbers by which somebody or
something is known, names where letters hold them (salutation, signature, after a title). It knows no names: a name
in the middle of a sentence, and one written small, pass.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from psopt.text._phrases import words_of
from psopt.text._written_phrases import without_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME = r"[A-ZÀ-ÞŁŠŽ][\w’'-]+"
_NAMES = rf"{_NAME}(?:[ \t]+(?:[A-Z]\.[ \t]*)?{_NAME}){{0,2}}"
_FORMS = (
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    # By which something is known: after the word that says so, or letters and at least five digits.
    r"(?i:\b(?:order|invoice|ticket|account|customer|client|case|reference|ref|booking|contract|policy|tracking|serial|iban"
    r"|bestell\w*|kunden\w*|rechnung\w*|vertrag\w*)(?:[ \t]*(?:no|nr|num|number|id|nummer)\b\.?)?[ \t]*[:#]{0,2}[ \t]*"
    r"((?=[A-Z-]*\d)[A-Z\d]+(?:-[A-Z\d]+)*))",
    r"#\d{3,}",
    r"\b(?=[A-Z-]*\d)(?=\d*[A-Z])(?:[A-Z-]*\d){5,}[A-Z\d-]*\b",
    rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Herrn|Frau)\b\.?[ \t]+({_NAMES})",
    rf"(?m)^[ \t>]*(?i:dear|hi|hello|hey|hallo|lieber?|sehr geehrter?)[ \t]+({_NAMES})[ \t]*(?:[,!.:;–-]|$)",
    r"(?i:\b(?:regards|wishes|thanks|thank you|cheers|sincerely|yours|love|grüßen?|gruß|dank))[ \t]*[,.!]?\s+"
    rf"({_NAMES})[ \t]*(?:[,.|;\n(]|$)",
    rf"(?i:\b(?:my name is|mein name ist))[ \t]+({_NAMES})",
    rf"\b\d{{1,5}}[ \t]+(?:{_NAME}[ \t]+){{1,3}}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Boulevard|Blvd|Court|Square)\b",
    r"\b[A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)[ \t]+\d+\w?\b",
)
_PRIVATE = tuple(map(re.compile, _FORMS))
_DIGITS = re.compile(r"(?<![\w.,])\+?\(?\d(?:[ \t()/.–-]{0,2}\d){5,}(?![\w,])")
_LEAST_DIGITS = 7  # of digits in groups, the fewest of a phone number; six in a row are no year, and no count of people
_DATES = re.compile(r"(?:\d{1,2}([./-])\d{1,2}\1\d{2,4}|\d{4}([./-])\d{1,2}\2\d{1,2}|\d{4}[ \t]?[–/-][ \t]?\d{4})")
# Whom letters greet, and who signs them, without being anybody.
_NOBODY_NAMES = (
    "all and billing care customer customers department desk everybody everyone folks for help helpdesk hr it ladies "
    "gentlemen madam manager office of or sales service services sir sirs support team teams the there to whom your"
)
_NOBODY = frozenset(_NOBODY_NAMES.split())


def private_pieces(text: str) -> Iterator[str]:
    r"""Yield what is private in a text, piece by piece.

    >>> list(private_pieces("Dear Team,\nmy order no. 4711-A is late.\nBest regards\nAnna Poe, +49 30 901820"))
    ['4711-A', 'Anna Poe', '+49 30 901820']
    """
    plain = without_markup(text)
    for form in _PRIVATE:
        for match in form.finditer(plain):
            piece = match[match.lastindex or 0]
            if piece and not _NOBODY.issuperset(words_of(piece)):
                yield piece
    for match in _DIGITS.finditer(plain):
        number = match.group().strip("()")
        n_digits = sum(map(str.isdigit, number))
        if not _DATES.fullmatch(number) and (n_digits >= _LEAST_DIGITS or number.isdigit()):
            yield number


def holds_private_text(text: str) -> bool:
    """Tell whether anything in a text is private."""
    return next(private_pieces(text), None) is not None


def private_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that, in most texts that hold them, are private there: names, above all.

    So a name is known in the middle of a sentence too, and "mark" and "may" stay words where they are.
    """
    holding: Counter[str] = Counter()
    private: Counter[str] = Counter()
    for text in texts:
        holding.update(set(words_of(text)))
        private.update({word for piece in private_pieces(text) for word in words_of(piece)} - _NOBODY)
    return frozenset(word for word, n in private.items() if 2 * n >= holding[word])
