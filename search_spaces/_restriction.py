"""Which edits a search may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search_spaces._edits import WEAK_SPOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces._edits import Edit
    from psopt.settings import SearchRestriction


def allowed_edits(edits: Iterable[Edit], restriction: SearchRestriction) -> list[Edit]:
    """Return the edits that a search may use."""
    left_out = set(restriction.without)
    return [edit for edit in edits if _may_use(edit, restriction) and not {edit.id, edit.parameter_name} & left_out]


def _may_use(edit: Edit, restriction: SearchRestriction) -> bool:
    """Whether its kind and its view may be used; of examples weak spots alone are from a view."""
    if edit.kind not in restriction.kinds:
        return False
    if edit.kind != "example":
        return True
    return not restriction.no_verbatim and (edit.provenance.topic != WEAK_SPOT or "sensitivity" in restriction.views)
