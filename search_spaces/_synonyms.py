"""The words that are swapped: one column of synonyms to search with, another, disjoint, to hold out.

Every rule says where it applies, so that "the text" may become "the passage" and a "text message" stays one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._description import KEPT
from ._swap import Swap

if TYPE_CHECKING:
    from collections.abc import Mapping

    Columns = Mapping[str, tuple[str, str]]
    """A word -> its synonym to search with and the one to hold out; "" for none."""

_START = r"(?:^|[.!?:;,] |\b(?:and|then|to|please|must|should|or) )"
_THE = r"(?:the|this|that|these|those|each|every|all|a|an)"
_SAMPLE = (
    r"(?:texts?|passages?|piece|questions?|quer(?:y|ies)|inquir(?:y|ies)|sentences?|documents?|reviews?|messages?"
    r"|e-?mails?|tweets?|posts?|comments?|articles?|abstracts?|titles?|headlines?|statements?|tickets?|inputs?|items?"
    r"|samples?|examples?|premise|hypothesis)\b"
)
_CLASS = r"(?:class(?:es)?|categor(?:y|ies)|labels?|groups?|options?|answers?)\b"
_AS_A_NOUN = (
    r"(?:[.,;:!?)" + KEPT + r"]|$| (?:by|is|are|in|into|as|to(?! speech)|with|for|from|on|about|below|above|according"
    r"|based|and|or|that|which|whose|it|you|asks?|belongs?|expresses|describes|mentions|contains|says|talks|refers"
    r"|deals|seeks|requires|needs|wants|has|shows|falls|" + KEPT + r")(?!\w))"
)
_FEATURE = r" (?:its|their|the (?:kind|type|sort|topic|subject|content|sentiment|emotion|intent|tone|language))\b"
_TO_CLASSIFY = r"\b(?:classify|categori[sz]e|sort|group|label|assign) [^.;:!?]{1,80}? "
_NUMBER = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)"

_ROWS: tuple[tuple[Columns, str, str, bool], ...] = (
    # What is classified.
    (
        {"question": ("query", "inquiry"), "questions": ("queries", "inquiries")},
        rf"\b(?:{_THE}|one|given|following|provided|classify|categorize|sort|group|label) ",
        _AS_A_NOUN,
        True,
    ),
    (
        {
            "text": ("passage", "piece of text"),
            "texts": ("passages", "pieces of text"),
            "passage": ("text", "piece of text"),
            "passages": ("texts", "pieces of text"),
        },
        rf"\b(?:{_THE}|one|given|following|provided|classify|categorize|sort|group|label) ",
        _AS_A_NOUN,
        True,
    ),
    ({"each": ("every", ""), "every": ("each", "")}, "", rf" (?:given )?{_SAMPLE}", False),
    (
        {"given": ("following", "provided"), "following": ("given", "provided"), "provided": ("given", "supplied")},
        r"\bthe ",
        rf" (?:{_NUMBER} )?(?:{_SAMPLE}|{_CLASS})",
        False,
    ),
    # What it is put into.
    (
        {"classes": ("categories", "groups"), "categories": ("classes", "groups")},
        rf"\b(?:into|one of|among|between) (?:(?:the|these|those|given|following|possible|available|exactly|{_NUMBER}) )*",
        r"(?:[.,;:!?)" + KEPT + r"]|$| (?:below|above|given|listed|that|which|and|by|based|according|it)\b)",
        True,
    ),
    (
        {"class": ("category", "group"), "category": ("class", "group")},
        r"\b(?:which|what|the|(?:correct|right|appropriate|suitable|matching|best[- ]fitting|most (?:fitting|likely))) ",
        r"(?:[.,;:!?)" + KEPT + rf"]|$| (?:that|which|of|it|below|{_THE} \w+ (?:belongs|falls|fits))\b)",
        True,
    ),
    (
        {"correct": ("right", "appropriate"), "right": ("correct", "appropriate"), "appropriate": ("right", "fitting")},
        r"\bthe ",
        rf" {_CLASS}",
        False,
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
        False,
    ),
    ({"answer": ("reply", "response")}, r"\b(?:kind|type|sort) of ", _AS_A_NOUN, True),
    (
        {"asks for": ("requests", "calls for")},
        r"\b(?:answer|reply|response) (?:(?:that|which) )?(?:it|the question|the query|the inquiry) ",
        "",
        False,
    ),
    ({"belongs to": ("falls into", "goes into")}, r"\b(?:class|category|group) (?:it|the \w+) ", r"[.,;:!?]|$", False),
    # What is done to it.
    (
        {"classify": ("categorize", ""), "categorize": ("classify", ""), "categorise": ("classify", "")},
        "",
        r" (?!as\b)",
        False,
    ),
    (
        {"classify": ("", "sort"), "categorize": ("", "sort"), "categorise": ("", "sort")},
        "",
        r"(?![^.;:!?]{0,200} as\b) [^.;:!?]{1,200} (?:into|by|according to|on the basis of|based on) ",
        False,
    ),
    (
        {"classify": ("", "label"), "categorize": ("", "label"), "categorise": ("", "label")},
        "",
        r" [^.;:!?]{1,200} as ",
        False,
    ),
    ({"classifying": ("categorizing", ""), "categorizing": ("classifying", "")}, "", " ", False),
    ({"sort": ("classify", "")}, _START, r" [^.;:!?]{1,200} into ", False),
    ({"label": ("mark", "tag")}, _START, rf" (?:{_THE} \w+|it) (?:as|with)\b", False),
    (
        {
            "decide": ("determine", "work out"),
            "determine": ("decide", "work out"),
            "deciding": ("determining", "working out"),
            "determining": ("deciding", "working out"),
        },
        "",
        " (?:whether|if|which|what|how|who)\\b",
        False,
    ),
    (
        {"determine": ("identify", "establish"), "identify": ("determine", "establish")},
        _START,
        " (?:the|its|their) ",
        False,
    ),
    ({"identify": ("determine", "work out")}, _START, " (?:whether|which|what|how|who)\\b", False),
    (
        {"say": ("state", "indicate"), "tell": ("say", "indicate"), "state": ("say", "indicate")},
        _START,
        " (?:whether|if|which|what|how|who)\\b",
        False,
    ),
    (
        {"choose": ("select", "pick"), "select": ("choose", "pick"), "pick": ("choose", "")},
        _START,
        " (?:the|one|a|an|exactly|only|between|from|among|which|whichever|what)\\b",
        False,
    ),
    ({"look at": ("consider", "examine"), "consider": ("look at", "examine")}, _START, rf" {_THE} ", False),
    ({"assign": ("", "allocate")}, _START, rf" {_THE} (?:\w+ ){{1,3}}to\b", False),
    # By what.
    ({"based on": ("according to", "on the basis of")}, _TO_CLASSIFY, _FEATURE, False),
    ({"according to": ("based on", "on the basis of")}, _TO_CLASSIFY, _FEATURE, False),
    ({"by": ("according to", "on the basis of")}, _TO_CLASSIFY, _FEATURE, False),
    (
        {"expressed": ("conveyed", "voiced")},
        r"\b(?:sentiment|emotion|opinion|feeling|mood|attitude|stance)s? (?:(?:that )?(?:is|are) )?",
        "",
        False,
    ),
    (
        {"expresses": ("conveys", "voices")},
        "",
        r" (?:an? |the )?(?:positive|negative|neutral|favou?rable|opinion|sentiment|emotion|feeling)",
        False,
    ),
    # Small words.
    (
        {"whether": ("if", "")},
        r"\b(?:decid(?:e|ing)|determin(?:e|ing)|tell|say|state|judge|check|see) ",
        " (?!or not)",
        False,
    ),
    ({"if": ("", "whether")}, r"\b(?:decid(?:e|ing)|determin(?:e|ing)|tell|say|state|judge|check|see) ", " ", False),
    (
        {
            "you must": ("you have to", "you are required to"),
            "you have to": ("you must", "you are required to"),
            "you need to": ("you have to", "you are required to"),
        },
        "",
        " (?!not)",
        False,
    ),
    (
        {"do not": ("don't", ""), "cannot": ("can't", ""), "does not": ("doesn't", ""), "is not": ("isn't", "")},
        "",
        r" \w",
        False,
    ),
    (
        {"you are": ("you're", ""), "you will": ("you'll", "")},
        "",
        " (?:given|shown|asked|be|see|get|find|receive)\\b",
        False,
    ),
    ({"don't": ("", "do not"), "can't": ("", "cannot")}, "", r" \w", False),
    ({"doesn't": ("", "does not"), "isn't": ("", "is not"), "aren't": ("", "are not")}, r"\b\w+ ", r" \w", False),
    ({"you're": ("", "you are"), "you'll": ("", "you will")}, "", r" \w", False),
)


def _column(which: int) -> tuple[Swap, ...]:
    swaps = (
        Swap(tuple((word, new[which]) for word, new in words.items() if new[which]), before, after, everywhere)
        for words, before, after, everywhere in _ROWS
    )
    return tuple(swap for swap in swaps if swap.words)


SEARCH_SWAPS, HELDOUT_SWAPS = _column(0), _column(1)
