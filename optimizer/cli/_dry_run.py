"""`--dry-run`: what a command would take, as a table or as JSON; nothing is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psopt.models.chat import LMConfig
    from psopt.runs import CostEstimate


def show_estimate(estimate: CostEstimate, model: str, lm: LMConfig, *, as_json: bool) -> int:
    """Print what a command would take, and whether its limits allow that."""
    if as_json:
        within = estimate.trials_within(lm)
        typer.echo(json.dumps({**estimate.to_dict(), "trials_within_limits": within}, indent=2))
    else:
        _print(estimate, model, lm)
    return 0


def _print(estimate: CostEstimate, model: str, lm: LMConfig) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=f"What {model} would be asked; nothing was sent", title_justify="left")
    for name in ("phase", "calls", "cached", "tokens, about", ""):
        table.add_column(name, justify="left" if name in {"phase", ""} else "right")
    for phase in estimate.phases:
        table.add_row(phase.what, f"{phase.calls:,}", f"{phase.cached:,}", f"{phase.tokens:,}", phase.times)
    table.add_section()
    table.add_row("in all", f"{estimate.calls:,}", "", f"{estimate.tokens:,}", "", style="bold")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for line in estimate_lines(estimate, model, lm):
        console.print(line, markup=False)


def estimate_lines(estimate: CostEstimate, model: str, lm: LMConfig, *, caveat: bool = True) -> list[str]:
    """Say in a few lines what will be taken, between what and what, and on request what is not counted."""
    if model.partition("/")[0] in {"minilm", "hf", "sim"} and not any(phase.cost for phase in estimate.phases):
        return ["This model costs nothing.", *_without_effect(model, lm)]
    few_calls, many_calls = estimate.calls_range
    few_tokens, many_tokens = estimate.tokens_range
    amount = (
        f"{rounded(few_calls)} to {rounded(many_calls)} calls, {rounded(few_tokens)} to {rounded(many_tokens)} tokens"
    )
    if estimate.cost_range is None:
        lines = [f"{amount}. No price is known for {model}: see the README on prices."]
    else:
        low, high = estimate.cost_range
        lines = [
            f"{low:,.2g} to {high:,.2g} USD: {amount}." if high < 10 else f"{low:,.0f} to {high:,.0f} USD: {amount}."
        ]
    if caveat:
        lines.append(
            "Calls that fail and are sent again, and what a model thinks before it answers, are not counted here."
        )
    within = estimate.trials_within(lm)
    if within:
        few_trials, many_trials = within
        about = f"{few_trials}" if few_trials == many_trials else f"{few_trials} to {many_trials}"
        lines.append(
            f"{limit_named(estimate, lm)} is reached after about {about} of {estimate.trials} trials; "
            "what was found till then is scored on test."
        )
    elif over := limit_named(estimate, lm):
        lines.append(f"{over} may be reached before the end.")
    return lines


def limit_named(estimate: CostEstimate, lm: LMConfig) -> str:
    """The first limit that may be reached; empty for none."""
    _, most_calls = estimate.calls_range
    _, most_tokens = estimate.tokens_range
    if lm.max_cost is not None and estimate.cost_range and lm.max_cost < estimate.cost_range[1]:
        return f"--max-cost {lm.max_cost:g}"
    if lm.max_tokens_total is not None and lm.max_tokens_total < most_tokens:
        return f"--max-tokens-total {lm.max_tokens_total}"
    if lm.max_calls is not None and lm.max_calls < most_calls:
        return f"--max-calls {lm.max_calls}"
    return ""


def _without_effect(model: str, lm: LMConfig) -> list[str]:
    limits = {"--max-calls": lm.max_calls, "--max-tokens-total": lm.max_tokens_total, "--max-cost": lm.max_cost}
    idle = [name for name, limit in limits.items() if limit is not None]
    return [f"{', '.join(idle)}: nothing to limit, {model} asks no server."] if idle else []


def rounded(amount: float) -> str:
    """A number as people say it.

    >>> rounded(870), rounded(12_345), rounded(2_900_000), rounded(160_000)
    ('870', '12,000', '2.9M', '160,000')
    """
    if amount >= 1e6:
        return f"{amount / 1e6:,.2g}M" if amount < 1e8 else f"{amount / 1e6:,.0f}M"
    return f"{float(f'{amount:.2g}'):,.0f}" if amount >= 1000 else f"{amount:.0f}"
