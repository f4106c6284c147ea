"""The words that are swapped: one column of synonyms to search with, another, disjoint, to hold out.

Every rule says where it applies, so that "the text" may become "the passage" and a "text message" stays one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.rephrasings._description import KEPT
from psopt.rephrasings._swap import Swap

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = tuple[Mapping[str, tuple[str, str]], str, str]
    """Words, each with the synonyms to search with and to hold out ("" for none); what must stand before and after."""

_START = r"(?:^|[.!?:;,] |\b(?:and|then|to|please|must|should|or) )"
_THE = r"(?:the|this|that|these|those|each|every|all|a|an)"
_SAMPLE = (
    r"(?:texts?|passages?|piece|questions?|quer(?:y|ies)|inquir(?:y|ies)|sentences?|documents?|reviews?|messages?"
    r"|e-?mails?|tweets?|posts?|comments?|articles?|abstracts?|titles?|headlines?|statements?|tickets?|inputs?|items?"
    r"|samples?|examples?|premise|hypothesis)\b"
)
_CLASS = r"(?:class(?:es)?|categor(?:y|ies)|labels?|groups?|options?|answers?)\b"
_ENDS = r"(?:[.,;:!?)" + KEPT + r"]|$"
_AS_A_NOUN = (
    _ENDS + r"| (?:by|is|are|in|into|as|to(?! speech)|with|for|from|on|about|below|above|according"
    r"|based|and|or|that|which|whose|it|you|asks?|belongs?|expresses|describes|mentions|contains|says|talks|refers"
    r"|deals|seeks|requires|needs|wants|has|shows|falls)\b| " + KEPT + r")"
)
_FEATURE = r" (?:its|their|the (?:kind|type|sort|topic|subject|content|sentiment|emotion|intent|tone|language))\b"
_TO_CLASSIFY = r"\b(?:classify|categori[sz]e|sort|group|label|assign) [^.;:!?]{1,80}? "
_NUMBER = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)"
_ASKED = "(?:whether|which|what|how|who)"
_DECIDE = r"\b(?:decid(?:e|ing)|determin(?:e|ing)|tell|say|state|judge|check|see) "
_NAMED = (
    r"\b(?:the|this|these|each|every|all|given|following|provided|(?:given|shown|read|see|of|for|with) an?"
    r"|(?:classify|categori[sz]e|sort|group|label)(?= \w+s\b)) "
)

_NAMES: tuple[Row, ...] = (
    (
        {"question": ("query", "inquiry"), "questions": ("queries", "inquiries")},
        _NAMED,
        _AS_A_NOUN,
    ),
    (
        {
            "text": ("passage", "piece of text"),
            "texts": ("passages", "pieces of text"),
            "passage": ("text", "piece of text"),
            "passages": ("texts", "pieces of text"),
        },
        _NAMED,
        _AS_A_NOUN,
    ),
    (
        {"classes": ("categories", "groups"), "categories": ("classes", "groups")},
        rf"\b(?:into|one of|among|between) (?:(?:the|these|given|following|possible|available|exactly|{_NUMBER}) )*",
        _ENDS + r"| (?:below|above|given|listed|that|which|and|by|based|according|it)\b)",
    ),
    (
        {"class": ("category", "group"), "category": ("class", "group")},
        r"\b(?:which|what|the|correct|right|appropriate|suitable|matching|best[- ]fitting|most (?:fitting|likely)) ",
        _ENDS + rf"| (?:that|which|it|below|{_THE} \w+ (?:belongs|falls|fits))\b)",
    ),
    ({"answer": ("reply", "response")}, r"\b(?:kind|type|sort) of ", _AS_A_NOUN),
)

_WORDS: tuple[Row, ...] = (
    # What is classified, and into what.
    ({"each": ("every", ""), "every": ("each", "")}, "", rf" (?:given )?{_SAMPLE}"),
    (
        {"given": ("following", "provided"), "following": ("given", "provided"), "provided": ("given", "supplied")},
        r"\bthe ",
        rf" (?:{_NUMBER} )?(?:{_SAMPLE}|{_CLASS})",
    ),
    (
        {"correct": ("right", "appropriate"), "right": ("correct", "appropriate"), "appropriate": ("right", "fitting")},
        r"\bthe ",
        rf" {_CLASS}",
    ),
    (
        {
            "kind of": ("type of", "sort of"),
            "type of": ("kind of", "sort of"),
            "kinds of": ("types of", "sorts of"),
            "types of": ("kinds of", "sorts of"),
            "sort of": ("kind of", ""),
        },
        r"\b(?:the|what|which|this|that|one|same|each|every|by|any|all|these|two) ",
        " ",
    ),
    (
        {"asks for": ("requests", "calls for")},
        r"\b(?:answer|reply|response) (?:(?:that|which) )?(?:it|the question|the query|the inquiry) ",
        "",
    ),
    ({"belongs to": ("falls into", "goes into")}, r"\b(?:class|category|group) (?:it|the \w+) ", r"[.,;:!?]|$"),
    # What is done to it.
    ({"classify": ("categorize", ""), "categorize": ("classify", ""), "categorise": ("classify", "")}, "", " "),
    (
        {"classify": ("", "sort"), "categorize": ("", "sort"), "categorise": ("", "sort")},
        "",
        r"(?![^.;:!?]{0,200} as\b) [^.;:!?]{1,200} (?:into|by|according to|on the basis of|based on) ",
    ),
    (
        {"classify": ("", "label"), "categorize": ("", "label"), "categorise": ("", "label")},
        "",
        r" [^.;:!?]{1,200} as ",
    ),
    ({"classifying": ("categorizing", ""), "categorizing": ("classifying", "")}, "", " "),
    ({"sort": ("classify", "")}, _START, r" [^.;:!?]{1,200} into "),
    ({"label": ("mark", "tag")}, _START, rf" (?:{_THE} \w+|it) (?:as|with)\b"),
    (
        {
            "decide": ("determine", "work out"),
            "determine": ("decide", "work out"),
            "deciding": ("determining", "working out"),
            "determining": ("deciding", "working out"),
        },
        "",
        rf" (?:if|{_ASKED})\b",
    ),
    ({"determine": ("identify", "establish"), "identify": ("determine", "establish")}, _START, " (?:the|its|their) "),
    ({"identify": ("determine", "work out")}, _START, rf" {_ASKED}\b"),
    (
        {"say": ("state", "indicate"), "tell": ("say", "indicate"), "state": ("say", "indicate")},
        _START,
        rf" (?:if|{_ASKED})\b",
    ),
    (
        {"choose": ("select", "pick"), "select": ("choose", "pick"), "pick": ("choose", "")},
        _START,
        r" (?:the|one|an?|exactly|only|between|from|among|which|whichever|what)\b",
    ),
    ({"look at": ("consider", "examine"), "consider": ("look at", "examine")}, _START, rf" {_THE} "),
    ({"assign": ("", "allocate")}, _START, rf" {_THE} (?:given )?{_SAMPLE} to\b"),
    # By what.
    ({"based on": ("according to", "on the basis of")}, _TO_CLASSIFY, _FEATURE),
    ({"according to": ("based on", "on the basis of")}, _TO_CLASSIFY, _FEATURE),
    ({"by": ("according to", "on the basis of")}, _TO_CLASSIFY, _FEATURE),
    (
        {"expressed": ("conveyed", "voiced")},
        r"\b(?:sentiment|emotion|opinion|feeling|mood|attitude|stance)s? (?:(?:that )?(?:is|are) )?",
        "",
    ),
    (
        {"expresses": ("conveys", "voices")},
        "",
        r" (?:an? |the )?(?:positive|negative|neutral|favou?rable|opinion|sentiment|emotion|feeling)",
    ),
    # Small words.
    ({"whether": ("if", "")}, _DECIDE, " (?!or not)"),
    ({"if": ("", "whether")}, _DECIDE, " "),
    (
        {
            "you must": ("you have to", "you are required to"),
            "you have to": ("you must", "you are required to"),
            "you need to": ("you have to", "you are required to"),
        },
        "",
        " (?!not)",
    ),
    (
        {"do not": ("don't", ""), "cannot": ("can't", ""), "does not": ("doesn't", ""), "is not": ("isn't", "")},
        "",
        r" \w",
    ),
    (
        {"you are": ("you're", ""), "you will": ("you'll", "")},
        "",
        r" (?:given|shown|asked|be|see|get|find|receive)\b",
    ),
    ({"don't": ("", "do not"), "can't": ("", "cannot")}, "", r" \w"),
    ({"doesn't": ("", "does not"), "isn't": ("", "is not"), "aren't": ("", "are not")}, r"\b\w+ ", r" \w"),
    ({"you're": ("", "you are"), "you'll": ("", "you will")}, "", r" \w"),
)


def _column(which: int) -> tuple[Swap, ...]:
    swaps = (
        Swap(tuple((word, new[which]) for word, new in words.items() if new[which]), before, after, rows is _NAMES)
        for rows in (_NAMES, _WORDS)
        for words, before, after in rows
    )
    return tuple(swap for swap in swaps if swap.words)


SEARCH_SWAPS, HELDOUT_SWAPS = _column(0), _column(1)
