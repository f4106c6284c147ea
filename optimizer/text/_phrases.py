"""Words and phrases of texts, which name slices of samples and are quoted by notes; and which of them show a topic.

A phrase is one to three words, lower-case and joined by spaces. A phrase that starts with ``^`` opens the text:
``^who`` stands for texts that begin with "who". In a text with several fields, a phrase in one of them is
``subject: bill``, or ``subject: ^bill`` if the field begins with it.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_PHRASE = 3  # words; longer ones are rare, and part of one particular sentence
ARTICLES = frozenset({"a", "an", "the"})
_FUNCTION = (
    "about all also am and any are as ask asks at be been begin begins belong belongs but by can contain contains did "
    "do does done for from get had has have he her him his how if in into is it its label labels like may me more most "
    "my no not of on one or other our out over own she should so some such text than that their them then there these "
    "they this those to too under up us was we were what when where which who whom whose why will with would you your"
)
_OF_FIELD = ": "  # never occurs in a phrase, whose words are letters and digits
FUNCTION_WORDS = ARTICLES.union(_FUNCTION.split())
# Not function words in prompts, but without a topic in texts in general: chosen by reading what notes had quoted.
_LIGHT = (
    "again almost already although always another anybody anyone anything anyway around away back because been "
    "before being between both bye came cannot come comes coming could dear does doing done each else enough even "
    "ever every everybody everyone everything few find found gave get gets getting give given go goes going gone "
    "good got gotten greetings hello here hey hi however i just keep kind know known later least less let likely "
    "little look looking lot lots made make makes making many maybe might mine much must need needed needs neither "
    "never new next nobody none nor nothing now off often oh ok okay once ones only others ours people per perhaps "
    "person please put quite rather re really regards said same saw say saying says see seem seems seen several "
    "since somebody someone something sometimes soon still take taken takes tell telling thank thanks thing things "
    "think though thought through til till today together told tomorrow too took toward try trying until upon us "
    "use used using usually very via want wanted wants way ways well went whatever whenever whether while whoever "
    "within without yes yesterday yet yours"
)
# They say when something was written or is due, not what it is about: "released on february" had marked albums.
_DATES = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december"
)
# What stands left and right of the apostrophe in contractions.
_STEMS = "ain aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren wouldn"
_TAILS = frozenset(["d", "ll", "m", "re", "s", "t", "ve"])
LIGHT_WORDS = FUNCTION_WORDS.union(_LIGHT.split(), _DATES.split(), _STEMS.split(), _TAILS)
# A tag begins with a letter, "/" or "!": "a < b" is none. The content of scripts and styles is no text.
_MARKUP = re.compile(r"<(script|style)\b.*?</\1\s*>|<[a-z/!][^<>]{0,500}>|&(?:#\w{1,8}|[a-z]{2,8});", re.I | re.S)
# The first word of a question says what kind of answer it wants. "How" does so only with the next word ("how do"; "how"
# alone also begins "how many"), "what" and "which" only if the next word is itself a topic.
_ASKING = frozenset({"who", "whom", "whose", "when", "where", "why", "how"})
_VAGUE_ALONE = "how"
_QUESTION_WORDS = _ASKING | {"what", "which"}
# Words joined by such a sign ("re-send", "don't", "a@b.c") are one word, and their parts none; nor are words quotable
# whose lower case is not the form in which words are compared.
_NOT_QUOTABLE = re.compile(r"[^\W_]+(?:[’'_@./+&=#-]+[^\W_]+)+|[^\W_]*[ßςſ][^\W_]*")
_SPACED = re.compile(r"[^\W_]+(?: +[^\W_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u9fff\u0e00-\u0e7f][^\w\s\u0e00-\u0e7f]*")  # Japanese, Chinese, Thai
_LETTERS_A_WORD = 2  # chosen: of these, so that six are a short sentence


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, lower-case, without punctuation.

    >>> words_of("What's the capital of Burkina-Faso ?")
    ['what', 's', 'the', 'capital', 'of', 'burkina', 'faso']
    """
    return re.findall(r"[^\W_]+", text.casefold())


def n_words(text: str) -> int:
    """Count words; in scripts without spaces they are estimated from the letters.

    >>> n_words("Sort the mail."), n_words("请把邮件分给一个团队")
    (3, 5)
    """
    letters = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub("", text).split()) + letters // _LETTERS_A_WORD


def runs_of(text: str, *lengths: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of so many words of a text; in scripts without spaces, of as many letters as that is."""
    words, letters = words_of(text), [letter[0] for letter in _UNSPACED.findall(text)]
    for length in lengths:
        yield from word_runs(words, length)
        yield from word_runs(letters, _LETTERS_A_WORD * length)


def word_runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of this many consecutive words.

    >>> list(word_runs(["who", "won", "it"], 2))
    [('who', 'won'), ('won', 'it')]
    """
    return zip(*(words[start:] for start in range(length)), strict=False)


def phrases_of(text: str) -> set[str]:
    """Return every phrase a text shows.

    >>> sorted(phrases_of("Who won ?"))
    ['^who', '^who won', 'who', 'who won', 'won']
    """
    return set(_phrases_of_words(words_of(text)))


def _phrases_of_words(words: Sequence[str]) -> Iterator[str]:
    """Yield every phrase of consecutive words, the first ones also as openings, with ``^``."""
    for length in range(1, LONGEST_PHRASE + 1):
        phrases = list(map(" ".join, word_runs(words, length)))
        yield from phrases
        yield from (f"^{opening}" for opening in phrases[:1])


def shows(text: str, phrase: str) -> bool:
    """Tell whether a text shows a phrase, of any length, as whole words.

    >>> shows("When did it end ?", "^when"), shows("Say when !", "^when"), shows("Say when !", "when")
    (True, False, True)
    """
    padded = _padded(text)
    return padded.startswith(f" {phrase[1:]} ") if phrase.startswith("^") else f" {phrase} " in padded


@functools.lru_cache(maxsize=20_000)  # the same texts are searched for many phrases
def _padded(text: str) -> str:
    return f" {' '.join(words_of(text))} "


def phrase_of_field(field: str, phrase: str) -> str:
    """Return the name of a phrase in a field; without a field it stays unchanged.

    >>> phrase_of_field("subject", "^bill"), phrase_of_field("", "^bill")
    ('subject: ^bill', '^bill')
    """
    return f"{field}{_OF_FIELD}{phrase}" if field else phrase


def field_and_phrase(phrase: str) -> tuple[str, str]:
    """Return the field of a phrase, empty for the whole text, and the phrase without it.

    >>> field_and_phrase("subject: ^bill"), field_and_phrase("^bill")
    (('subject', '^bill'), ('', '^bill'))
    """
    field, _, alone = phrase.rpartition(_OF_FIELD)
    return field, alone


def without_markup(text: str) -> str:
    r"""A text with a line break in place of every HTML tag and entity.

    >>> without_markup("Hello<br/>you &amp; all, 1 < 2")
    'Hello\nyou \n all, 1 < 2'
    """
    return _MARKUP.sub("\n", text) if "<" in text or "&" in text else text


def written_phrases(text: str) -> set[str]:
    """Return every phrase that stands in a text as written, apart from case: across no sign, tag or line end.

    >>> sorted(written_phrases("Re: don't<br>pay me"))
    ['^re', 'me', 'pay', 'pay me', 're']
    """
    begins_plainly = _MARKUP.match(text.lstrip()) is None
    quotable = _NOT_QUOTABLE.sub("\0", without_markup(text))
    phrases: set[str] = set()
    for run in _SPACED.finditer(quotable):
        opens = begins_plainly and re.search(r"[^\W_]|\0", quotable[: run.start()]) is None
        of_run = _phrases_of_words(run.group().casefold().split())
        phrases.update(phrase for phrase in of_run if opens or not phrase.startswith("^"))
    return phrases


def topic_words(phrase: str) -> frozenset[str]:
    """Return the words of a phrase that show a topic, without a plural's s; if none do, the first word of a question.

    >>> sorted(topic_words("^what colors")), sorted(topic_words("^how do")), sorted(topic_words("since"))
    (['color'], ['how'], [])
    """
    alone = field_and_phrase(phrase)[1]
    words = alone.removeprefix("^").split()
    told = (word for word in words if word not in LIGHT_WORDS and len(word) > 1 and any(map(str.isalpha, word)))
    topics = frozenset(map(_singular, told))
    if topics or not alone.startswith("^"):
        return topics
    return _ASKING.intersection(words[:1])


def has_content(phrase: str) -> bool:
    """Tell whether a phrase is more than function words, or is the beginning of a question.

    >>> [has_content(phrase) for phrase in ("not paid", "^what is", "subject: ^the", "was", "do")]
    [True, True, False, False, False]
    """
    alone = field_and_phrase(phrase)[1]
    words = alone.removeprefix("^").split()
    return not FUNCTION_WORDS.issuperset(words) or (alone.startswith("^") and words[0] in _QUESTION_WORDS)


def tells_a_topic(phrase: str) -> bool:
    """Tell whether a phrase begins and ends with a word that shows a topic, or is the beginning of a question.

    >>> [tells_a_topic(phrase) for phrase in ("capital of france", "what color", "^when did", "^what city")]
    [True, True, True, True]
    >>> [tells_a_topic(phrase) for phrase in ("stand for", "it twice", "do people", "don t work", "when", "friday")]
    [False, False, False, False, False, False]
    """
    words = field_and_phrase(phrase)[1].removeprefix("^").split()
    topics = topic_words(phrase)
    if topics <= _ASKING:
        return bool(topics) and words != [_VAGUE_ALONE]
    ends = (words[0], words[-1])
    return all(topic_words(word) for word in ends[words[0] in _QUESTION_WORDS :]) and _TAILS.isdisjoint(words)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
