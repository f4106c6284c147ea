"""Whether a label in a text is the answer, and not just a word that a sentence happens to contain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.answers._label_names import Standing

_WINDOW = 200  # characters that are examined on either side of a label: as many as a long sentence has
_WRAPPING = r"\"'`*_~“”„‘’‚«»‹›「」『』"
# Words before a label that make it the answer. "There is" and "such as" only mention it.
_LEAD = re.compile(
    rf"""(?:
      \b(?<!\bthere\s)(?:is|be|was)\s+ | (?<=\w)['’]s\s+
    | \b(?:classif|categori|label|tag|mark|rat|regard|consider|treat)\w*\s+
      (?:(?:it|this|that|them)\s+|(?:the|this|that)\s+\w+\s+)?(?:as|into|under)\s+
    | \b(?:belongs?|goes|go|went|sent|routed?|assign(?:ed)?|forward(?:ed)?|falls?|fits?)\s+
      (?:(?:it|this|that)\s+)?(?:to|in|into|under|within)\s+
    | \b(?:choose|chose|pick|select|say|go\s+with)\s+
    | (?:->|→|⇒)\s*
    | (?:答案|类别|類別|标签|標籤|分类|分類|回答|ラベル|カテゴリー?)\s*(?:是|为|為|は)\s*
    | (?:답|답변|라벨|레이블|분류)\s*(?:은|는)\s*
    )
    (?:(?:a|an|the|that|of|most|more|very|likely|probably|clearly|definitely|certainly|best|correct|right|labell?ed
        |classified|categori[sz]ed|as|class|category|label|answer)\s+){{0,5}}
    [{_WRAPPING}(\[<\\$\s]*\Z""",
    re.IGNORECASE | re.VERBOSE,
)
# What may follow it: the end, punctuation, a reason, the kind of thing that a label is. Any other word may change what
# the label means.
_END = re.compile(
    rf"""[{_WRAPPING})\]>}}\s]*(?:\Z|(?<=\n)|[^\w\s'’&+/%\\{_WRAPPING}-]|[-–—]|입니다|です|
    (?<=\s)(?:because|since|as|for|due|given|based|with|which|where|so|and\s+not|not|rather|but|here
    |class|category|label|team|department|queue|stars?)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENS = re.compile(rf"[{_WRAPPING}]\Z")
_CLOSES = re.compile(rf"[.,]?[{_WRAPPING}]")
_SENTENCE = re.compile(r"[.!?\n。！？](?=\s|\Z)|\n|[。！？]")
# Words of denial, in the languages that answers use most. In any other, a label must stand alone or be quoted.
_DENIAL = re.compile(
    r"""\b(?:not(?!\s+(?:sure|certain|only)\b)|never|neither|nor|cannot|none|no|without|unlikely|hardly|scarcely|barely
    |lacks?|lacking|absen\w+|exclud\w+|rul\w*\s+(?:\w+\s+)?out|instead|except|than|isn|aren|wasn|doesn|free\s+of
    |nicht|kein\w*|ohne|weder|niemals|kaum|ausgeschlossen|pas|aucune?|sans|jamais|ni|non|sin|ning[uú]n\w*|nunca|tampoco
    |não|nenhum\w*|sem|senza|nessun\w*|niet|geen|zonder|nooit|ikke|ingen|uden|uten|inte|utan|ej|nie|nigdy|bez|żad\w+
    |не|нет|без|ни|нельзя|değil|yok|nem|nincs|ei|eivät|ilman
    |nothing|anything\s+but|far\s+from|fails?\s+to|doubt\w*|false|wrong\w*|incorrect\w*|reject\w*|unless
    |if(?!\s+(?:I|we)\b)|falsch|faux|falso)\b
    |n['’]t\b|\bkhông\b|[不没沒非无無]|ない|ません|아니|않""",
    re.IGNORECASE | re.VERBOSE,
)
_NO = re.compile(
    r"\s*(?:[:：=?–—→-]\W*(?:no|not|none|false|nein|kein\w*|nicht|non|pas|unlikely|absent|low"
    r"|否|いいえ|아니요|0(?![.,]\d)|0[.,][0-4]\d*|[0-4]?\d\s?%)(?!\w)"
    r"|\(\s*(?:no|not|false|nein|unlikely|[0-4]?\d\s?%)\s*\)|\s*\?.*?\w"
    r"|[,\s|]\W*(?:no|nein|non|false)\W*\Z)",
    re.IGNORECASE | re.DOTALL,
)
# A clause about what might be, or about what somebody says, asserts nothing itself.
_HEDGE = re.compile(
    r"\b(?:whether|might|may|could|asks|says|said|previously|hesitat\w*"
    r"|claims|pretends|wonders|mentions|words?|terms?|phrases?)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:—]|\b(?:but|so|hence|thus|therefore)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")
_MARKUP = re.compile(r"</?\w+>?|\\(?:boxed|text\w*|math\w*)\b")
_BEFORE_ALONE = re.compile(r"[\W_]*(?:\d{1,3}[.)\-:][\W_]*)?(?:(?:the|a|an|option|choice)\b)?[\W_]*", re.IGNORECASE)
_HEADED = re.compile(r"\W*[^\W\d]\w*(?:[ \t]+\w+){0,2}\W*[:：]\W*")  # "Team: ", a heading of up to three words
_CONCLUDES = re.compile(r"\b(?:but|so|hence|thus|therefore)\b\W*\Z", re.IGNORECASE)


def is_asserted(text: str, standing: Standing) -> bool:
    """Whether a label in a text is what the text answers.

    It is if it has a line or a sentence of its own, begins the text and is set off from what follows, is quoted or
    emphasised, or if words say so: "the answer is X", "it's X", "belongs to X", "Team: X". A sentence that denies
    anything before the label asserts nothing, nor does one that asks, guesses or reports what somebody says.
    """
    before = text[max(0, standing.start - _WINDOW) : standing.start]
    after = text[standing.end : standing.end + _WINDOW]
    begins = standing.start <= _WINDOW and _BEFORE_ALONE.fullmatch(_MARKUP.sub("", before)) is not None
    sentence_before = before[_last_end(before) :]
    sentence_after = _SENTENCE.split(after, maxsplit=1)[0]
    if _NO.match(after):
        return False
    if _is_alone(sentence_before, sentence_after):
        return True
    has_end = _END.match(after) is not None
    if begins and has_end:
        return True
    if _DENIAL.search(sentence_before) or _HEDGE.search(_CLAUSE.split(sentence_before)[-1]):
        return False
    if _OPENS.search(before) and _CLOSES.match(after):
        return _DENIAL.search(sentence_after) is None
    if _HEADED.fullmatch(sentence_before) and not _WORD.search(sentence_after):
        return True
    if has_end and _LEAD.search(sentence_before):
        return True
    return has_end and not _WORD.search(sentence_after) and _CONCLUDES.search(sentence_before) is not None


def is_parted(text: str, end: int) -> bool:
    """Whether what follows a label leaves it a label: the text ends there, or a reason follows that denies nothing."""
    after = text[end : end + _WINDOW]
    return _END.match(after) is not None and _NO.match(after) is None


def _last_end(before: str) -> int:
    """Where the last sentence of a text begins."""
    return max((match.end() for match in _SENTENCE.finditer(before)), default=0)


def _is_alone(before: str, after: str) -> bool:
    """Whether a label has its sentence to itself, apart from markup, list numbers and articles."""
    if len(after) == _WINDOW:  # the sentence goes on
        return False
    bare_before, bare_after = _MARKUP.sub("", before), _MARKUP.sub("", after)
    return _BEFORE_ALONE.fullmatch(bare_before) is not None and not _WORD.search(bare_after)
