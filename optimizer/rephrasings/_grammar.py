"""A little English grammar: clauses that become questions, pronouns that get their noun, verbs that lose their s."""

from __future__ import annotations

import re

from psopt.rephrasings._description import KEPT, KEPT_END

WORD = rf"(?:[\w'’-]+|{KEPT}\d+{KEPT_END})"
"""A word, or what is kept in place of one."""
DETERMINER = r"(?:the|this|that|these|those|each|every|all|an?|any)"
NOUN_PHRASE = rf"{DETERMINER}(?: {WORD}){{1,3}}?"
"""As short as what follows allows."""
AUXILIARY = r"(?:is|are|was|were|can|could|should|would|must|will|has to|have to)"
VERB = (
    r"(?:addresses|agrees|answers|asks|belongs|calls|carries|complains|comes|concerns|contains|contradicts|conveys|covers"
    r"|deals|describes|discusses|entails|expects|expresses|falls|fits|follows|gives|goes|has|holds|implies|involves"
    r"|makes|means|mentions|names|needs|presents|promotes|refers|reports|requests|requires|says|seeks|shows|sounds|speaks"
    r"|states|suggests|supports|talks|tells|treats|wants|warrants)"
)
"""Verbs of which a noun is not easily mistaken for one: "the text messages" has none of these."""
_SUBJECT = rf"(?:it|they|{NOUN_PHRASE})"
_KINDS = r"(?:kind|type|sort|category|class) of"
_OF_IRREGULAR = {"has": "have", "does": "do", "goes": "go", "is": "be"}
_WITHOUT_S = re.compile(r"(?:sses|shes|ches|xes|zes|oes)$")


def base_form(verb: str) -> str:
    """A verb of the third person as an infinitive.

    >>> [base_form(verb) for verb in ("asks", "carries", "expresses", "has")]
    ['ask', 'carry', 'express', 'have']
    """
    if verb in _OF_IRREGULAR:
        return _OF_IRREGULAR[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if _WITHOUT_S.search(verb) else verb[:-1]


def is_plural(phrase: str) -> bool:
    """Tell whether a noun phrase is of several, by its first word, or else by the end of its head."""
    first = phrase.split(" ", 1)[0].casefold()
    if first in {"these", "those", "all"}:
        return True
    head = re.split(r" (?:of|in|from|with|for|that|which|on|about)\b", phrase)[0]
    return first not in {"a", "an", "each", "every", "this", "that"} and re.search(r"[^s'’]s$", head) is not None


def resolved(text: str, noun_phrase: str) -> str | None:
    """A phrase with the noun in the place of its one pronoun; None where that is not plain.

    >>> resolved("the kind of answer that it asks for", "the question")
    'the kind of answer that the question asks for'
    >>> resolved("its topic", "each ticket"), resolved("scientific domain", "the abstract")
    ('the topic of each ticket', 'the scientific domain of the abstract')
    """
    own = re.fullmatch(rf"(?:its|their) ({WORD}(?: {WORD}){{0,2}})", text)
    if own:
        return f"the {own[1]} of {noun_phrase}"
    pronouns = re.findall(r"\b(?:it|they|them|its|their)\b", text)
    if len(pronouns) == 1 and pronouns[0] in {"it", "they"}:
        return re.sub(r"\b(?:it|they)\b", lambda _: noun_phrase, text)
    if pronouns:
        return None
    bare = re.fullmatch(rf"(?:the )?({WORD}(?: {WORD})?)", text)
    if bare and not re.match(DETERMINER + r"\b", bare[1]):
        return f"the {bare[1]} of {noun_phrase}"
    return text if text.startswith("the ") else None


def as_clause(phrase: str) -> str | None:
    """Turn "the kind of answer that it wants" into "what kind of answer it wants"; None where it is no such phrase.

    >>> as_clause("the team that should answer"), as_clause("the topic of the text")
    ('which team should answer', 'what the topic of the text is')
    """
    kind = re.fullmatch(rf"the ({_KINDS} [^,;:]+?) (?:that|which) ({_SUBJECT} (?:{AUXILIARY}|{VERB})\b.*)", phrase)
    if kind:
        return f"what {kind[1]} {kind[2]}"
    who = re.fullmatch(rf"the ({WORD}(?: {WORD})?) (?:that|which|who) ((?:best )?(?:{AUXILIARY}|{VERB})\b.*)", phrase)
    if who:
        return f"which {who[1]} {who[2]}"
    whole = re.fullmatch(rf"the {WORD}(?: {WORD})? of {NOUN_PHRASE}(?: below| above)?", phrase)
    return f"what {phrase} is" if whole and not is_plural(phrase) else None


def as_phrase(clause: str) -> str | None:
    """Turn "which type of answer the question wants" into "the type of answer that the question wants", or None.

    >>> as_phrase("which team should answer"), as_phrase("whether it is good")
    ('the team that should answer', None)
    """
    kind = re.fullmatch(rf"(?:what|which) ({_KINDS} [^,;:]+?) ({_SUBJECT} (?:{AUXILIARY}|{VERB})\b.*)", clause)
    who = re.fullmatch(rf"(?:what|which) ({WORD}(?: {WORD})?) ((?:best )?(?:{AUXILIARY}|{VERB})\b.*)", clause)
    match = kind or who
    if match is None or re.match(DETERMINER + r"\b", match[1]):
        return None
    return f"the {match[1]} that {match[2]}"


def as_question(clause: str) -> str | None:
    """Turn an indirect question into a direct one, without its mark; None where its parts are not plain.

    >>> as_question("whether the review is positive"), as_question("what kind of answer it asks for")
    ('is the review positive', 'what kind of answer does it ask for')
    >>> as_question("which team should handle the ticket")
    'which team should handle the ticket'
    """
    asked, rest = _opened(clause)
    if asked is None:
        return None
    if asked.startswith("which ") and re.match(rf"(?:best )?(?:{AUXILIARY}|{VERB})\b", rest):
        return clause
    subject = re.fullmatch(rf"({_SUBJECT}) (?:({AUXILIARY})(?! to\b)|({VERB}))\b ?(.*)", rest)
    if subject is None or subject[2] in {"has to", "have to"}:
        return None
    if subject[2]:
        return _words(asked, subject[2], subject[1], subject[4])
    return _words(asked, "does", subject[1], base_form(subject[3]), subject[4])


def as_indirect(question: str) -> str | None:
    """Turn a direct question, without its mark, into an indirect one; None where its parts are not plain.

    >>> as_indirect("Is the review positive"), as_indirect("Which team should handle this")
    ('whether the review is positive', 'which team should handle this')
    >>> as_indirect("What is the topic of the text")
    'what the topic of the text is'
    """
    question = question[:1].lower() + question[1:]
    known = rf"(it|{DETERMINER} {WORD})"
    yes_no = re.fullmatch(rf"(is|are|was|were|can|could|should|would|must|will) {known} (.+)", question)
    if yes_no:
        return f"whether {yes_no[2]} {yes_no[1]} {yes_no[3]}"
    what = re.fullmatch(rf"what (is|are) (the {WORD}(?: {WORD})? of {NOUN_PHRASE})", question)
    if what:
        return f"what {what[2]} {what[1]}"
    kind = re.fullmatch(rf"((?:what|which) (?:{_KINDS} )?{WORD}) (is|are|should|must|can|will) {known} (.+)", question)
    if kind:
        return f"{kind[1]} {kind[3]} {kind[2]} {kind[4]}"
    done = re.fullmatch(rf"((?:what|which) (?:{_KINDS} )?{WORD}|) ?does {known} ([a-z]+)( .+)?", question)
    if done:
        verb = _third_person(done[3])
        return _words(done[1] or "whether", done[2], verb, (done[4] or "").strip()) if verb else None
    who = re.fullmatch(rf"(?:what|which) {WORD}(?: {WORD})? (?:{AUXILIARY}|{VERB})\b.*", question)
    return question if who else None


def _third_person(verb: str) -> str | None:
    """The verb with its s, of those that are known."""
    forms = (f"{verb}s", f"{verb}es", f"{verb[:-1]}ies", {"have": "has", "do": "does"}.get(verb, ""))
    return next((form for form in forms if re.fullmatch(VERB, form)), None)


def _opened(clause: str) -> tuple[str | None, str]:
    """What an indirect question asks with, and its rest: "" and a statement, where it asks whether."""
    yes_no = re.fullmatch(r"(?:whether|if) (?!or not)(.*)", clause)
    if yes_no:
        return "", yes_no[1]
    kind = re.fullmatch(rf"((?:what|which) {_KINDS} [^,;:]+?) ({_SUBJECT} (?:{AUXILIARY}|{VERB})\b.*)", clause)
    who = re.fullmatch(rf"(which {WORD}(?: {WORD})?) ((?:best )?(?:{AUXILIARY}|{VERB})\b.*)", clause)
    what = re.fullmatch(
        rf"((?:what|which)(?: (?!the |this |it ){WORD})?) ({_SUBJECT} (?:{AUXILIARY}|{VERB})\b.*)", clause
    )
    match = kind or what or who
    return (match[1], match[2]) if match else (None, clause)


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)
