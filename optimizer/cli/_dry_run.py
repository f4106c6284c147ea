"""`--dry-run`: what a command would take, as a table or as JSON; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.cli._plan_lines import dollars, estimate_lines, in_one_sentence, rounded
from psopt.cli._writing import print_json

if TYPE_CHECKING:
    from psopt.models.chat import LMConfig
    from psopt.runs import CostEstimate
    from psopt.runs.planning import Plan
    from rich.table import Table


def show_estimate(estimate: CostEstimate, model: str, lm: LMConfig, *, as_json: bool, plan: Plan | None = None) -> int:
    """Print what a command would take, by a plan where there is one, and whether its limits allow that."""
    from psopt.cli._tables import print_table, result_console

    if as_json:
        of_plan = {"plan": plan.to_dict()} if plan else {}
        print_json({**estimate.to_dict(), **of_plan, "trials_within_limits": estimate.trials_within(lm)})
        return 0
    console = result_console()
    is_soft = not console.is_terminal  # what reads a pipe wants whole lines
    console.print(in_one_sentence(estimate, lm, plan), style="bold", markup=False, soft_wrap=is_soft)
    if plan:
        console.print(f"{plan.line[0].upper()}{plan.line[1:]}.", markup=False, soft_wrap=is_soft)
        for warning in plan.warnings:
            console.print(f"Note: {warning}", style="yellow", markup=False, soft_wrap=is_soft)
        console.print()
    console.print(f"What {model} would be asked; nothing was sent", style="italic", markup=False, soft_wrap=True)
    print_table(console, _table(estimate))
    for line in [*_notes(estimate), *estimate_lines(estimate, model, lm)]:
        console.print(line, markup=False, soft_wrap=is_soft)
    return 0


def _table(estimate: CostEstimate) -> Table:
    """What is to be sent: as many calls as expected, between the least and the most, and what they take."""
    from psopt.cli._tables import new_table

    has_price = estimate.price is not None
    amounts = ("calls", "least", "most", "tokens", *(["USD"] if has_price else []))
    table = new_table(texts=["phase"], numbers=amounts)
    for phase in estimate.phases:
        what = f"{phase.what}, {phase.model}" if phase.model else phase.what
        calls = [f"{n:,}" for n in (phase.sent, phase.least.calls, phase.most.calls)]
        table.add_row(what, *calls, rounded(phase.tokens), *([dollars(phase.cost)] if has_price else []))
    table.add_section()
    few, many = estimate.calls_range
    total = [f"{estimate.calls_expected:,}", f"{few:,}", f"{many:,}", rounded(estimate.tokens)]
    table.add_row("in all", *total, *([dollars(estimate.cost or 0.0)] if has_price else []), style="bold")
    return table


def _notes(estimate: CostEstimate) -> list[str]:
    """Why phases may come several times or not at all, what is cached, and of when prices are."""
    from psopt.models.chat import PRICES_OF

    notes = list(dict.fromkeys(f"{phase.what}: {phase.times}." for phase in estimate.phases if phase.times))
    if estimate.price:
        notes.append(f"Prices are psopt's of {PRICES_OF}, or your own.")
    cached = sum(phase.cached for phase in estimate.phases)
    return [*notes, *([f"{cached:,} answers are in the cache already."] if cached else []), ""]
