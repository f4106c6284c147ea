"""What a plan says, line by line: amounts, minutes, what racing saves, what the test can show, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat import CHAT_KINDS
from psopt.runs.planning import Limits, duration, time_line
from psopt.settings import model_names

if TYPE_CHECKING:
    from psopt.models.chat import LMConfig
    from psopt.runs import CostEstimate
    from psopt.runs.planning import Plan

UNKNOWN_MINUTES = "How long it takes is unknown until the first answers."


def estimate_lines(estimate: CostEstimate, model: str, lm: LMConfig, *, caveat: bool = True) -> list[str]:
    """Say in a few lines what will be taken, between what and what, and on request what is not counted."""
    kinds = {name.partition("/")[0] for name in model_names(model)}
    is_paid = any(phase.cost for phase in estimate.phases)
    if kinds <= {"minilm", "sim"} and not is_paid:
        return ["This model costs nothing.", *_without_effect(model, lm)]
    is_local = not (kinds & {*CHAT_KINDS}) and not is_paid
    lines = [f"It costs time, not money: {_calls_and_tokens(estimate)}." if is_local else amount_line(estimate, model)]
    if estimate.racing:
        lines.append(racing_line(estimate))
    if caveat or not is_local:  # else the run times it, and says so
        lines.append(_local_minutes_line(estimate) if is_local else minutes_line(estimate, lm))
    if caveat and not is_local:
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


def in_one_sentence(estimate: CostEstimate, lm: LMConfig, plan: Plan | None = None) -> str:
    """Say calls, time and money as they are expected, and what is never passed."""
    parts = [f"{rounded(estimate.calls_expected)} calls"]
    if estimate.minutes_range:
        parts.append(duration(*estimate.minutes_range))
    elif estimate.pace:
        minutes = estimate.calls_expected / estimate.pace.per_minute
        parts.append(duration(minutes, minutes))
    if estimate.cost is not None:
        parts.append(f"{dollars(estimate.cost)} USD")
    limits = str(plan.limits if plan else Limits.of_user(lm))
    most = f"never more than {limits}" if limits else f"at most {rounded(estimate.calls_range[1])} calls"
    return f"About {', '.join(parts)}; {most}."


def amount_line(estimate: CostEstimate, model: str) -> str:
    """Calls, tokens and money, few and many."""
    amount = _calls_and_tokens(estimate)
    if estimate.cost_range is None:
        return f"{amount}. No price is known for {model}: see the README on prices."
    low, high = estimate.cost_range
    return f"{dollars(low)} to {dollars(high)} USD: {amount}." if high else f"Nothing to pay: {amount}."


def _calls_and_tokens(estimate: CostEstimate) -> str:
    few_calls, many_calls = estimate.calls_range
    few_tokens, many_tokens = estimate.tokens_range
    return f"{span(few_calls, many_calls)} calls, {span(few_tokens, many_tokens)} tokens"


def _local_minutes_line(estimate: CostEstimate) -> str:
    if estimate.pace is None:
        return UNKNOWN_MINUTES
    line = time_line(estimate.calls_expected, estimate.pace.per_minute)
    return f"{line[0].upper()}{line[1:]}, as measured on {estimate.pace.day}."


def racing_line(estimate: CostEstimate) -> str:
    """What racing saves, and what it would be without."""
    if estimate.racing is None:
        return ""
    few, about, many = estimate.racing.calls
    least_saved, saved, most_saved = (round(100 * share) for share in estimate.racing.saved)
    return (
        f"Racing saves about {saved} % ({least_saved} to {most_saved} %) of what candidates are asked on val: "
        f"{rounded(about)} calls ({span(few, many)}), without it {rounded(estimate.racing.calls_without)}."
    )


def minutes_line(estimate: CostEstimate, lm: LMConfig) -> str:
    """How long it will take, where anybody knows."""
    if lm.batch:
        return "How long batches take is the server's choice: within a day each, mostly sooner."
    if not estimate.minutes_range or not estimate.pace:
        return UNKNOWN_MINUTES
    few, many = estimate.minutes_range
    if not estimate.pace.day:
        return f"At least {duration(few, many)}: --requests-per-minute {lm.requests_per_minute:g} allows no more."
    pace = f"{rounded(estimate.pace.per_minute)} calls per minute, as measured on {estimate.pace.day}"
    return f"About {duration(few, many)} at {pace}."


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


def span(few: float, many: float) -> str:
    """Between what and what; one number where both read alike.

    >>> span(870, 12_345), span(12_100, 12_345)
    ('870 to 12,000', '12,000')
    """
    low, high = rounded(few), rounded(many)
    return low if low == high else f"{low} to {high}"


def dollars(amount: float) -> str:
    """An amount of money, to two digits.

    >>> dollars(0.0123), dollars(7.46), dollars(1234.5), dollars(0)
    ('0.012', '7.5', '1,234', '0')
    """
    return f"{amount:,.0f}" if amount >= 10 else f"{float(f'{amount:.2g}'):.12g}"


def rounded(amount: float) -> str:
    """A number as people say it.

    >>> rounded(870), rounded(12_345), rounded(2_900_000), rounded(160_000)
    ('870', '12,000', '2.9M', '160,000')
    """
    if amount >= 1e6:
        return f"{amount / 1e6:,.2g}M" if amount < 1e8 else f"{amount / 1e6:,.0f}M"
    return f"{float(f'{amount:.2g}'):,.0f}" if amount >= 1000 else f"{amount:.0f}"
