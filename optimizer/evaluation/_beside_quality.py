"""One line on what stands beside quality and S, wherever scores are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation._answer_shares import most_answered
from psopt.evaluation._open_scores import open_line
from psopt.evaluation._ordinal import OrdinalScores, ordinal_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation._scores import Scores


def beside_quality_line(*measured: Mapping[str, Any]) -> str:
    """Say what stands beside quality and S: the largest class, and what else is asked of other answers than one label.

    Parameters
    ----------
    measured : mapping
        Scores as `Scores.to_dict` has them: of one prompt, or of two, with an arrow between.

    Examples
    --------
    >>> beside_quality_line({"f1": 0.7}), beside_quality_line({"open": {"measures": {"PSS": 0.25}}})
    ('', 'PSS 25.0 %')
    >>> beside_quality_line({"posix": 1.204}, {"posix": 0.51})
    'POSIX 1.20 -> 0.51 nats'
    >>> beside_quality_line({"class_shares": {"ham": 0.95, "spam": 0.05}})
    'largest class: ham (95 % of the samples)'
    >>> beside_quality_line({"pss": 0.125}, {"pss": 0.0521})
    'PSS 12.5 -> 5.2'
    """
    if all("open" in scores for scores in measured):
        return open_line(*(scores["open"]["measures"] for scores in measured))
    lines = []
    if all("pss" in scores for scores in measured):
        lines.append(f"PSS {' -> '.join(format(100 * scores['pss'], '.1f') for scores in measured)}")
    if of_class := measured[-1].get("class_shares"):
        largest = most_answered(of_class)
        lines.append(f"largest class: {largest} ({100 * of_class[largest]:.0f} % of the samples)")
    if all("ordinal" in scores for scores in measured):
        lines.append(ordinal_line(*(OrdinalScores(**scores["ordinal"]) for scores in measured)))
    if all("posix" in scores for scores in measured):
        lines.append(f"POSIX {' -> '.join(format(scores['posix'], '.2f') for scores in measured)} nats")
    return ", ".join(lines)


def note_size(scores: Scores, *, limit: bool = True) -> str:
    """Say N and Q, with `limit` what S would be with many more wordings, and what intervals are over.

    S grows with Q, and C with fewer samples: neither can be compared without them.
    """
    more = ""
    if limit and scores.sensitivity_limit is not None:
        now, limit_value = (f"{100 * value:.1f}" for value in (scores.sensitivity, scores.sensitivity_limit))
        more = f" S is {now} under these, and about {limit_value} extrapolated to many more."
    varied = "wording" if scores.n_rephrasings == 1 else scores.varied
    return f"{scores.n_samples} samples x {scores.n_rephrasings} {varied}.{more} {intervals_note(scores)}."


def intervals_note(scores: Scores) -> str:
    """Say what intervals are over: one wording can't tell how wordings scatter."""
    if scores.n_rephrasings == 1:
        return "95 % intervals cover the sampling of texts alone: one wording tells nothing of S"
    return f"95 % intervals cover the sampling of texts and of {scores.varied}"
