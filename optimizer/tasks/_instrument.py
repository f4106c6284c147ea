"""What compares or rates free answers: an embedding, a model, a function of the user's."""

from __future__ import annotations

import re
from dataclasses import dataclass

EMBEDDING = "embedding"
NLI = "nli"
JUDGE = "judge"
FUNCTION = "function"
REFERENCE = "reference"
USUAL_THRESHOLD = 0.9
"""From which cosine on two free answers count as the same; a choice, so that S is told at .85 and .95 too."""
FUNCTION_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*"
"""How functions are named, ``MODULE:NAME``."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """What compares or rates free answers, and is no part of psopt or is larger than a formula.

    Attributes
    ----------
    kind : str
        ``embedding``, ``nli``, ``judge``, ``function``, or ``reference``.
    name : str
        The model, or the function as ``MODULE:NAME``; the threshold of an embedding, empty for the usual one.
    """

    kind: str
    name: str = ""

    @classmethod
    def read(cls, text: str) -> Instrument:
        """Read what ``--answers`` says of one."""
        kind, _, name = text.partition(":")
        if kind in (EMBEDDING, NLI, JUDGE, REFERENCE):
            return cls(kind, name)
        return cls(FUNCTION, text)

    @property
    def is_sound(self) -> bool:
        """Whether the name can be one of its kind's."""
        if self.kind == EMBEDDING:
            return _threshold(self.name) is not None
        if self.kind == JUDGE:
            return "/" in self.name.strip("/")
        if self.kind == NLI:
            return bool(self.name.strip())
        return self.kind == REFERENCE or re.fullmatch(FUNCTION_NAME, self.name) is not None

    @property
    def threshold(self) -> float:
        """From which cosine on an embedding takes two answers for the same; of what else compares, the usual one."""
        return (_threshold(self.name) if self.kind == EMBEDDING else None) or USUAL_THRESHOLD

    @property
    def is_asked(self) -> bool:
        """Whether it must be asked or called: what it says is kept beside the answers."""
        return self.kind in (NLI, JUDGE, FUNCTION)


def _threshold(written: str) -> float | None:
    if not written:
        return USUAL_THRESHOLD
    try:
        value = float(written)
    except ValueError:
        return None
    return value if 0 < value <= 1 else None
