"""Suspect labels on the screen: what is answered alike under all wordings, and never as labelled."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.diagnosis import PromptReport, Suspect
    from rich.console import Console
    from rich.table import Table

_LONGEST = 120
_NARROWEST_ID, _WIDEST_ID = 6, 12


def show_suspects(console: Console, report: PromptReport) -> None:
    """Print all of them, with how much of their class looks so."""
    from psopt.cli._tables import is_wrapped, print_sentences, print_table

    suspects = report.suspects
    if report.scores is None:
        console.print("Without labels none can be suspect.")
    elif not suspects.samples:
        console.print("No sample is answered alike under all wordings and never as labelled.")
    else:
        print_table(console, _table(suspects.samples, is_whole=not is_wrapped(console)))
        print_sentences(console, [f"{suspects.line}.", *_base_rates(report)])
        console.print("Either the label or the model is wrong there: look before you change a label.")


def _table(found: tuple[Suspect, ...], *, is_whole: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Suspect labels", title_justify="left")
    longest = max(len(suspect.id) for suspect in found)
    table.add_column(
        "id", overflow="fold", min_width=min(longest, _NARROWEST_ID), max_width=None if is_whole else _WIDEST_ID
    )
    for name in ("label", "answered", "by its words", "text"):
        table.add_column(name, overflow="fold")
    says = {True: "answer", False: "label", None: "–"}
    for suspect in found:
        cells = [suspect.id, suspect.label, suspect.answered, says[suspect.by_words]]
        cells.append(" ".join(suspect.text.split()) if is_whole else _short(suspect.text))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _base_rates(report: PromptReport) -> list[str]:
    """How many of each label's samples look so, and how many of its answers are right."""
    if report.predictions.answers.open is not None or report.scores is None:
        return []
    found = Counter(suspect.label for suspect in report.suspects.samples)
    right = report.predictions.share_right
    lines = []
    for label, n in found.most_common():
        members = [row for row, sample in enumerate(report.predictions.samples) if sample.label == label]
        of_class = f"{n} of {len(members)} samples labelled {label}"
        lines.append(f"  {of_class}; {100 * right[members].mean():.0f} % of the answers to them are right")
    return lines


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
