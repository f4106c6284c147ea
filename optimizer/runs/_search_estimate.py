"""What a search would take, phase by phase, before anything is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.evaluation import Grid
from psopt.models import PRIOR_TEXTS, calibrates
from psopt.models.chat import Need, TokenRange, asks_in_chat, grid_price, price_of
from psopt.runs._cost_estimate import (
    BASELINE,
    BASELINE_TEST,
    CANDIDATES,
    DIAGNOSES,
    FIRST_DIAGNOSIS,
    FRONT_TEST,
    LAST_DIAGNOSIS,
    LEFT_OUT,
    PRIORS,
    CostEstimate,
    Pace,
    Phase,
    RacingEstimate,
    whole_grids,
)
from psopt.runs._writing_estimate import drafting_phases, judging_phases, rephrasing_phases
from psopt.search import DIAGNOSED_WORDINGS, tokens_of_all_edits
from psopt.search.racing import races
from psopt.search_spaces import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import LMConfig, Price
    from psopt.runs._settings import RunSettings
    from psopt.runs.planning._sizes import Sizes
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
_WORDINGS_OF_STOPPED = 2  # the first rungs of a race (psopt.search.racing)
_FRONT = (0, 3, 8)  # prompts beside the original prompt; the fewer samples, the more tie


def estimate_search(
    task: Task, settings: RunSettings, baseline: Prompt, evaluator: Evaluator, n_done: int = 0
) -> CostEstimate:
    """Count what a run would ask that has scored so many candidates already; nothing is sent.

    Where a model writes the rephrasings, the evaluator has those of rules: they stand for them.
    """
    basis = SearchBasis.of(task, settings, baseline, evaluator)
    return estimate_from(basis, task, settings, baseline, n_done)


def estimate_from(
    basis: SearchBasis, task: Task, settings: RunSettings, baseline: Prompt, n_done: int = 0
) -> CostEstimate:
    """Count the same from what the original prompt takes; of the settings, samples and wordings are the basis's."""
    own = _of_one_model(basis, task, settings, baseline, n_done)
    if not basis.others:
        return own
    # what is written is written once, whichever model does it
    asking = replace(settings, proposer="rules", rephrasing=settings.rephrasing.by_rule())
    others = [_of_one_model(other, task, asking, baseline, n_done) for other in basis.others]
    return CostEstimate.of_several([own, *others])


def _of_one_model(basis: SearchBasis, task: Task, settings: RunSettings, baseline: Prompt, n_done: int) -> CostEstimate:
    price = basis.price
    grids = basis.grids
    trials = settings.search.trials
    n_more = max(0, trials - max(1, n_done))
    rounds = min(settings.search.rounds, n_more)
    left_out = settings.leave_one_out or 0
    n_texts = basis.shapes["val"][1] + basis.shapes["test"][1] - 1

    def unknown(what: str, split: Split, times: Span, share: Span, why: str) -> Phase:
        return _of_unknown_prompts(what, grids[split], basis.growth, times, share, why, price)

    few, middle, many = (min(size, trials - 1) for size in _FRONT)
    phases = [
        *rephrasing_phases(baseline, settings.rephrasing, n_texts, basis.single_price),
        *drafting_phases(task, settings.writer, min(settings.search.rounds, trials - 1), basis.single_price),
    ]
    n_writing = len(phases)
    if not n_done:
        phases.append(Phase.of(BASELINE, grids["val"], price))
    diagnosed = _share_diagnosed(basis)
    if rounds:
        phases.append(_first_diagnosis(grids["train"], diagnosed, price))
    if rounds > 1:
        further = (0.0, diagnosed * (rounds - 1) / 2, diagnosed * (rounds - 1))
        why = "one a round, none where the best prompt stays the same"
        phases.append(unknown(DIAGNOSES, "train", further, _GROWTH_OF_FRONT, why))
    racing = None
    if n_more:
        times, why = _candidates(basis, n_more)
        racing = RacingEstimate.of(grids["val"].calls, n_more, times) if basis.races else None
        phases.append(unknown(CANDIDATES, "val", times, _growth_of_candidates(trials), why))
    phases.append(Phase.of(BASELINE_TEST, grids["test"], price))
    why = f"once for each prompt of the front: {middle} are counted here"
    phases.append(unknown(FRONT_TEST, "test", (few, middle, many), _GROWTH_OF_FRONT, why))
    phases.append(unknown(LAST_DIAGNOSIS, "train", (0, diagnosed, diagnosed), _GROWTH_OF_FRONT, "for the report"))
    if left_out:
        times = (float(left_out + len(KINDS)),) * 3
        phases.append(unknown(LEFT_OUT, "val", times, _GROWTH_OF_FRONT, "at most"))
    if basis.prior_texts:
        phases.append(_priors(basis, n_more, (few, middle, many)))
    answering = phases[n_writing:]
    phases[n_writing:] = [replace(phase, model=basis.model) for phase in answering]
    phases += judging_phases(task, answering, basis.shapes["val"][1], basis.single_price)
    return CostEstimate(tuple(phases), price, grids["val"].spread(price), trials, racing, basis.pace, n_more)


def _share_diagnosed(basis: SearchBasis) -> float:
    """How much of train's grid a diagnosis asks about."""
    _, n_wordings = basis.shapes["train"]
    return min(1.0, DIAGNOSED_WORDINGS / n_wordings) if basis.races else 1.0


def _first_diagnosis(grid: Grid, share: float, price: Price | None) -> Phase:
    calls = round(grid.calls * share)
    cached = min(calls, grid.cached)
    need = grid.need(price, (calls - cached) / max(1, grid.sent))
    return Phase(FIRST_DIAGNOSIS, calls, cached, need.tokens, "", need, need, need.cost)


def _priors(basis: SearchBasis, n_more: int, front: tuple[int, int, int]) -> Phase:
    """What it takes to measure label priors: under each wording of val that a candidate meets, and then those of test.

    Candidates that are stopped are asked under two wordings, and the least is that all are.
    """
    n_val, n_test = basis.shapes["val"][1], basis.shapes["test"][1]
    n_least = min(n_val, _WORDINGS_OF_STOPPED) if basis.races else n_val
    few, middle, many = (
        Need(basis.labelled_texts + basis.prior_texts * (n_more * wordings + n_test * n_tested))
        for wordings, n_tested in zip((n_least, (n_least + n_val) // 2, n_val), front, strict=True)
    )
    return Phase(PRIORS, middle.calls, 0, 0, "one a wording of each candidate", few, many)


def _candidates(basis: SearchBasis, n_more: int) -> tuple[Span, str]:
    """To how many whole grids candidates come, and why."""
    if not basis.races:
        return (n_more, n_more, n_more), "one a trial"
    times = whole_grids(n_more, *basis.shapes["val"])
    return times, f"{n_more}; those that are clearly beaten are cut short"


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


_SPLITS: tuple[Split, ...] = ("val", "train", "test")


@dataclass(frozen=True, slots=True)
class SearchBasis:
    """What a search is counted from.

    Attributes
    ----------
    grids : mapping of split to Grid
        The original prompt's.
    shapes : mapping of split to (int, int)
        Samples and wordings.
    growth : TokenRange
        By how much all edits of a first round lengthen the prompt; of no account where nobody counts tokens.
    price, single_price : Price or None
        Of the model that answers; where it is asked by batches, and where call by call.
    races : bool
        Whether candidates race.
    pace : Pace or None
        How fast the model that is asked most will answer; nobody knows of batches.
    prior_texts : int
        On how many texts the label prior of a prompt is measured under each wording; 0 where nothing is calibrated.
    labelled_texts : int
        From how many labelled texts a label map is learnt, once.
    model : str
        Which of several models this is of; empty where there is one.
    others : tuple of SearchBasis
        Of further models that are asked the same.
    """

    grids: Mapping[Split, Grid]
    shapes: Mapping[Split, tuple[int, int]]
    growth: TokenRange
    price: Price | None
    single_price: Price | None
    races: bool
    pace: Pace | None = None
    prior_texts: int = 0
    labelled_texts: int = 0
    model: str = ""
    others: tuple[SearchBasis, ...] = ()

    @classmethod
    def of(
        cls,
        task: Task,
        settings: RunSettings,
        baseline: Prompt,
        evaluator: Evaluator,
        *,
        ignoring_cache: bool = False,
        growth: TokenRange | None = None,
    ) -> SearchBasis:
        """Count it on what prompts are compared on; nothing is sent. The growth takes longest: say it if you know."""
        model = evaluator.model
        without_races = replace(settings, search=replace(settings.search, race="off"))  # several models don't race

        def grid(split: Split) -> Grid:
            prompts, texts = evaluator.rephrased(baseline, split), evaluator.texts(split)
            return Grid.of(model, prompts, texts, ignoring_cache=ignoring_cache)

        return cls(
            {split: grid(split) for split in _SPLITS},
            {split: (len(evaluator.samples[split]), len(evaluator.rephrasings.on(split)[0])) for split in _SPLITS},
            _growth(task, settings, baseline, evaluator) if growth is None else growth,
            grid_price(model.name, in_batches=settings.lm.batch),
            price_of(model.name),
            races(settings.search.race, evaluator),
            _pace(evaluator, settings.lm),
            PRIOR_TEXTS if calibrates(model) and model.can_measure else 0,
            model.n_labelled if calibrates(model) else 0,
            model.name if settings.models[1:] else "",
            tuple(
                cls.of(
                    task,
                    without_races,
                    baseline,
                    other,
                    ignoring_cache=ignoring_cache,
                    growth=growth if asks_in_chat(other.model) == asks_in_chat(model) else None,
                )
                for other in evaluator.others
            ),
        )

    def sized(self, sizes: Sizes) -> SearchBasis:
        """The same for other numbers of samples and wordings, with nothing in the cache."""
        shapes: dict[Split, tuple[int, int]] = {
            "train": (sizes.train, sizes.rephrasings),
            "val": (sizes.val, sizes.rephrasings),
            "test": (sizes.test, sizes.heldout),
        }
        grids = {split: self.grids[split].sized(samples * wordings) for split, (samples, wordings) in shapes.items()}
        return replace(self, grids=grids, shapes=shapes, others=tuple(other.sized(sizes) for other in self.others))


def _pace(evaluator: Evaluator, lm: LMConfig) -> Pace | None:
    if lm.batch or not asks_in_chat(evaluator.model):
        return None
    return Pace.of(evaluator.model.engine.rate, lm)


def _growth(task: Task, settings: RunSettings, baseline: Prompt, evaluator: Evaluator) -> TokenRange:
    if not asks_in_chat(evaluator.model):
        return TokenRange()
    return tokens_of_all_edits(
        task,
        baseline,
        evaluator.rephrasings,
        evaluator.samples["train"],
        settings.search.parts,
        drafted=settings.writer is not None,
    )
