"""How much a run may take: an effort by name, and limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import UnknownNameError

if TYPE_CHECKING:
    from psopt.models.chat import LMConfig

Effort = Literal["light", "medium", "heavy", "full"]
DEFAULT_EFFORT: Effort = "light"
"""Where answers cost something; else ``full``."""
# Chosen: light is what MIPROv2 light asks; each further one takes three to four times as much, which halves the
# smallest difference that the final test can show.
EFFORT_CALLS = {"light": 5_000, "medium": 20_000, "heavy": 60_000}
"""At most so many calls."""


def check_effort(effort: str | None) -> None:
    """Refuse an effort that has no such name.

    Raises
    ------
    UnknownNameError
    """
    if effort is not None and effort not in get_args(Effort):
        raise UnknownNameError("effort", effort, get_args(Effort))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take at most; None is no limit.

    Attributes
    ----------
    calls, tokens : int or None
    cost : float or None
        US dollars.
    of_effort : bool
        Whether the number of calls is the effort's and not the user's.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    of_effort: bool = False

    @classmethod
    def of(cls, effort: str | None, lm: LMConfig) -> Limits:
        """The user's limits; where an effort is named, or there is no limit at all, at most its calls."""
        user = cls(lm.max_calls, lm.max_tokens_total, lm.max_cost)
        if effort is None and user != cls():
            return user
        calls = EFFORT_CALLS.get(effort or DEFAULT_EFFORT)
        if calls is None or (lm.max_calls is not None and lm.max_calls <= calls):
            return user
        return cls(calls, user.tokens, user.cost, of_effort=True)

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain JSON data."""
        return asdict(self)
