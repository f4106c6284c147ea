"""The expected cost of a command: a table or JSON for `--dry-run`, sentences on amounts, minutes and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.cli._tables import add_numbers, new_table, print_table, result_console
from psopt.cli._writing import print_json
from psopt.models.chat import CHAT_KINDS, PRICES_OF, LMConfig, user_prices
from psopt.runs import WRITTEN, CostEstimate, Phase
from psopt.runs.planning import Limits, Plan, duration, rate_in_words, run_duration
from psopt.settings import model_names

if TYPE_CHECKING:
    from rich.table import Table

# 12 runs of SmolLM2 on three data sets, and 20 of simulated servers (`make bench-estimates`, and larger ones)
_HOW_FAR = (
    "Runs asked 0.6 to 1.5 times the calls expected, with a third to three times the tokens: which candidates are good "
    "decides. --max-calls and --max-cost are limits."
)
UNKNOWN_MINUTES = "How long it takes is unknown until the first answers."


def show_estimate(estimate: CostEstimate, model: str, lm: LMConfig, *, as_json: bool, plan: Plan | None = None) -> int:
    """Print the expected cost of a command, with its plan if there is one, and whether its limits allow it."""
    if as_json:
        data = estimate.to_dict()
        if plan:
            data["plan"] = plan.to_dict()
        print_json(data)
        return 0
    console = result_console()
    is_soft = not console.is_terminal  # readers of a pipe want whole lines
    console.print(_in_one_sentence(estimate, model, lm, plan), style="bold", soft_wrap=is_soft)
    if plan:
        console.print(f"{plan.line[0].upper()}{plan.line[1:]}.", soft_wrap=is_soft)
        for warning in plan.warnings:
            console.print(f"Note: {warning}", style="yellow", soft_wrap=is_soft)
        console.print()
    console.print(f"What {model} would be asked; nothing was sent", style="italic", soft_wrap=True)
    print_table(console, _table(estimate))
    notes = list(dict.fromkeys(f"{phase.what}: {phase.times}." for phase in estimate.phases if phase.times))
    if estimate.price:
        notes.append(f"Prices are psopt's of {PRICES_OF}, or your own.")
    if cached := sum(phase.cached for phase in estimate.phases):
        notes.append(f"{cached:,} answers are in the cache already.")
    if estimate.candidates and not _is_free(estimate, model):
        notes.append(_HOW_FAR)
    lines = cost_lines(estimate, model, lm) or [_minutes_line(estimate, model, lm)]
    if estimate.cost is not None:
        lines.append("Calls that fail and are sent again, and what a model thinks before it answers, are not counted.")
    for line in [*notes, "", *lines]:
        console.print(line, soft_wrap=is_soft)
    return 0


def _table(estimate: CostEstimate) -> Table:
    table = new_table(texts=["phase"], numbers=("calls", "tokens"))
    if estimate.price is not None:
        add_numbers(table, "USD")

    rows: list[tuple[str, Phase | CostEstimate]] = [
        (", ".join(filter(None, (phase.what, phase.model))), phase) for phase in estimate.phases
    ]
    for name, of in [*rows, ("in all", estimate)]:
        need = of.expected
        amounts = (f"{need.calls:,}", rounded(need.tokens), dollars(need.cost))
        if of is estimate:
            table.add_section()
        table.add_row(name, *amounts[: len(table.columns) - 1], style="bold" if of is estimate else None)
    return table


def cost_lines(estimate: CostEstimate, model: str, lm: LMConfig) -> list[str]:
    """Say in a line or two what it is expected to cost; empty for a local model, whose time a run measures."""
    if _is_free(estimate, model):
        if n_written := _n_written(estimate):
            return [f"{model} costs nothing. Another model writes about {n_written} texts, which takes time or money."]
        return ["This model costs nothing."]
    is_paid = bool(estimate.expected.cost)
    amount = f"{rounded(estimate.tokens)} tokens"
    lines = []
    if is_paid:
        lines.append(f"About {dollars(estimate.expected.cost)} USD for {amount}.")
    elif not _is_local(model):
        if estimate.cost is None:
            lines.append(f"About {amount}. No price is known for {model}: add it to {user_prices()}.")
        else:
            lines.append(f"Nothing to pay for {amount}.")
    if is_paid or not _is_local(model):
        lines.append(_minutes_line(estimate, model, lm))
    return lines


def _n_written(estimate: CostEstimate) -> int:
    return sum(phase.expected.calls for phase in estimate.phases if phase.what in WRITTEN)


def _is_free(estimate: CostEstimate, model: str) -> bool:
    return _kinds(model) <= {"minilm", "sim"} and not estimate.expected.cost


def _is_local(model: str) -> bool:
    return not _kinds(model) & {*CHAT_KINDS}


def _kinds(model: str) -> set[str]:
    return {name.partition("/")[0] for name in model_names(model)}


def _in_one_sentence(estimate: CostEstimate, model: str, lm: LMConfig, plan: Plan | None) -> str:
    """Say the expected calls, time and money, and the limits."""
    parts = [f"{rounded(estimate.expected.calls)} calls"]
    if estimate.minutes is not None:
        parts.append(_minutes(estimate, model, estimate.minutes))
    if estimate.cost is not None:
        parts.append(f"{dollars(estimate.cost)} USD")
    limits = plan.limits if plan else Limits.of_user(lm)
    ending = ""
    if limits != Limits() and (_n_written(estimate) or not _is_free(estimate, model)):
        ending = f"; {'never more than' if limits.pay(estimate.expected) else 'stopped at'} {limits}"
    return f"About {', '.join(parts)}{ending}."


def _minutes_line(estimate: CostEstimate, model: str, lm: LMConfig) -> str:
    pace, minutes = estimate.pace, estimate.minutes
    if not estimate.expected.calls:
        return "Nothing is left to ask."
    if lm.batch:
        return "How long batches take is the server's choice: within a day each, mostly sooner."
    if pace is None or minutes is None:
        return UNKNOWN_MINUTES
    how_long = _minutes(estimate, model, minutes)
    if not pace.day:
        return f"At least {how_long}: --requests-per-minute {lm.requests_per_minute:g} allows no more."
    return f"About {how_long} at {rate_in_words(pace.per_minute)}, as measured on {pace.day}."


def _minutes(estimate: CostEstimate, model: str, minutes: float) -> str:
    """The minutes in words: a range where a local model searches, since edits make its prompts longer."""
    if estimate.candidates and _is_local(model):
        return run_duration(minutes)
    return duration(minutes, minutes)


def dollars(amount: float) -> str:
    """An amount of money, to two digits.

    >>> dollars(0.0123), dollars(7.46), dollars(1234.5), dollars(0)
    ('0.012', '7.5', '1,234', '0')
    """
    return f"{amount:,.0f}" if amount >= 10 else f"{float(f'{amount:.2g}'):.12g}"


def rounded(amount: float) -> str:
    """A number rounded for reading.

    >>> rounded(870), rounded(12_345), rounded(2_900_000), rounded(160_000)
    ('870', '12,000', '2.9M', '160,000')
    """
    if amount < 1000:
        return f"{amount:.0f}"
    if amount < 1e6:
        return f"{float(f'{amount:.2g}'):,.0f}"
    return f"{amount / 1e6:,.2g}M" if amount < 1e8 else f"{amount / 1e6:,.0f}M"
