"""What a search would take, phase by phase, before anything is asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from psopt.evaluation import Grid
from psopt.models.chat import TokenRange, asks_in_chat, grid_price, price_of
from psopt.runs._cost_estimate import CANDIDATES, DIAGNOSES, CostEstimate, Phase
from psopt.runs._settings import N_HELDOUT
from psopt.runs._writing_estimate import drafting_phases, rephrasing_phases
from psopt.search import tokens_of_all_edits
from psopt.search_spaces import KINDS

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import Price
    from psopt.runs._settings import RunSettings
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    Span = tuple[float, float, float]
    """The least, the middle and the most."""

# Least, middle and most of a search, from 27 searches in which a hash of the prompt or a simulated model answered, on
# five data sets with 30 and 10 trials. Growth is in shares of what all edits
# of the first round add.
_GROWTH = (0.36, 0.58, 0.82)  # of candidates, on average
_GROWTH_OF_FEW = (0.27, 0.42, 0.8)  # the same with 10 trials
_GROWTH_UNSHORTENED = (0.3, 0.55, 0.95)  # the same with less, of which none is for shorter prompts
_MANY_TRIALS = 20
_FEW_TRIALS = 10
_GROWTH_OF_FRONT = (0.0, 0.3, 1.0)
_FRONT = (0, 3, 8)  # prompts beside the seed prompt; the fewer samples, the more tie


def estimate_search(
    task: Task, settings: RunSettings, baseline: Prompt, evaluator: Evaluator, n_done: int = 0
) -> CostEstimate:
    """Count what a run would ask that has scored so many candidates already; nothing is sent.

    Where a model writes the rephrasings, the evaluator has those of rules: they stand for them.
    """
    single_price = price_of(evaluator.model.name)
    price = grid_price(evaluator.model.name, in_batches=settings.lm.batch)
    growth = _growth(task, settings, baseline, evaluator)
    trials = settings.search.trials
    n_more = max(0, trials - max(1, n_done))
    rounds = min(settings.search.rounds, n_more)
    left_out = settings.leave_one_out or 0

    def grid(split: Split) -> Grid:
        return Grid.of(evaluator.model, evaluator.rephrased(baseline, split), evaluator.texts(split))

    def unknown(what: str, split: Split, times: Span, share: Span, why: str) -> Phase:
        return _of_unknown_prompts(what, grids[split], growth, times, share, why, price)

    splits: tuple[Split, ...] = ("val", "train", "test")
    grids = {split: grid(split) for split in splits}
    few, middle, many = (min(size, trials - 1) for size in _FRONT)
    phases = [
        *rephrasing_phases(baseline, settings.rephrasing, settings.rephrasings + N_HELDOUT - 1, single_price),
        *drafting_phases(task, settings.proposer, min(settings.search.rounds, trials - 1), single_price),
    ]
    if not n_done:
        phases.append(Phase.of("seed prompt on val", grids["val"], price))
    if rounds:
        phases.append(Phase.of("first diagnosis on train", grids["train"], price))
    if rounds > 1:
        further = (0, (1 + rounds) / 2 - 1, rounds - 1)
        why = "one a round, none where the best prompt stays the same"
        phases.append(unknown(DIAGNOSES, "train", further, _GROWTH_OF_FRONT, why))
    if n_more:
        phases.append(unknown(CANDIDATES, "val", (n_more,) * 3, _growth_of_candidates(trials), "one a trial"))
    phases.append(Phase.of("seed prompt on test", grids["test"], price))
    why = f"once for each prompt of the front: {middle} are counted here"
    phases.append(unknown("front on test", "test", (few, middle, many), _GROWTH_OF_FRONT, why))
    phases.append(unknown("chosen prompt on train", "train", (0, 1, 1), _GROWTH_OF_FRONT, "for the report"))
    if left_out:
        times = (float(left_out + len(KINDS)),) * 3
        phases.append(unknown("edits left out, on val", "val", times, _GROWTH_OF_FRONT, "at most"))
    return CostEstimate(tuple(phases), price, grids["val"].spread(price), trials)


def _growth(task: Task, settings: RunSettings, baseline: Prompt, evaluator: Evaluator) -> TokenRange:
    """By how much all edits of a first round lengthen the prompt; of no account where nobody counts tokens."""
    if not asks_in_chat(evaluator.model):
        return TokenRange()
    return tokens_of_all_edits(
        task,
        baseline,
        evaluator.rephrasings,
        evaluator.samples["train"],
        settings.search.parts,
        drafted=settings.has_proposer,
    )


def _growth_of_candidates(trials: int) -> Span:
    if trials < _FEW_TRIALS:
        return _GROWTH_UNSHORTENED
    return _GROWTH if trials >= _MANY_TRIALS else _GROWTH_OF_FEW


def _of_unknown_prompts(
    what: str, grid: Grid, growth: TokenRange, times: Span, share: Span, why: str, price: Price | None
) -> Phase:
    """A phase whose prompts are not known: they come so many times, with such a share of all edits in them."""

    def error(end: int, of_growth: float) -> float:
        """By what share the growth may be wrong: how much all edits are, and what share of them a prompt holds, err
        independently.
        """
        if not share[1] or not growth.middle:
            return 0.0
        return math.hypot(share[end] / share[1] - 1, of_growth / growth.middle - 1)

    by = growth.middle * share[1]
    mean = grid.grown(by).need(price, times[1])
    least = grid.grown(by * max(0.0, 1 - error(0, growth.low))).need(price, times[0])
    most = grid.grown(by * (1 + error(2, growth.high))).need(price, times[2])
    return Phase(what, round(grid.calls * times[1]), 0, mean.tokens, why, least, most, mean.cost)
