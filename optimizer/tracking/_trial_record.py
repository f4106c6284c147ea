"""What is recorded of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.evaluation import OBJECTIVES
from psopt.search.distributed import PROMPT_ID, RACED

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

_EFFORT = ("calls", "tokens", "cost_usd", "seconds")


@dataclass(frozen=True)
class TrialRecord:
    """A candidate as its trial in the study has it.

    Attributes
    ----------
    number : int
        The trial's.
    prompt_id : str
    edits : tuple of str
        What it adds to the prompt that the run started from.
    metrics : dict
        On val ``f1``, ``sensitivity``, ``consistency`` where there is one, and ``na_rate`` where the whole grid was
        asked; and what it took in this process: ``calls``, ``tokens``, ``cost_usd``, ``seconds``.
    raced : str
        How far it came where it stopped in its race, and why: its metrics are estimates then. Else empty.
    frozen : FrozenTrial or None
        Optuna's own.
    """

    number: int
    prompt_id: str
    edits: tuple[str, ...]
    metrics: dict[str, float]
    raced: str = ""
    frozen: FrozenTrial | None = None

    @classmethod
    def of(cls, trial: FrozenTrial) -> TrialRecord:
        """Read a finished trial."""
        attributes = trial.user_attrs
        names = [name for name, _ in zip(OBJECTIVES, trial.values or (), strict=False)]
        metrics = dict(zip(names, trial.values or (), strict=True))
        metrics |= {name: float(attributes[name]) for name in ("na_rate", *_EFFORT) if name in attributes}
        return cls(
            trial.number,
            str(attributes.get(PROMPT_ID, "")),
            tuple(attributes.get("edits", ())),
            metrics,
            str(attributes.get(RACED, "")),
            trial,
        )

    @property
    def params(self) -> dict[str, Any]:
        """What was tried."""
        return {"prompt_id": self.prompt_id, "n_edits": len(self.edits), "edits": "\n".join(self.edits)}
