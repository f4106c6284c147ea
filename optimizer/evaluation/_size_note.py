"""What stands beside every S: how many samples and wordings it is of, and what its interval covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.evaluation._scores import Scores

INTERVALS = "95 % intervals cover the sampling of texts and of wordings"


def note_size(scores: Scores, *, limit: bool = True) -> str:
    """Say N and Q, with `limit` what S would be with many more wordings, and what intervals are over.

    S grows with Q, and C with fewer samples: neither can be compared without them.
    """
    more = ""
    if limit and scores.sensitivity_limit is not None:
        now, limit_value = (f"{100 * value:.1f}" for value in (scores.sensitivity, scores.sensitivity_limit))
        more = f" S is {now} under these, and about {limit_value} extrapolated to many more."
    wordings = "wording" if scores.n_rephrasings == 1 else "wordings"
    return f"{scores.n_samples} samples x {scores.n_rephrasings} {wordings}.{more} {intervals_note(scores)}."


def intervals_note(scores: Scores) -> str:
    """Say what intervals are over: one wording can't tell how wordings scatter."""
    if scores.n_rephrasings == 1:
        return "95 % intervals cover the sampling of texts alone: one wording tells nothing of S"
    return INTERVALS
