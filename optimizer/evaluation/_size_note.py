"""What stands beside every S: how many samples and wordings it is of, and what its interval covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.evaluation._scores import Scores

INTERVALS = "95 % intervals: other samples, and other wordings drawn as these were"


def note_size(scores: Scores, *, limit: bool = True) -> str:
    """Say N and Q, with `limit` what S would be with ever more wordings, and what intervals are over.

    S grows with Q, and C with fewer samples: neither can be compared without them.
    """
    more = ""
    if limit and scores.sensitivity_limit is not None:
        more = f" S is {scores.sensitivity:.3f} under these, and about {scores.sensitivity_limit:.3f} under ever more."
    wordings = "wording" if scores.n_rephrasings == 1 else "wordings"
    return f"{scores.n_samples} samples x {scores.n_rephrasings} {wordings}.{more} {intervals_note(scores)}."


def intervals_note(scores: Scores) -> str:
    """Say what intervals are over: one wording can't tell how wordings scatter."""
    if scores.n_rephrasings == 1:
        return "95 % intervals: other samples under this wording, and nothing is known of S"
    return INTERVALS
