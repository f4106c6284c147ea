"""One line on what is shown next to quality and S, wherever scores are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation._answer_shares import most_answered
from psopt.evaluation._open_scores import NO_SHARES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psopt.evaluation._scores import Scores


def beside_quality_line(*measured: Mapping[str, Any]) -> str:
    """Say what else is known besides quality and S: the largest class, and measures of answers other than one label.

    `measured` are scores in the form of `Scores.to_dict`: of one prompt, or of two, shown with an arrow between.

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
        return _open_line([scores["open"]["measures"] for scores in measured])
    lines = []
    if all("pss" in scores for scores in measured):
        lines.append(f"PSS {_arrow(100 * scores['pss'] for scores in measured)}")
    if of_class := measured[-1].get("class_shares"):
        largest = most_answered(of_class)
        lines.append(f"largest class: {largest} ({100 * of_class[largest]:.0f} % of the samples)")
    if all("ordinal" in scores for scores in measured):
        lines.append(_ordinal_line([scores["ordinal"] for scores in measured]))
    if all("posix" in scores for scores in measured):
        lines.append(f"POSIX {_arrow((scores['posix'] for scores in measured), '.2f')} nats")
    return ", ".join(lines)


def _arrow(values: Iterable[float | None], form: str = ".1f") -> str:
    """A value, or two with an arrow between; a dash for an undefined one."""
    return " -> ".join("–" if value is None else f"{value:{form}}" for value in values)


def _percent(values: Iterable[float | None]) -> str:
    return f"{_arrow(None if value is None else 100 * value for value in values)} %"


def _open_line(measured: Sequence[Mapping[str, float | None]]) -> str:
    """Measures of open answers."""
    parts = []
    for name in measured[0]:
        values = [measures.get(name) for measures in measured]
        if name in NO_SHARES:
            parts.append(f"{name} {_arrow(values, NO_SHARES[name])}")
        else:
            parts.append(f"{name} {_percent(values)}")
    return ", ".join(parts)


def _ordinal_line(measured: Sequence[Mapping[str, float | None]]) -> str:
    """Measures of ordered labels, as `OrdinalScores` names them.

    >>> before = {"micro_f1": 0.16, "nominal_sensitivity": 0.256, "mean_distance": 1.85, "quadratic_kappa": None}
    >>> _ordinal_line([before])
    'exactly right 16.0 %, S without the order 25.6 %, mean distance 1.85, quadratic kappa –'
    """
    values = {name: [scores[name] for scores in measured] for name in measured[0]}
    return (
        f"exactly right {_percent(values['micro_f1'])}, S without the order {_percent(values['nominal_sensitivity'])}, "
        f"mean distance {_arrow(values['mean_distance'], '.2f')}, "
        f"quadratic kappa {_arrow(values['quadratic_kappa'], '.2f')}"
    )


def note_size(scores: Scores, *, limit: bool = True) -> str:
    """Say N and Q, with `limit` what S would be under many more wordings, and what the intervals cover.

    S grows with Q, and C grows with fewer samples: neither can be compared without N and Q.
    """
    varied = "wording" if scores.n_rephrasings == 1 else scores.varied
    sentences = [f"{scores.n_samples} samples x {scores.n_rephrasings} {varied}."]
    if limit and scores.sensitivity_limit is not None:
        now, at_limit = 100 * scores.sensitivity, 100 * scores.sensitivity_limit
        sentences.append(f"S is {now:.1f} under these, and about {at_limit:.1f} extrapolated to many more.")
    return " ".join([*sentences, f"{intervals_note(scores)}."])


def intervals_note(scores: Scores) -> str:
    """Say what the intervals cover: one wording cannot show how wordings scatter."""
    if scores.n_rephrasings == 1:
        return "95 % intervals cover the sampling of texts alone: one wording tells nothing of S"
    return f"95 % intervals cover the sampling of texts and of {scores.varied}"
