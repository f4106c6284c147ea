"""What a search may use, so that one thing can be taken away: for ablations, and for prompts without examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces._edits import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces._edits import Edit

View = Literal["sensitivity", "consistency", "accuracy"]
VIEWS: tuple[View, ...] = get_args(View)


@dataclass(frozen=True, slots=True)
class SearchRestriction:
    """What a search may use.

    Attributes
    ----------
    views : tuple of str
        Whose groups may become notes: ``sensitivity``, ``consistency``, ``accuracy``. Without consistency the blocks
        that a class falls apart into become no definitions, without sensitivity no sample that shakes an example.
    kinds : tuple of str
        Of edits: ``definition``, ``note``, ``example``.
    margin : float
        A candidate is feasible if its F1 on val is at least the seed prompt's less this margin; 1 allows everything.

    Raises
    ------
    InputError
        If a name is unknown, there is no kind of edit, or the margin is negative.
    """

    views: tuple[str, ...] = VIEWS
    kinds: tuple[str, ...] = KINDS
    margin: float = 0.01

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for what, names, known in (("view", self.views, VIEWS), ("kind of edit", self.kinds, KINDS)):
            for name in names:
                if name not in known:
                    raise UnknownNameError(what, name, known)
        if not self.kinds:
            raise InputError("a search needs at least one kind of edit")
        if not self.margin >= 0:
            raise InputError(f"margin must not be negative, but is {self.margin}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchRestriction:
        """Read a restriction back from run.json."""
        named: dict[str, Any] = {name: tuple(data[name]) for name in ("views", "kinds") if name in data}
        return cls(**{**data, **named})

    def allowed(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return the edits that are of these kinds and views."""
        shaking = "sensitivity" in self.views
        return [
            edit
            for edit in edits
            if edit.kind in self.kinds and (shaking or (edit.kind, edit.provenance.topic) != ("example", "weak spot"))
        ]


SearchParts = SearchRestriction
"""The name until 0.1."""
