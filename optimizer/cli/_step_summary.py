"""A check's result on the page of a GitHub workflow's run: Markdown behind `$GITHUB_STEP_SUMMARY`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psopt.api import CheckResult, Threshold

VARIABLE = "GITHUB_STEP_SUMMARY"  # https://docs.github.com/actions/reference/workflow-commands#adding-a-job-summary
_MOST_NAMED = 10


def add_step_summary(result: CheckResult, facts: dict[str, str], *, silent: bool) -> None:
    """Append a summary to the file that GitHub names; elsewhere do nothing. A check does not fail for its page."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(summary(result, facts))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if not silent:
            typer.echo(f"Warning: the summary ${VARIABLE} can't be written: {reason}", err=True)


def summary(result: CheckResult, facts: dict[str, str]) -> str:
    """Write a result as Markdown: a table of the bounds, and the samples that fail under ``--each``.

    Parameters
    ----------
    result : CheckResult
    facts : dict of str to str
        What is said above the table: data set, model, prompt.
    """
    n_missed = sum(not threshold.met for threshold in result.thresholds)
    n_bounds = len(result.thresholds)
    title = f"{n_missed} of {n_bounds} bounds missed" if n_missed else f"all bounds kept ({n_bounds})"
    lines = [
        f"### psopt check: {title}",
        "",
        ", ".join(f"{name} {literal(value)}" for name, value in facts.items()),
        "",
        "| | What | Value | Bound | 95 % interval | Samples | Wordings |",
        "|---|---|---|---|---|---|---|",
        *(_row(threshold) for threshold in result.thresholds),
        "",
    ]
    for threshold in result.thresholds:
        if threshold.failing:
            lines += [_failing(threshold), ""]
    return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    r"""Return a text in which nothing is Markdown, HTML or the end of a cell.

    >>> literal("a|b <i>\n*c*")
    'a\\|b \\<i\\> \\*c\\*'
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", printable)


def _row(threshold: Threshold) -> str:
    sign = "≤" if threshold.option.startswith("max") or threshold.estimate is None else "≥"
    interval = "" if threshold.interval is None else "{:.4f} to {:.4f}".format(*threshold.interval)
    cells = [
        "kept" if threshold.met else "**missed**",
        literal(threshold.note or threshold.name),
        f"{threshold.value:.4f}",
        f"{sign} {threshold.bound:g}",
        interval,
        *("" if number is None else str(number) for number in (threshold.n_samples, threshold.n_rephrasings)),
    ]
    return f"| {' | '.join(cells)} |"


def _failing(threshold: Threshold) -> str:
    named = ", ".join(f"{literal(sample.id)} ({sample.right:.0%})" for sample in threshold.failing[:_MOST_NAMED])
    n_more = len(threshold.failing) - _MOST_NAMED
    return f"Not right so often (under this share of wordings): {named}{f' and {n_more} more' if n_more > 0 else ''}"
