"""What a search may use, so that one thing can be taken away: for ablations, and for prompts without examples."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces._edits import KINDS, WEAK_SPOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces._edits import Edit

View = Literal["sensitivity", "consistency", "accuracy"]
VIEWS: tuple[View, ...] = get_args(View)
_LIMITS = ("max_prompt_edits", "max_prompt_tokens")
_ONLY_WHEN_SET = (*_LIMITS, "no_verbatim", "examples_allowed", "without")


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
    max_prompt_edits : int or None
        How many edits a prompt may have that is handed back, the definitions of one label counted once. None for 25, or
        for any number where `max_prompt_tokens` is given.
    max_prompt_tokens : int or None
        How many tokens a call of it may take, with a text of mean length; None for any number.
        Nothing above it is tried.
    no_verbatim : bool
        Whether no text of a sample may enter a prompt: no examples, and of notes and definitions those alone that
        `psopt.proposals.NoVerbatim` lets pass.
    examples_allowed : int
        For how many examples there is room beside what else a prompt may have: so many don't count among its edits.
        Where there is any, a prompt with nothing but examples is among the first that
        are tried.
    without : tuple of str
        Ids of edits that are left out.

    Raises
    ------
    InputError
        If a name is unknown, there is no kind of edit, the margin is negative, or a limit is below 1.
    """

    views: tuple[str, ...] = VIEWS
    kinds: tuple[str, ...] = KINDS
    margin: float = 0.01
    max_prompt_edits: int | None = None
    max_prompt_tokens: int | None = None
    no_verbatim: bool = False
    examples_allowed: int = 0
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        _check_names("view", self.views, VIEWS)
        _check_names("kind of edit", self.kinds, KINDS)
        if not self.kinds:
            raise InputError("a search needs at least one kind of edit")
        if self.no_verbatim and set(self.kinds) == {"example"}:
            raise InputError("examples are texts of samples: name another kind of edit, or leave no_verbatim out")
        if not self.margin >= 0:  # so that no number is refused too
            raise InputError(f"margin must not be negative, but is {self.margin}")
        for name in _LIMITS:
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise InputError(f"{name} must be at least 1, but is {limit}")
        if self.examples_allowed < 0:
            raise InputError(f"examples_allowed must not be negative, but is {self.examples_allowed}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchRestriction:
        """Read a restriction back from run.json."""
        named: dict[str, Any] = {name: tuple(data[name]) for name in ("views", "kinds", "without") if name in data}
        return cls(**{**data, **named})

    def to_dict(self) -> dict[str, Any]:
        """Return the restriction as run.json keeps it: with what 0.1 did not know only where it is not the usual."""
        usual = {option.name: option.default for option in fields(self) if option.name in _ONLY_WHEN_SET}
        return {name: value for name, value in asdict(self).items() if usual.get(name, _ONLY_WHEN_SET) != value}

    def allowed(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return the edits that are of these kinds and views."""
        return [
            edit
            for edit in edits
            if edit.kind in self.kinds
            and self._allows_source(edit)
            and not {edit.id, edit.parameter_name}.intersection(self.without)
        ]

    def _allows_source(self, edit: Edit) -> bool:
        """Whether an edit is drawn from a view that may be used; of examples weak spots alone are from one."""
        if self.no_verbatim and edit.kind == "example":
            return False
        is_weak_spot = edit.kind == "example" and edit.provenance.topic == WEAK_SPOT
        return not is_weak_spot or "sensitivity" in self.views


def _check_names(kind: str, names: Iterable[str], allowed: tuple[str, ...]) -> None:
    for name in names:
        if name not in allowed:
            raise UnknownNameError(kind, name, allowed)
