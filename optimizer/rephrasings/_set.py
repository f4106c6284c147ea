"""A frozen set of rephrasings: what every candidate of a study is put to."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError
from psopt.search_spaces import PLAIN, PromptFormat
from psopt.templates import split_description

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SOURCES = ("builtin", "rules", "file")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A text that a rephraser wrote and the checks refused, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class RephrasingSet:
    """Task descriptions that mean the same, in two disjoint sets.

    Raises InputError if the original is not first in `search`; if a text is empty, or, other than the original, of
    several lines (of a template: of another number of parts); or if two texts, of one set or of both, differ in nothing
    but case, spaces and punctuation.
    """

    original: str  # rho_0, the description as its author wrote it
    search: tuple[str, ...]  # what candidates are compared under; the original comes first (it is one of the Q)
    heldout: tuple[str, ...]  # what the front is reported under; no candidate has met them
    source: str  # ``builtin`` (written for this project), ``rules``, ``file``, or the name of the model that wrote them
    # What the checks found, where there were any
    checks: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)
    rejected: tuple[Rejected, ...] = field(default=(), compare=False)  # what was refused on the way
    # Each text's form, and by it its family; empty where all are paraphrases in psopt's own form
    search_forms: tuple[PromptFormat, ...] = ()
    heldout_forms: tuple[PromptFormat, ...] = ()
    # Of how many parts each text is, where they are of a template (see `Prompt.template`); 0 where they are not
    n_parts: int = 0

    def __post_init__(self) -> None:
        """Refuse a set that is not sound."""
        if self.source not in _SOURCES and "/" not in self.source:
            raise InputError(f"rephrasings come from one of {', '.join(_SOURCES)} or a model, not from {self.source!r}")
        if not self.search or self.search[0] != self.original:
            raise InputError("the first search rephrasing must be the original description")
        for texts, forms in ((self.search, self.search_forms), (self.heldout, self.heldout_forms)):
            if forms and len(forms) != len(texts):
                raise InputError(f"{len(texts)} rephrasings can't have {len(forms)} forms")
        seen: dict[tuple[str, PromptFormat], str] = {}
        for text, form in (*self.variants("search"), *self.variants("heldout")):
            key = (comparable(text), form.layout)
            self._check_parts(text)
            twin = seen.get(key)
            if twin is not None:
                other = "" if twin == text else f", first as {shortened(twin)}"
                raise InputError(f"the rephrasing {shortened(text)} stands twice{other}; change or remove one")
            seen[key] = text

    def _check_parts(self, text: str) -> None:
        if not self.n_parts:
            if not text.strip() or (text.splitlines() != [text] and text != self.original):
                raise InputError(f"a rephrasing must be one paragraph of text, not {shortened(text)}")
            return
        parts = split_description(text)
        if len(parts) != self.n_parts or not all(part.strip() for part in parts):
            raise InputError(
                f"a rephrasing of this prompt must have {self.n_parts} parts with an empty line between, and "
                f"{shortened(text)} has {sum(bool(part.strip()) for part in parts)}"
            )

    def variants(self, which: Literal["search", "heldout"]) -> list[tuple[str, PromptFormat]]:
        """The instruction variants of a set: its texts, each with its form."""
        texts, forms = self.on("test" if which == "heldout" else "val")
        return list(zip(texts, forms or (PLAIN,) * len(texts), strict=True))

    def on(self, split: str) -> tuple[tuple[str, ...], tuple[PromptFormat, ...]]:
        """What prompts meet on a split: on test the held-out texts, else the search ones; and their forms, if any."""
        return (self.heldout, self.heldout_forms) if split == "test" else (self.search, self.search_forms)

    @property
    def sha256(self) -> str:
        """Digest of both sets, in order."""
        forms = [[form.to_dict() for form in of_set] for of_set in (self.search_forms, self.heldout_forms) if of_set]
        content = json.dumps([self.original, self.search, self.heldout, *forms])
        return hashlib.sha256(content.encode()).hexdigest()


def comparable(text: str) -> str:
    """A text as duplicates are looked for: letters and digits only (all signs where there are none), case folded.

    >>> comparable("Sort it, please!") == comparable("sort it please")
    True
    """
    return "".join(sign for sign in text.casefold() if sign.isalnum()) or text.strip()


def differing(expected: Iterable[str], present: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what one text holds more often than the other: ``("lost", piece)``, then ``("added", piece)``.

    >>> list(differing(["{a}", "{b}"], ["{b}", "{b}"]))
    [('lost', '{a}'), ('added', '{b}')]
    """
    before, after = Counter(expected), Counter(present)
    yield from (("lost", piece) for piece in before - after)
    yield from (("added", piece) for piece in after - before)


def distinct(texts: Iterable[str], avoid: Iterable[str] = ()) -> Iterator[str]:
    """Yield the first of those that differ in nothing but case, spaces and signs, and none that is to avoid."""
    seen = {comparable(text) for text in avoid}
    for text in texts:
        if comparable(text) not in seen:
            seen.add(comparable(text))
            yield text


def shortened(text: str) -> str:
    """A text as an error message quotes it: on one line, not longer than a line."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
