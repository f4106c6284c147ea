"""Words that say what a text is about, and those that any text might hold."""

from __future__ import annotations

from psopt.text._phrases import FUNCTION_WORDS, field_and_phrase

# What a question begins with says what kind of answer it wants. "How" does so with the next word ("how do", and not
# "how" alone, which is of "how many" too); "what" and "which" only where that is a topic itself.
_ASKING = frozenset({"who", "whom", "whose", "when", "where", "why", "how"})
_VAGUE_ALONE = "how"
QUESTION_WORDS = _ASKING | {"what", "which"}
# Words that are no function words of a prompt, but of any text: chosen by reading what notes had quoted.
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
# What is left and right of the apostrophe of a contraction.
_STEMS = "ain aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren wouldn"
_TAILS = frozenset(["d", "ll", "m", "re", "s", "t", "ve"])
LIGHT_WORDS = FUNCTION_WORDS.union(_LIGHT.split(), _STEMS.split(), _TAILS)


def topic_words(phrase: str) -> frozenset[str]:
    """Return the words of a phrase that tell a topic, without a plural's s.

    Numbers tell none. What a question begins with does, where nothing else in the phrase does.

    >>> sorted(topic_words("^what colors")), sorted(topic_words("^how do")), sorted(topic_words("since"))
    (['color'], ['how'], [])
    """
    alone = field_and_phrase(phrase)[1]
    words = alone.removeprefix("^").split()
    topics = frozenset(_singular(word) for word in words if word not in LIGHT_WORDS and _is_word(word))
    if topics or not alone.startswith("^"):
        return topics
    return _ASKING.intersection(words[:1])


def tells_a_topic(phrase: str) -> bool:
    """Tell whether a phrase begins and ends with a word that tells a topic, or is how a question begins.

    What begins or ends with another word is a piece of a sentence, and what stands around it may have meant the class.

    >>> [tells_a_topic(phrase) for phrase in ("capital of france", "what color", "^when did", "^what city")]
    [True, True, True, True]
    >>> [tells_a_topic(phrase) for phrase in ("stand for", "it twice", "do people", "don t work", "when")]
    [False, False, False, False, False]
    """
    words = field_and_phrase(phrase)[1].removeprefix("^").split()
    topics = topic_words(phrase)
    if topics <= _ASKING:
        return bool(topics) and words != [_VAGUE_ALONE]
    ends = (words[0], words[-1])
    return all(topic_words(word) for word in ends[words[0] in QUESTION_WORDS :]) and _TAILS.isdisjoint(words)


def _is_word(word: str) -> bool:
    return len(word) > 1 and any(map(str.isalpha, word))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
