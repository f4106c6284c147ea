"""What the eye sees of a short text: two that are written otherwise may look the same."""

from __future__ import annotations

import unicodedata

# Letters of other alphabets that look like Latin ones, and the Latin ones.
_FOREIGN = "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν"
_LATIN = "aeopcyxijshdqwABEKMHOPCTYXIJSABEZHIKMNOPTYXoav"
_LOOKS = str.maketrans(_FOREIGN, _LATIN)


def shown_signs(text: str) -> str:
    """What is seen of a text: composed, without signs of no width, all white space alike."""
    composed = unicodedata.normalize("NFC", text)
    return " ".join("".join(sign for sign in composed if unicodedata.category(sign) != "Cf").split())


def looks_like(text: str) -> str:
    """A text as it looks, whatever alphabet its letters are of.

    >>> looks_like("sр\u0430m") == looks_like("spam")
    True
    """
    return unicodedata.normalize("NFKC", shown_signs(text)).translate(_LOOKS)
