"""How long a run takes, in words, and what fits in five minutes."""

from __future__ import annotations

from psopt.text import counted

_FEW = 5  # minutes that people are willing to wait: for a longer run, the user is told what would fit
# How much slower answers may come in a whole run than for the original prompt, since edits make prompts longer: 1.7
# times on TREC, and 2.0 times on DBpedia before beginnings were kept, both with SmolLM2.
_SLOWER = 2.5
_HOURS = 120  # from this many minutes on, hours are shown


def time_line(calls: float, per_minute: float) -> str:
    """How long this many answers take.

    >>> time_line(7560, 840), time_line(300, 30.0)
    ('about 9 minutes at 14 answers per second', 'about 10 minutes at 30 answers per minute')
    """
    minutes = calls / per_minute
    return f"about {duration(minutes, minutes)} at {rate_in_words(per_minute)}"


def run_lines(n_calls: int, per_minute: float, least: int | None, effort: str | None = None) -> list[str]:
    """How long a run of this many answers takes, if those to the original prompt come at this pace, and what is short.

    If it may take more than five minutes, that is the options of a run of five minutes, or otherwise of the smallest
    useful run, which needs a limit of `least` calls; None if the size is settled.

    >>> run_lines(5040, 840, 761)[0]
    'about 6 to 15 minutes: 14 answers per second, fewer where edits make prompts long'
    >>> run_lines(5040, 840, 761, "full")[1]
    'within five minutes: --max-calls 1700 and no --effort'
    >>> run_lines(5040, 60, 761)[1]
    'the smallest run takes about 13 to 32 minutes: --max-calls 761'
    """
    minutes = n_calls / per_minute
    lines = [f"about {run_duration(minutes)}: {rate_in_words(per_minute)}, fewer where edits make prompts long"]
    if least is None or least >= n_calls or round(_SLOWER * minutes) <= _FEW:
        return lines
    within = round(float(f"{_FEW * per_minute / _SLOWER:.2g}"))
    if within < least:
        return [*lines, f"the smallest run takes about {run_duration(least / per_minute)}: --max-calls {least}"]
    return [*lines, f"within five minutes: --max-calls {within}{' and no --effort' if effort == 'full' else ''}"]


def run_duration(minutes: float) -> str:
    """How long a local model's run takes, if it took so many minutes at the pace of the original prompt's answers."""
    return duration(minutes, _SLOWER * minutes)


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
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.12g} answer{'' if rounded == 1 else 's'} per {unit}"
