"""Who stands for the gate: the prompts that may be recommended, chosen by val alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._edit_worths import LEAST_WORTH, expected_gain
from psopt.search._front import distance_to_utopia, gains_of, is_no_worse, knee, least_gains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search._front import Candidate
    from psopt.search._search import Search

_MOST_LOST = 0.01  # chosen: the margin by which the gate takes a prompt for no worse
_MOST_LONGER = 1.25  # of the knee's tokens, chosen: what val can't see should not cost much (docs/decisions.md)


def nominees(search: Search) -> tuple[Candidate, ...]:
    """Return the candidates that the gate looks at, in the order in which it prefers them.

    The best founded of those that val can't tell from the knee, without edits that are worth nothing that can be
    measured, then the shortest. Where the knee is beyond the limits on edits and tokens, since that is surely better on
    val and the user has set none, the best within them comes last. The choice is by val and train alone, for the gate's
    error holds only where test has chosen nothing. The baseline is never among them: it is what is kept where none
    passes.
    """
    front = search.front
    if not front:
        return ()
    best = knee(front, search.baseline)
    founded = best_founded(best, search)
    least_gain = expected_gain(founded.edits) if founded.id != best.id else 0.0
    chosen = [leanest(founded, search.candidates, least_gain), search.shortest]
    if search.handed_back.sure_beyond:
        chosen.append(search.handed_back.best_within)
    return tuple({candidate.id: candidate for candidate in chosen if candidate.id != search.baseline.id}.values())


def best_founded(best: Candidate, search: Search) -> Candidate:
    """Return the candidate of whose edits train says most, of those that are as good as the knee by one standard error.

    The knee of many candidates is partly lucky on val, the luckier the smaller val is, and train knows nothing of that
    luck. Where val is large hardly anything else is as good. Of several of which train says as much it is the one that
    is best on val. Of those worse than the baseline in F1 or S none is chosen, unless the knee is worse too; nor of
    those longer than the knee by more than a quarter, for val sees nothing of what the tokens buy.
    """
    start = least_gains(search.baseline)
    may_be_worse = not is_no_worse(gains_of(best), start)
    rivals = [rival for rival in search.handed_back.eligible if may_be_worse or is_no_worse(gains_of(rival), start)]
    most_tokens = _MOST_LONGER * search.tokens(best)
    short_enough = [rival for rival in rivals if search.tokens(rival) <= most_tokens]
    as_good = [rival for rival in short_enough if search.is_as_good(rival, best)]
    return max([best, *as_good], key=lambda rival: (expected_gain(rival.edits), -distance_to_utopia(gains_of(rival))))


def leanest(best: Candidate, candidates: Sequence[Candidate], least_gain: float = 0.0) -> Candidate:
    """Return the evaluated form of a candidate with fewest edits that lacks nothing of measurable worth.

    Such a form has some of its edits and no others, merged or not. On val it loses at most `LEAST_WORTH` for each that
    it lacks, and at most `_MOST_LOST` in all: in F1 - S + C, and in each of these. Train expects at least `least_gain`
    of it, which is that of the candidate where train has chosen this.
    """
    leaner = [form for form in candidates if form.edits and _is_leaner(form, best) and _loses_nothing(form, best)]
    forms = [form for form in leaner if expected_gain(form.edits) >= least_gain]
    return min(forms, key=lambda form: (len(form.edits), -gains_of(form).sum(), form.trial), default=best)


def _is_leaner(form: Candidate, best: Candidate) -> bool:
    return len(form.edits) < len(best.edits) and _parts(form) <= _parts(best)


def _parts(candidate: Candidate) -> set[str]:
    """The parameters of its edits, and of those that these merge."""
    return {name for edit in candidate.edits for name in edit.stands_for}


def _loses_nothing(form: Candidate, best: Candidate) -> bool:
    lost = gains_of(best) - gains_of(form)
    allowed = min(_MOST_LOST, LEAST_WORTH * (len(best.edits) - len(form.edits)))
    return bool(max(lost.sum(), *lost) <= allowed)
