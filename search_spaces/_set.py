"""A frozen set of rephrasings: what every candidate of a study is put to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Source = Literal["builtin", "rules", "file"]


@dataclass(frozen=True, slots=True)
class RephrasingSet:
    """Task descriptions that mean the same, in two disjoint sets.

    Attributes
    ----------
    original : str
        rho_0, the description as its author wrote it.
    search : tuple of str
        What candidates are compared under; the original comes first (it is one of the Q).
    heldout : tuple of str
        What the front is reported under; no candidate has met them.
    source : str
        ``builtin`` (written for this project), ``rules`` or ``file``.
    """

    original: str
    search: tuple[str, ...]
    heldout: tuple[str, ...]
    source: Source

    def __post_init__(self) -> None:
        """Refuse a set in which the original is not first, a text stands twice, is empty or has several paragraphs."""
        if not self.search or self.search[0] != self.original:
            raise InputError("the first search rephrasing must be the original description")
        seen: set[str] = set()
        for text in (*self.search, *self.heldout):
            if not text.strip() or "\n" in text.strip():
                raise InputError(f"a rephrasing must be one paragraph of text, not {text!r}")
            if comparable(text) in seen:
                raise InputError(f"the rephrasing {text!r} stands twice")
            seen.add(comparable(text))

    @property
    def sha256(self) -> str:
        """Digest of both sets, in order."""
        content = json.dumps([self.original, self.search, self.heldout])
        return hashlib.sha256(content.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain JSON data, its digest among them."""
        return {**json.loads(json.dumps(asdict(self))), "sha256": self.sha256}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RephrasingSet:
        """Build a set from `to_dict`'s data."""
        return cls(data["original"], tuple(data["search"]), tuple(data["heldout"]), data["source"])


def comparable(text: str) -> str:
    """A text as duplicates are looked for: letters and digits only (all signs where there are none), case folded."""
    return "".join(sign for sign in text.casefold() if sign.isalnum()) or text.strip()
