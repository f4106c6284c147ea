"""What a search asks before it touches a trial: may I? Alone on a study it always may."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from optuna.trial import TrialState

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from psopt.search.distributed._stored_study import StoredStudy

TOTAL_REACHED = "the total of trials is reached"


class Coordinator:
    """Who may take which trial of a study: alone on it, everything may be done at once, and nothing needs to be said.

    Attributes
    ----------
    worker : str
        This worker's name, unlike any other's; empty where there is only one.
    """

    worker = ""

    def __init__(self, study: StoredStudy) -> None:
        self._study = study

    def recover(self) -> None:
        """Before the first step, see to what an earlier process has left behind: fail it, and queue it again."""
        for trial in self._study.trials_in(TrialState.RUNNING):
            self._study.tell(trial.number, state=TrialState.FAIL)
            if trial.params:
                self._study.enqueue_trial(trial.params)

    def owns(self, number: int) -> bool:  # noqa: ARG002
        """Whether this worker is the one that has a trial which the study has just handed out."""
        return True

    def claim(self, number: int, prompt_id: str) -> str | None:  # noqa: ARG002
        """Claim a prompt for a trial; if it must not be evaluated, return why."""
        return None

    def heartbeat(self, number: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Show the others, for the block, that a trial is worked on."""
        return contextlib.nullcontext()

    def proposing(self, round_number: int) -> AbstractContextManager[bool]:  # noqa: ARG002
        """Lease a round for the block; False if another worker proposes its edits."""
        return contextlib.nullcontext(True)

    def is_busy(self) -> bool:
        """Whether, while this worker has nothing in hand, another one has."""
        return False

    def wait(self) -> bool:
        """Let the others work for a moment; return whether one of them had died and its trial waits again."""
        return False
