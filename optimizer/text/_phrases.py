"""Words and phrases of texts: what slices of samples are named by, and what notes quote as it is written.

A phrase is one to three words, lower-case and joined by spaces. A phrase that starts with ``^`` opens the text:
``^who`` stands for texts that begin with "who". A phrase of one field of a text of several is ``subject: bill``, or
``subject: ^bill`` where the field begins with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_PHRASE = 3
ARTICLES = frozenset({"a", "an", "the"})
_FUNCTION = (
    "about all also am and any are as ask asks at be been begin begins belong belongs but by can contain contains did "
    "do does done for from get had has have he her him his how if in into is it its label labels like may me more most "
    "my no not of on one or other our out over own she should so some such text than that their them then there these "
    "they this those to too under up us was we were what when where which who whom whose why will with would you your"
)
_OF_FIELD = ": "  # stands in no phrase, whose words are letters and digits
FUNCTION_WORDS = ARTICLES.union(_FUNCTION.split())
# A tag begins with a letter, "/" or "!": "a < b" is none. What scripts and styles hold is no text.
_MARKUP = re.compile(r"<(script|style)\b.*?</\1\s*>|<[a-z/!][^<>]{0,500}>|&(?:#\w{1,8}|[a-z]{2,8});", re.I | re.S)
# Words joined by such a sign ("re-send", "don't", "a@b.c") are one; their parts are not written as words.
_WORD = re.compile(r"[^\W_]+(?:[’'_@./+&=#-]+[^\W_]+)*")
_PLAIN = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, lower-case, without punctuation.

    >>> words_of("What's the capital of Burkina-Faso ?")
    ['what', 's', 'the', 'capital', 'of', 'burkina', 'faso']
    """
    return re.findall(r"[^\W_]+", text.casefold())


def phrases_of(text: str) -> set[str]:
    """Return every phrase a text shows.

    >>> sorted(phrases_of("Who won ?"))
    ['^who', '^who won', 'who', 'who won', 'won']
    """
    return set(phrases_of_words(words_of(text)))


def phrases_of_words(words: Sequence[str]) -> Iterator[str]:
    """Yield every phrase of consecutive words, the first ones also as what the words begin with."""
    for length in range(1, LONGEST_PHRASE + 1):
        for start in range(len(words) - length + 1):
            phrase = " ".join(words[start : start + length])
            yield phrase
            if start == 0:
                yield f"^{phrase}"


def shows(text: str, phrase: str) -> bool:
    """Tell whether a text shows a phrase, of any length, as whole words.

    >>> shows("When did it end ?", "^when"), shows("Say when !", "^when"), shows("Say when !", "when")
    (True, False, True)
    """
    padded = f" {' '.join(words_of(text))} "
    return padded.startswith(f" {phrase[1:]} ") if phrase.startswith("^") else f" {phrase} " in padded


def phrase_of_field(field: str, phrase: str) -> str:
    """Name a phrase as one of a field; without a field it stays what it is.

    >>> phrase_of_field("subject", "^bill"), phrase_of_field("", "^bill")
    ('subject: ^bill', '^bill')
    """
    return f"{field}{_OF_FIELD}{phrase}" if field else phrase


def field_and_phrase(phrase: str) -> tuple[str, str]:
    """Return the field that a phrase is of, empty for a whole text, and the phrase alone.

    >>> field_and_phrase("subject: ^bill"), field_and_phrase("^bill")
    (('subject', '^bill'), ('', '^bill'))
    """
    field, _, alone = phrase.rpartition(_OF_FIELD)
    return field, alone


def without_markup(text: str) -> str:
    r"""A text with a line break in the place of every tag and entity of HTML.

    >>> without_markup("Hello<br/>you &amp; all, 1 < 2")
    'Hello\nyou \n all, 1 < 2'
    """
    return _MARKUP.sub("\n", text) if "<" in text or "&" in text else text


def written_phrases(text: str) -> set[str]:
    """Return every phrase that stands in a text as it is written, but for case.

    Unlike `phrases_of` it joins no words over punctuation, tags or the ends of lines, and takes no word apart.

    >>> sorted(written_phrases("Re: don't<br>pay me"))
    ['^re', 'me', 'pay', 'pay me', 're']
    """
    begins_plainly = _MARKUP.match(text.lstrip()) is None
    phrases: set[str] = set()
    for words, opens in _runs(without_markup(text)):
        is_quotable = opens and begins_plainly
        phrases.update(phrase for phrase in phrases_of_words(words) if is_quotable or not phrase.startswith("^"))
    return phrases


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Words between which nothing but spaces stands, and whether they open the text."""
    run: list[str] = []
    opens = True
    end = 0
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        is_plain = _PLAIN.fullmatch(match.group()) is not None and word == match.group().lower()
        if run and (not is_plain or text[end : match.start()].strip(" ")):
            yield run, opens
            run = []
            opens = False
        if is_plain:
            run.append(word)
        else:
            opens = False
        end = match.end()
    if run:
        yield run, opens
