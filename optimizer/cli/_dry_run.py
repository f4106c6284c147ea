"""`psopt optimize --dry-run`: the plan of a run as a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.planning import Plan
    from psopt.runs import RunSettings
    from psopt.tasks import Task


def show_plan(task: Task, settings: RunSettings, cache_dir: Path | None, *, as_json: bool) -> int:
    """Print what a run would take; nothing is sent."""
    from psopt.planning import plan_run

    plan = plan_run(task, settings, cache_dir)
    if as_json:
        phases = [asdict(phase) for phase in plan.phases]
        whole = {"phases": phases, "calls": plan.calls, "tokens": plan.tokens, "cost_usd": plan.cost}
        click.echo(json.dumps(whole, indent=2))
    else:
        _print(plan, settings)
    return 0


def _print(plan: Plan, settings: RunSettings) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, title=f"What {settings.model} would be asked; nothing was sent", title_justify="left"
    )
    for name in ("phase", "calls", "cached", "tokens, about", ""):
        table.add_column(name, justify="left" if name in {"phase", ""} else "right")
    for phase in plan.phases:
        table.add_row(phase.what, f"{phase.calls:,}", f"{phase.cached:,}", f"{phase.tokens:,}", phase.times)
    table.add_section()
    table.add_row("in all", f"{plan.calls:,}", "", f"{plan.tokens:,}", "", style="bold")
    console = Console(highlight=False)
    console.print(table)
    if settings.model.partition("/")[0] in {"minilm", "hf", "sim"}:
        console.print("This model costs nothing.")
    elif plan.cost is None:
        console.print(f"No price is known for {settings.model}: see the README on prices.")
    else:
        console.print(
            f"About {plan.cost:,.2f} USD. Edits make prompts longer: allow for twice the tokens, and set --max-cost."
        )
