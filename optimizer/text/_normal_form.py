"""Short answers as they are compared: without case, articles and punctuation; and their words."""

from __future__ import annotations

import re
import unicodedata

_ARTICLES = frozenset({"a", "an", "the"})  # as SQuAD compares answers (Rajpurkar et al., 2016)
# A word with what joins its parts, 3.5 and o'clock; of scripts that write no spaces each character is one.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]|[^\W_]+(?:[.,:/'\u2019-][^\W_]+)*|[+%€$£¥-]"
)
_EMOJI_STYLE = "\ufe0f"  # asks for the coloured form of a sign


def answer_words(text: str) -> tuple[str, ...]:
    """Return the words of an answer as it is compared; the articles of English only where nothing else stands.

    >>> answer_words("The  Eiffel-Tower, Paris."), answer_words("3.50 €"), answer_words("The The"), answer_words("東京")
    (('eiffel-tower', 'paris'), ('3.50', '€'), ('the', 'the'), ('東', '京'))
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return tuple(word for word in words if word not in _ARTICLES) or tuple(words)


def normal_form(text: str) -> str:
    """Return an answer as it is compared: equal ones have equal forms; a text without a word has its own.

    >>> normal_form("The Louvre.") == normal_form("louvre"), normal_form("!?")
    (True, '!?')
    """
    return " ".join(answer_words(text)) or " ".join(text.split())


def shown_signs(text: str) -> str:
    """What is seen of a text: composed, without signs of no width, all white space alike."""
    composed = unicodedata.normalize("NFC", text)
    seen = (sign for sign in composed if sign != _EMOJI_STYLE and unicodedata.category(sign) != "Cf")
    return " ".join("".join(seen).split())
