"""Words of a task description that have several others of the same meaning, where what stands around them allows it.

One column is to search with and the other, disjoint, to hold out. What one sample is called ("the question") is not
among them: frames name it too, and it has to keep one name (see `_synonyms`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from psopt.rephrasings._swap import cased_like, holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

Side = Literal["search", "heldout"]


@dataclass(frozen=True)
class Wording:
    """Words of one meaning.

    Attributes
    ----------
    search, heldout : tuple of str
        What may take the place of any of them.
    others : tuple of str
        What only gives way.
    before, after : str
        Regular expressions for what must stand right before and right after.
    """

    search: tuple[str, ...]
    heldout: tuple[str, ...]
    others: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the words, in its place."""
        longest_first = sorted({*self.search, *self.heldout, *self.others}, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        return re.compile(rf"(?P<before>{self.before})\b(?P<word>{words})\b(?={self.after})", re.IGNORECASE)

    def put(self, new: str, text: str) -> str:
        """A text with one of these words in the place of all of them."""
        return self.pattern.sub(lambda old: old["before"] + cased_like(old["word"], new), text)


_KINDS = r"(?:kind|type|sort|category|class) of "
_THE = r"\b(?:the|its|their|this) "
_ASKER = r"\b(?:question|query|inquiry|it) "
_TELLER = r"\b(?:article|text|passage|entry|abstract|document|post|story|page|it) "
_DOER = r"\b(?:team|department|group|unit|desk|queue|office|agent|colleague|that|who|which) "
_MODAL = r"\b(?:should|must|has to|have to|can|could|will|ought to|needs to|is supposed to) "

WORDINGS = (
    Wording(
        ("kind of", "type of", "sort of"),
        ("category of", "class of"),
        before=r"\b(?:the|what|which|this|that|one|same|by) ",
        after=" ",
    ),
    Wording(("thing", "entity"), ("subject",), before=_KINDS, after=r" (?!or\b|and\b)|[.,?]|$"),
    Wording(
        ("asks for", "seeks", "calls for", "is looking for", "wants"),
        ("requires", "demands", "is after", "aims at", "expects"),
        ("looks for", "requests", "is asking for", "needs"),
        before=_ASKER,
        after=r"[.,;:?]|$| (?:and|or|as|is|to)\b",
    ),
    Wording(
        ("ask for", "seek", "call for", "look for", "want"),
        ("require", "demand", "aim at", "expect"),
        ("request", "need"),
        before=_ASKER,
        after=r"[.,;:?]|$",
    ),
    Wording(
        ("asked for by", "sought by", "called for by", "wanted by"),
        ("required by", "demanded by", "expected by"),
        ("looked for by", "requested by"),
        after=" ",
    ),
    Wording(
        ("describes", "deals with", "is about", "presents"),
        ("covers", "treats", "concerns", "is devoted to"),
        ("talks about", "discusses"),
        before=_TELLER,
        after=r"[.,;:?]|$| (?:and|or|as|is|to)\b",
    ),
    Wording(
        ("describe", "deal with", "present"),
        ("cover", "treat", "concern"),
        ("talk about", "discuss"),
        before=_TELLER,
        after=r"[.,;:?]|$",
    ),
    Wording(("described in", "presented in", "dealt with in"), ("covered in", "treated in"), ("discussed in",)),
    Wording(
        ("handle", "deal with", "take care of"),
        ("attend to", "see to", "look after"),
        before=_MODAL,
        after=" (?:it|the|this|each)\\b",
    ),
    Wording(("handled", "dealt with", "taken care of"), ("attended to", "looked after"), before="be "),
    Wording(("should", "has to", "ought to"), ("must", "needs to"), before=_DOER, after=" [a-z]"),
    Wording(
        ("fits", "suits", "matches"),
        ("goes with", "applies to"),
        before=r"\b(?:best|that|class|category) ",
        after=r" (?:the|it|this|each)\b",
    ),
    Wording(("right", "correct"), ("appropriate", "proper"), before=_THE, after=r" \w+"),
    Wording(
        ("follows from", "can be concluded from", "can be inferred from"),
        ("is implied by", "is warranted by", "can be derived from"),
        before=r"\b(?:hypothesis|conclusion|statement|claim|it) ",
    ),
    Wording(("topic", "subject", "theme"), ("subject matter",), before=_THE, after=r"[.,;:?]|$| (?:of|is|that|and)\b"),
    Wording(("sentiment", "attitude"), ("tone",), before=_THE, after=r"[.,;:?]|$| (?:of|is|that|expressed|in)\b"),
    Wording(("emotion", "feeling"), ("mood",), before=_THE, after=r"[.,;:?]|$| (?:of|is|that|expressed|in)\b"),
    Wording(("intent", "intention"), ("purpose",), before=_THE, after=r"[.,;:?]|$| (?:of|is|that|behind)\b"),
    Wording(("customer", "client"), (), before=r"\b(?:the|a) "),
    Wording(("concerns", "touches"), ("involves", "affects"), before=r"\bit ", after=r" (?:several|more than)\b"),
)


def reworded(text: str, side: Side, rng: np.random.Generator, protect: Sequence[str] = ()) -> str:
    """A text in which each of these words is another one of the same meaning, or itself, as `rng` says.

    None of the words to protect comes in.
    """
    for wording in WORDINGS:
        place = int(rng.integers(1 << 16))  # drawn for every wording, so that one that does not apply moves no other
        match = wording.pattern.search(text)
        if match is None:
            continue
        allowed = [new for new in getattr(wording, side) if not any(holds(new, word) for word in protect)]
        own = [] if match["word"].casefold() in allowed else [match["word"].casefold()]
        choices = [*own, *allowed]
        new = choices[place % len(choices)]
        text = wording.put(new, text)
    return text
