"""What a search may use, so that one thing can be taken away: for ablations, and for prompts without examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces._edits import KINDS, WEAK_SPOT

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
        Whose slices may become notes: ``sensitivity``, ``consistency``, ``accuracy``. Without consistency the clusters
        that a class falls apart into become no definitions, without sensitivity no unstable sample an example.
    kinds : tuple of str
        Of edits: ``definition``, ``note``, ``example``.
    margin : float
        A candidate is feasible if its F1 on val is at least the baseline's less this margin; 1 allows everything. The
        default is a hundredth: well below the noise of a few hundred samples, chosen by judgement.

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
        _check_names("view", self.views, VIEWS)
        _check_names("kind of edit", self.kinds, KINDS)
        if not self.kinds:
            raise InputError("a search needs at least one kind of edit")
        if not self.margin >= 0:  # so that no number is refused too
            raise InputError(f"margin must not be negative, but is {self.margin}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchRestriction:
        """Read a restriction back from run.json."""
        named: dict[str, Any] = {name: tuple(data[name]) for name in ("views", "kinds") if name in data}
        return cls(**{**data, **named})

    def allowed(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return the edits that are of these kinds and views."""
        return [edit for edit in edits if edit.kind in self.kinds and self._allows_source(edit)]

    def _allows_source(self, edit: Edit) -> bool:
        """Whether an edit is drawn from a view that may be used; of examples weak spots alone are from one."""
        is_weak_spot = edit.kind == "example" and edit.provenance.topic == WEAK_SPOT
        return not is_weak_spot or "sensitivity" in self.views


def _check_names(kind: str, names: Iterable[str], allowed: tuple[str, ...]) -> None:
    for name in names:
        if name not in allowed:
            raise UnknownNameError(kind, name, allowed)


SearchParts = SearchRestriction
"""The name until 0.1."""
