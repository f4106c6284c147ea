"""The shapes of sentences that task descriptions are made of, as regular expressions with the slots of `_ways`."""

from __future__ import annotations

import re

from psopt.rephrasings._grammar import DETERMINER

_OBJECT = r"(?P<o>[^,.;:!?]{1,80}?)"
_SORT = r"(?:classify|categori[sz]e|sort|group|label|file|arrange|organi[sz]e|divide)"
_BY = r"(?:by|based on|according to|on the basis of|depending on)"
BY_CRITERION = re.compile(
    rf"{_SORT} {_OBJECT}(?P<k> into [^,;:!?]{{1,60}}?)? {_BY} (?P<c>(?:(?!\bas\b)[^,;:!?]){{2,120}}?)"
    r"(?P<end> into [^,;:!?]{1,60})?",
    re.IGNORECASE,
)
INTO_CLASSES = re.compile(
    rf"(?:{_SORT}|assign|allocate|route|forward|send|direct|dispatch|put|place|match) {_OBJECT}"
    r" (?:in|into|to|under|with) (?P<x>(?:one of|the|a|an|exactly one of) [^;:!?]{2,140})",
    re.IGNORECASE,
)
AS_ALTERNATIVES = re.compile(
    rf"(?:{_SORT}|mark|tag|flag|rate|annotate) {_OBJECT} as (?:either )?(?P<ab>[^.;:!?]{{1,80}} or [^,.;:!?]{{1,40}})",
    re.IGNORECASE,
)
CONDITION = r"\b(?:if|when|unless|depending|based|according|by|because|whether)\b"
_ASK = (
    r"(?:decide|determine|identify|say|state|tell(?: me| us)?|judge|find out|figure out|work out|check|see|indicate"
    r"|specify|predict|assess|establish|report|settle|name|choose|select|pick|recogni[sz]e|detect)"
)
ASKED = re.compile(rf"{_ASK} (?P<w>(?:whether|if|which|what|who|how|why|where) .+)", re.IGNORECASE)
NAMED = re.compile(
    r"(?:determine|identify|name|give|state|predict|establish|recogni[sz]e|detect|find|assess|infer|indicate|specify|report)"
    r" (?P<f>(?:the|its) .+)",
    re.IGNORECASE,
)
CHOSEN = re.compile(r"(?:choose|select|pick|find|give) (?P<x>the (?!.*\bof\b).+)", re.IGNORECASE)
GIVEN = re.compile(
    r"(?:you are|you're|you will be|you'll be) (?:given|shown) (?P<o>(?:a|an|the|one|some) .+)", re.IGNORECASE
)
READ = re.compile(
    r"(?:carefully )?read (?P<o>(?:the|this|each|every|a|an|all) [^,;:]+?)(?: carefully| closely)?", re.IGNORECASE
)
GIVEN_DO = re.compile(r"given (?P<o>(?:the|an?|this|each|one) [^,;:]+), (?P<d>.+)", re.IGNORECASE)
ROLE = re.compile(r"(?:you are|you're|act as) (?P<r>(?:an?|the) (?!task|text|list)[^;:!?]+)", re.IGNORECASE)
WORK = re.compile(
    r"you (?P<d>(?:work|read|route|sort|handle|label|answer|classify|review|check|help|look) .+)", re.IGNORECASE
)
ON_CONDITION = re.compile(r"if (?P<a>[^,;:]+), (?:then )?(?P<b>[^;:]+)", re.IGNORECASE)
FORBIDDEN = re.compile(r"(?:please )?(?:do not|don['’]t|never) (?P<v>[^;:]+)", re.IGNORECASE)
POLITE = re.compile(r"(?:please,?|you (?:should|must|need to|have to|are to)|your (?:task|job) is to) ", re.IGNORECASE)
JOINT = re.compile(r"(?:,? and then|, then|,? and) (?=(\w+) )")
EITHER = re.compile(rf"whether (?P<o>{DETERMINER} [^,;:]{{1,40}}?) is (?P<ab>[^;:]{{1,80}} or [^,;:]{{1,40}})")
