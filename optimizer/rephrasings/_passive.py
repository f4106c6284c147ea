"""Phrases and indirect questions turned to the passive voice, for the verbs that task descriptions use."""

from __future__ import annotations

import re

from psopt.rephrasings._grammar import NOUN_PHRASE, WORD

PARTICIPLES = {
    "asks for": "asked for by",
    "calls for": "called for by",
    "contains": "contained in",
    "conveys": "conveyed in",
    "covers": "covered in",
    "deals with": "dealt with in",
    "demands": "demanded by",
    "describes": "described in",
    "discusses": "discussed in",
    "expects": "expected by",
    "expresses": "expressed in",
    "is looking for": "looked for by",
    "mentions": "mentioned in",
    "presents": "presented in",
    "reports": "reported in",
    "requests": "requested by",
    "requires": "required by",
    "seeks": "sought by",
    "shows": "shown in",
    "treats": "treated in",
    "wants": "wanted by",
}
_DONE = {
    "answer": "answered",
    "deal with": "dealt with",
    "handle": "handled",
    "look at": "looked at",
    "process": "processed",
    "read": "read",
    "receive": "received",
    "solve": "solved",
    "take care of": "taken care of",
    "treat": "treated",
}
_KIND = rf"(?P<kind>(?:kind|type|sort|category|class) of {WORD}(?: {WORD})?)"
_SUBJECT = rf"(?P<subject>{NOUN_PHRASE})"
_VERB = rf"(?P<verb>{'|'.join(PARTICIPLES)})"
_PLAIN = rf"(?:{'|'.join(PARTICIPLES)}|is about|is after|needs)"
_MODAL = r"(?P<modal>should|must|has to|can|will)"
_WHO = rf"(?P<who>{WORD}(?: {WORD})?) {_MODAL} (?P<done>{'|'.join(_DONE)}) (?P<object>it|{NOUN_PHRASE})"


def passive_phrase(phrase: str) -> str | None:
    """A noun phrase whose clause is in the passive voice; None where it is not known how.

    >>> passive_phrase("the kind of answer that the question asks for")
    'the kind of answer asked for by the question'
    >>> passive_phrase("the team that has to answer the mail")
    'the team by which the mail has to be answered'
    """
    if match := re.fullmatch(rf"the {_KIND} (?:that|which) {_SUBJECT} {_VERB}", phrase):
        return f"the {match['kind']} {PARTICIPLES[match['verb']]} {match['subject']}"
    if match := re.fullmatch(rf"the {_WHO.replace('(?P<modal>', '(?:that|which|who) (?P<modal>')}", phrase):
        return f"the {match['who']} by {_which(match)} {match['object']} {match['modal']} be {_DONE[match['done']]}"
    return None


def compact_phrase(phrase: str) -> str | None:
    """A noun phrase that names its kind in two words; None where it is not one of those that can.

    >>> compact_phrase("the kind of answer that the question asks for")
    'the answer type of the question'
    """
    match = re.fullmatch(
        rf"the (?:kind|type|sort|category|class) of (?P<of>\w+) (?:that|which) {_SUBJECT} {_PLAIN}", phrase
    )
    if match is None:
        return None
    return f"the {'entity' if match['of'] == 'thing' else match['of']} type of {match['subject']}"


def passive_clause(clause: str) -> str | None:
    """An indirect question in the passive voice; None where it is not known how.

    >>> passive_clause("which type of answer the question seeks"), passive_clause("which team should answer it")
    ('which type of answer is sought by the question', 'by which team it should be answered')
    """
    if match := re.fullmatch(rf"(?P<asked>what|which) {_KIND} {_SUBJECT} {_VERB}", clause):
        return f"{match['asked']} {match['kind']} is {PARTICIPLES[match['verb']]} {match['subject']}"
    if match := re.fullmatch(rf"which {_WHO}", clause):
        return f"by which {match['who']} {match['object']} {match['modal']} be {_DONE[match['done']]}"
    return None


def _which(match: re.Match[str]) -> str:
    return "whom" if re.search(r"\b(?:person|agent|colleague|member)$", match["who"]) else "which"
