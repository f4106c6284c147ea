"""How long a run takes, in words, and what fits in five minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.runs.planning._plan import Limits, least_calls
from psopt.text import counted

if TYPE_CHECKING:
    from psopt.models.chat import Need

_FEW = 5  # minutes that people are willing to wait: for a longer run, the user is told what would fit
# How much slower answers come in a whole run than for the original prompt, since edits make prompts longer: 2.0 times
# on DBpedia and 2.7 times on TREC, both with SmolLM2.
_SLOWER = 2.5
_HOURS = 120  # from this many minutes on, hours are shown


def time_line(calls: float, per_minute: float) -> str:
    """How long this many answers take.

    >>> time_line(7560, 840), time_line(300, 30.0)
    ('about 9 minutes at 14 answers per second', 'about 10 minutes at 30 answers per minute')
    """
    minutes = calls / per_minute
    return f"about {duration(minutes, minutes)} at {rate_in_words(per_minute)}"


def run_time_line(calls: float, per_minute: float) -> str:
    """How long a run of this many answers takes, if those to the original prompt come at this pace.

    >>> run_time_line(5040, 840)
    'about 6 to 15 minutes: 14 answers per second, fewer where edits make prompts long'
    """
    pace = rate_in_words(per_minute)
    return f"about {_duration_of_run(calls, per_minute)}: {pace}, fewer where edits make prompts long"


def _duration_of_run(calls: float, per_minute: float) -> str:
    minutes = calls / per_minute
    return duration(minutes, _SLOWER * minutes)


def is_long(calls: float, per_minute: float) -> bool:
    """Whether a run of this many answers may take more than five minutes.

    >>> is_long(2 * 840, 840), is_long(3 * 840, 840)
    (False, True)
    """
    return round(_SLOWER * calls / per_minute) > _FEW


def shorter_line(least: Need, per_minute: float, effort: str | None = None) -> str:
    """Which options make a run of five minutes, or otherwise the smallest useful run, which takes `least`.

    With an explicit effort ``full``, a limit would only end the run early, not make it smaller.
    """
    within = round(float(f"{_FEW * per_minute / _SLOWER:.2g}"))
    if not Limits(calls=within).pay(least, with_room=True):
        smallest = least_calls(least)
        return f"the smallest run takes about {_duration_of_run(smallest, per_minute)}: --max-calls {smallest}"
    line = f"within five minutes: --max-calls {within}"
    if effort == "full":
        line += " and no --effort"
    return line


def duration(few: float, many: float) -> str:
    """A range of minutes, or of hours.

    >>> duration(3.2, 7.9), duration(0.2, 0.6), duration(190, 400), duration(0.4, 3)
    ('3 to 8 minutes', 'a minute', '3 to 7 hours', '1 to 3 minutes')
    """
    if many <= 1:  # below that, the exact number makes no difference
        return "a minute"
    unit, size = ("hour", 60) if many >= _HOURS else ("minute", 1)
    low, high = max(1, round(few / size)), max(1, round(many / size))
    return counted(low, unit) if low == high else f"{low} to {high} {unit}s"


def rate_in_words(per_minute: float) -> str:
    """Answers per second, or per minute if there are fewer than two per second, to two digits.

    >>> rate_in_words(840), rate_in_words(12_345), rate_in_words(95.4)
    ('14 answers per second', '210 answers per second', '95 answers per minute')
    """
    number, unit = (per_minute / 60, "second") if per_minute >= 120 else (per_minute, "minute")
    return f"{float(f'{number:.2g}'):,.12g} answers per {unit}"
