"""What models that write would take: rephrasings, their judge, and drafts of edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat import Need, price_of, tokens_of_text
from psopt.proposals.llm import MOST_SLICES, N_DRAFTS
from psopt.rephrasings import N_SHOWN, passages_of
from psopt.runs._cost_estimate import Phase

if TYPE_CHECKING:
    from psopt.models.chat import Price
    from psopt.rephrasings import RephrasingOptions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

_TOKENS_OF_A_DRAFT = (700, 1500, 3000)


def rephrasing_phases(
    prompt: Prompt | str, options: RephrasingOptions, n_texts: int, price: Price | None = None
) -> list[Phase]:
    """What writing so many rephrasings takes, the original not among them; a text that is refused is asked for again.

    `prompt` is what is rephrased, or a bare description; of a template, each passage is asked for by itself. `price` is
    that of the model that answers, for models that write and whose own price is not known.
    """
    if not options.is_written:
        return []
    passages = passages_of(prompt)
    length = max(1.0, sum(tokens_of_text(text).middle for text in passages) / len(passages))
    n_texts *= len(passages)
    why = "more where texts are refused"
    own_price = price_of(options.rephraser or "") or price
    phases = [_written("rephrasings, written", n_texts, length * (N_SHOWN + 3), (0.5, 1, 2), why, own_price)]
    if options.judge is not None:
        judging = price_of(options.judge) or price
        phases.append(_written("rephrasings, judged", n_texts, length * 3 + 80, (0.8, 1, 1.6), why, judging))
    return phases


def drafting_phases(task: Task, proposer: str | None, rounds: int, price: Price | None) -> list[Phase]:
    """What drafting edits takes in so many rounds."""
    if proposer is None or proposer == "rules":
        return []
    n_drafts = rounds * N_DRAFTS * (MOST_SLICES + min(MOST_SLICES, len(task.labels)))
    few, middle, many = _TOKENS_OF_A_DRAFT
    span = (few / middle / rounds / 2 if rounds else 0.0, 1, many / middle)
    why = "fewer where fewer groups shake"
    return [_written("drafts of edits", n_drafts, middle, span, why, price_of(proposer) or price)]


def _written(
    what: str, calls: int, tokens: float, span: tuple[float, float, float], why: str, price: Price | None
) -> Phase:
    """A phase in which a model writes; a tenth of the tokens are its own."""

    def need(times: float) -> Need:
        total = calls * tokens * times
        cost = price.of(0.9 * total, 0.1 * total) if price else 0.0
        return Need(round(calls * times), round(total), cost)

    least, expected, most = (need(times) for times in span)
    return Phase(what, calls, 0, round(calls * tokens), why, least, most, expected.cost)
