"""Whether a label in a text is the answer, and not just a word that a sentence happens to contain or strikes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.answers._label_names import LabelNames, Standing

_WINDOW = 200  # characters that are examined on either side of a label: as many as a long sentence has
ANSWER = "answer|antwort|réponse|respuesta|resposta|risposta|antwoord|svar|odpowiedź|ответ|答案|答え|回答|답|답변"
NAMES = (
    f"{ANSWER}|label|class|category|classification|prediction|output"
    "|kategorie|klasse|klassifikation|ergebnis|catégorie|classe|étiquette|categoría|clase|etiqueta|categoria|etichetta"
    "|categorie|klas|kategori|kategoria|etykieta|категория|класс|метка"
    "|类别|類別|标签|標籤|分类|分類|ラベル|カテゴリー?|라벨|레이블|분류|카테고리"
)
"""What an answer is called."""
_KINDS = "class|category|label|team|department|queue|stars?"
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
    |{_KINDS})\b)""",
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
_NOS = r"(?:no|not|none|false|nein|kein\w*|nicht|non|pas|absent|low|否|いいえ|아니요)"
# "No category fits" and "No, label unclear" say that there is none; "the no category" is one.
_NO_WORD = re.compile(
    r"no|non|not|nein|kein\w*|nee|geen|nej|nei|ikke|ingen|inte|ei|nie|não|нет|не|否|不|いいえ|아니요", re.IGNORECASE
)
_NAME_AFTER_NO = re.compile(
    rf"[*_]*(?:\s+|\s*[,，、]\s*)(?:(?:no|given)\s+)*(?:{_KINDS}|{NAMES})(?:s?\b|(?<=[\u3040-\ud7af]))", re.IGNORECASE
)
_ARTICLE = re.compile(r"\bthe[\s*_]*\Z", re.IGNORECASE)
_IMPROBABLE = r"(?:(?:(?:very|highly|quite|rather|most|extremely)\s+)?unlikely|0(?![.,]\d)|0[.,][0-4]\d*|[0-4]?\d\s?%)"
# In "**spam**: no links", emphasis makes the label a heading: there, only a "no" that ends its line denies it.
_NO = re.compile(
    rf"""\s*(?:[:：=?–—→-]\W*(?:{_NOS}|{_IMPROBABLE})(?!\w)
    | \(\s*(?:{_NOS}|{_IMPROBABLE})\s*\) | \s*\?.*?\w | [,\s|]\W*(?:no|nein|non|false)\W*\Z)
    | [{_WRAPPING}]+\s*(?:[:：=]\W*(?:{_IMPROBABLE}(?!\w)|{_NOS}[^\w\n]*(?:\n|\Z))|\(\s*{_IMPROBABLE}\s*\))""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_FAULT = re.compile(r"(?:nein|fail\w*|invalid|unsupported|unsafe)(?!\w)|否|いいえ|아니요", re.IGNORECASE)
# What has been weighed and is not the answer: as a heading, or as the name of a member in JSON.
REJECTED = re.compile(
    r"(?:\b|_)(?:no[tn](?=\b|_|(?-i:[A-Z]))|reject|exclu|alternativ|candidat|consider|runner|second|least|unlikely|options)",
    re.IGNORECASE,
)
# A clause about what might be, or about what somebody says, asserts nothing itself.
_HEDGE = re.compile(
    rf"""\b(?:whether|might|may|could|perhaps|maybe|possibly|asks|says|said|previously|hesitat\w*
    |claims|pretends|wonders|mentions|words?|terms?|phrases?
    |(?:thinks|believes|suspects|insists|argues|alleges|assumes|wrote|writes|report(?:s|ed)|complain(?:s|ed)
      |state[sd]|told\s+\w+)\s+(?:that|it|this|they)
    |(?:they|users|customers|people|many|some)\s+(?:think|believe|say|claim))\b
    |\bcan\s+(?:also\s+)?be\s+(?:(?:a|an|the)\s+)?[{_WRAPPING}]*\Z""",
    re.IGNORECASE | re.VERBOSE,
)
# Not "according to the definitions": what follows is then the model's own word.
_ATTRIBUTED = re.compile(
    r"\baccording\s+to\s+(?:(?:the|his|her|its|their)\s+)?(?:sender|user|customer|author|writer|client|reporter"
    r"|recipient|person|speaker|caller|him|her|them)s?\b,?[^,;:]*\Z",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[\W_]*(?:(?:only\s+)?if(?!\s+(?:I|we)\b)|unless|only\s+(?:when|with|where|after))\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:—]|\b(?:but|so|hence|thus|therefore)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")
_MARKUP = re.compile(r"</?\w+>?|\\(?:boxed|text\w*|math\w*)\b")
_BEFORE_ALONE = re.compile(r"[\W_]*(?:\d{1,3}[.)\-:][\W_]*)?(?:(?:the|a|an|option|choice)\b)?[\W_]*", re.IGNORECASE)
_HEADED = re.compile(r"\W*[^\W\d]\w*(?:[ \t]+\w+){0,2}\W*[:：]\W*")  # "Team: ", a heading of up to three words
_HEADING_ABOVE = re.compile(r"[:：][*_ \t]*\n[\W\d_]*\Z")
_CONCLUDES = re.compile(r"\b(?:but|so|hence|thus|therefore)\b\W*\Z", re.IGNORECASE)


_CROSS = re.compile(r"~~|\[ \]|[❌✗✘☐]")
_STRUCK = re.compile(r"~~[^~\n]+~~")
_CROSSED_LINE = re.compile(r"^.*(?:[❌✗✘☐]|\[ \]).*$", re.MULTILINE)
_EMPTY_BOX = re.compile(r"☐|\[ \]")
_TICKED = re.compile(r"[✅✓✔☑]|\[[xX]\]")
_TICKED_BOX = re.compile(r"\[[xX]\]")


def without_crossed(text: str, names: LabelNames) -> tuple[str, bool]:
    """Return an answer without what it has struck out, and whether what is left may be asserted without "Answer:".

    Crosses and empty boxes strike lines out in a checklist: another line is ticked, or several are crossed. A cross
    next to a denial only repeats it ("❌ No"). A single crossed line that begins the answer or names a label denies
    something, and asserts no other label. Where a label itself contains such a sign, nothing is struck out.
    """
    if _CROSS.search(text) is None or any(map(_CROSS.search, names.labels)):
        return text, True
    text = _STRUCK.sub("", text)
    lines = _CROSSED_LINE.findall(text)
    is_clear = True
    if not _TICKED.search(text):
        crossed = {names.labels[standing.label] for line in lines for standing in names.standing(line)}
        has_boxes = any(map(_EMPTY_BOX.search, lines))
        words = [label.replace("_", " ") for label in crossed]
        if crossed and not has_boxes and all(_DENIAL.match(label) or _FAULT.match(label) for label in words):
            return re.sub("[❌✗✘]", "", text), True
        is_first = bool(lines) and not has_boxes and text.lstrip().startswith(lines[0].lstrip())
        is_clear = len(lines) != 1 or not (crossed or is_first)
    return _TICKED_BOX.sub("", _CROSSED_LINE.sub("", text)), is_clear


def is_asserted(text: str, standing: Standing) -> bool:
    """Whether a label in a text is what the text answers.

    It is if it has a line or a sentence of its own, begins the text and is set off from what follows, is quoted or
    emphasised, or if words say so: "the answer is X", "it's X", "belongs to X", "Team: X". A sentence that denies
    anything before the label asserts nothing, nor does one that asks, guesses, sets a condition or reports what
    somebody says, nor a heading such as "Ruled out:".
    """
    before = text[max(0, standing.start - _WINDOW) : standing.start]
    after = text[standing.end : standing.end + _WINDOW]
    begins = standing.start <= _WINDOW and _BEFORE_ALONE.fullmatch(_MARKUP.sub("", before)) is not None
    sentence_before = _SENTENCE.split(before)[-1]
    sentence_after = _SENTENCE.split(after, maxsplit=1)[0]
    if _NO.match(after) or _says_none(text, standing):
        return False
    heading = _HEADING_ABOVE.search(before)
    if heading is not None and is_rejection(before[: heading.start()].rpartition("\n")[2]):
        return False
    if _is_alone(sentence_before, sentence_after):
        return True
    has_end = _END.match(after) is not None
    if begins and has_end:
        return True
    if _DENIAL.search(sentence_before) or _ATTRIBUTED.search(sentence_before) or _CONDITION.match(sentence_after):
        return False
    if _HEDGE.search(_CLAUSE.split(sentence_before)[-1]):
        return False
    is_headed = _HEADED.fullmatch(sentence_before) is not None
    if is_headed and REJECTED.search(sentence_before):
        return False
    if _OPENS.search(before) and _CLOSES.match(after):
        return _DENIAL.search(sentence_after) is None
    if is_headed and not _WORD.search(sentence_after):
        return True
    if has_end and _LEAD.search(sentence_before):
        return True
    return has_end and not _WORD.search(sentence_after) and _CONCLUDES.search(sentence_before) is not None


def is_rejection(heading: str) -> bool:
    """Whether what stands under a heading is not the answer."""
    clause = _CLAUSE.split(heading)[-1]
    return _DENIAL.search(clause) is not None or REJECTED.search(clause) is not None


def is_parted(text: str, standing: Standing) -> bool:
    """Whether what follows a label leaves it a label: the text ends there, or a reason follows that denies nothing."""
    after = text[standing.end : standing.end + _WINDOW]
    return _END.match(after) is not None and _NO.match(after) is None and not _says_none(text, standing)


def _says_none(text: str, standing: Standing) -> bool:
    """Whether a label is just the "no" of "no category fits"."""
    return (
        _NO_WORD.fullmatch(text, standing.start, standing.end) is not None
        and _NAME_AFTER_NO.match(text, standing.end) is not None
        and _ARTICLE.search(text[max(0, standing.start - _WINDOW) : standing.start]) is None
    )


def _is_alone(before: str, after: str) -> bool:
    """Whether a label has its sentence to itself, apart from markup, list numbers and articles."""
    if len(after) == _WINDOW:  # the sentence goes on
        return False
    bare_before, bare_after = _MARKUP.sub("", before), _MARKUP.sub("", after)
    return _BEFORE_ALONE.fullmatch(bare_before) is not None and not _WORD.search(bare_after)
